"""The folder of a run: who owns it, what was started in it, and the end of everything.

lock          held (flock) by the living owner; a dead owner's lock is free
state.json    the owner, the processes and the settings, readable by this user only
logs/         one log per part; logs.before/ holds those of the run before
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import psutil

from deploy.local import leftovers
from deploy.local.errors import FolderInUse, NoSpace
from deploy.local.leftovers import Identity
from deploy.local.process import Command, Part

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("kafka", "redis", "milvus", "workers")  # the folders in which an engine keeps its data
# Below this a broker's first segments and a compaction could fill the disk, which stops Kafka and Redis in mid-write.
NEEDED_BYTES = 512 * 1024**2


@dataclass(slots=True)
class State:
    """What state.json says about a run."""

    run: str
    owner: Identity
    parts: dict[str, Identity] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> State | None:
        """The state of the last run in this folder; None when there was none or its file is unreadable."""
        try:
            fields = json.loads((folder / "state.json").read_text())
            parts = {name: _identity(part) for name, part in fields["parts"].items()}
            return cls(fields["run"], _identity(fields["owner"]), parts, fields["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Replaces state.json in one step."""
        write_private(folder / "state.json", json.dumps(asdict(self), indent=1))


class Run:
    """The living run of a folder: starts processes that do not outlive it, in whatever way it ends.

    Thread-safe. `cancelled` set makes every wait in every thread raise Interrupted.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        """Takes the folder, ends what a dead run left in it, and sets up the watchdog.

        FolderInUse when another run lives there, NoSpace when the disk is too full; then nothing was changed. `fresh`
        removes what earlier runs kept in the folder, and nothing else that is there.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.cancelled = threading.Event()
        self._lock = take_lock(folder)
        try:
            check_space(folder)
            self.ended_leftovers = end_leftovers(folder)
            if fresh:
                _forget(folder)
            self._logs = _fresh_logs(folder)
            self.state = State(secrets.token_hex(8), Identity.of(os.getpid()))
            self.state.write(folder)
            self._watchdog = self._start_watchdog()
        except BaseException:
            self._lock.close()
            raise
        self._parts: list[Part] = []
        self._guard = threading.Lock()

    def start(self, command: Command) -> Part:
        """Starts a process of this run and records it."""
        environment = {**os.environ, leftovers.RUN_TAG: self.state.run}
        with self._guard:
            part = Part(command, self._logs / f"{command.name}.log", environment, ROOT)
            self._parts.append(part)
            with contextlib.suppress(psutil.Error):  # it has ended already; whoever waits for it will say so
                self.state.parts[command.name] = Identity.of(part.pid)
            self.state.write(self.folder)
        return part

    def do(self, command: Command, seconds: float, say: Callable[[str], None] = lambda _: None) -> None:
        """Runs a process to its end; PartFailed when it fails or takes too long, and then it is gone.

        `say` is told each new last line of what the process prints.
        """
        part = self.start(command)
        try:
            part.wait_end(seconds, self.cancelled, say)
        finally:
            part.stop()
            with self._guard:
                self._parts.remove(part)

    def settle(self, settings: Mapping[str, str]) -> None:
        """Records the settings, for other processes of this user that want to use the run."""
        with self._guard:
            self.state.settings = dict(settings)
            self.state.write(self.folder)

    def end(self) -> None:
        """Stops every process, the last started first, and gives the folder back. May be called again.

        Those that lean on others are stopped before all of them, together.
        """
        self.cancelled.set()
        for part in self._parts:
            if part.command.stops_first:
                part.ask()
        last_first = self._parts[::-1]
        for part in sorted(last_first, key=lambda part: not part.command.stops_first):
            part.stop()
            self._parts.remove(part)
        if self._lock.closed:
            return
        with contextlib.suppress(BrokenPipeError):  # someone ended the watchdog
            self._watchdog.communicate(b"done")
        (self.folder / "state.json").unlink(missing_ok=True)
        self._lock.close()

    def _start_watchdog(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            python("deploy.local.watchdog", str(self.folder), self.state.run, str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            # Not a part of an outer run, whose end would take it away before its own work is done.
            env={name: value for name, value in os.environ.items() if name != leftovers.RUN_TAG},
            start_new_session=True,
        )


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module of this tree in this environment."""
    return (sys.executable, "-m", module, *arguments)


def take_lock(folder: Path) -> TextIOWrapper:
    """The folder's lock, held until the returned file is closed or this process ends; FolderInUse otherwise."""
    lock = (folder / "lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        state = State.read(folder)
        raise FolderInUse(folder, state.owner.pid if state else None) from error
    return lock


def check_space(folder: Path, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free) -> None:
    """NoSpace when the disk is too full to start."""
    if (available := free(folder)) < NEEDED_BYTES:
        raise NoSpace(folder, available, NEEDED_BYTES)


def end_leftovers(folder: Path) -> int:
    """Ends what a dead run left behind in this folder; returns how many processes. The caller holds the lock."""
    state = State.read(folder)
    count = leftovers.end(state.run, state.parts.values()) if state else 0
    (folder / "state.json").unlink(missing_ok=True)
    return count


def write_private(path: Path, text: str) -> None:
    """Replaces a file in one step by one that only this user can read."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def _forget(folder: Path) -> None:
    for name in KEPT:
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "secrets.json").unlink(missing_ok=True)


def _fresh_logs(folder: Path) -> Path:
    logs, before = folder / "logs", folder / "logs.before"
    if logs.exists():
        shutil.rmtree(before, ignore_errors=True)
        logs.rename(before)
    logs.mkdir()
    return logs


def _identity(fields: Any) -> Identity:
    return Identity(int(fields["pid"]), float(fields["started_at"]), tuple(fields["command"]))
