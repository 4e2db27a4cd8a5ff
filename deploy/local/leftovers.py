"""Finds and ends processes that a run started, when the run itself can no longer do it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import psutil

# Every process of a run carries the run's id in its environment, and hands it on to its own children.
RUN_TAG = "TWINSLUICE_RUN"
KILL_SECONDS = 5.0
GRACE_SECONDS = 10.0  # Kafka and Milvus Lite write out what they hold; nothing takes longer than a few seconds
_CLOCK_SLACK_SECONDS = 2.0  # a process's start time is derived from the boot time, which clock corrections move


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a process from a later one that was given the same number."""

    pid: int
    started_at: float
    command: tuple[str, ...]

    @classmethod
    def of(cls, pid: int) -> Identity:
        """The identity of a living process; psutil.Error when there is none."""
        process = psutil.Process(pid)
        command = process.cmdline()
        for _ in range(100):  # a program that has just been loaded has no arguments for an instant
            if command:
                break
            time.sleep(0.001)
            command = process.cmdline()
        return cls(pid, process.create_time(), tuple(command))

    def find(self) -> psutil.Process | None:
        """The process, if it still lives."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            same_start = abs(process.create_time() - self.started_at) < _CLOCK_SLACK_SECONDS
            if same_start and tuple(process.cmdline()) == self.command and _lives(process):
                return process
        return None


def find_tagged(run: str) -> Iterator[psutil.Process]:
    """Every living process of this user that the run started, directly or not, except the caller."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(RUN_TAG) == run and _lives(process):
                yield process


def end(run: str, recorded: Iterable[Identity] = (), grace_seconds: float = GRACE_SECONDS) -> int:
    """Ends what is left of a run: asks, waits, then forces. Returns how many processes there were.

    A normal return promises that none of them lives. A process that is just starting children is asked again.
    """
    count = 0
    found = {process.pid: process for process in find_tagged(run)}
    found |= {process.pid: process for identity in recorded if (process := identity.find())}
    while found:
        count += len(found)
        _end(list(found.values()), grace_seconds)
        found = {process.pid: process for process in find_tagged(run)}
    return count


def _end(processes: list[psutil.Process], grace_seconds: float) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    stubborn = _wait(processes, grace_seconds)
    for process in stubborn:
        with contextlib.suppress(psutil.Error):
            process.kill()
    _wait(stubborn, KILL_SECONDS)


def _wait(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that still live after so long. One that has ended but was not collected by its parent does not count."""
    deadline = time.monotonic() + seconds
    while (living := [process for process in processes if _lives(process)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return living


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
