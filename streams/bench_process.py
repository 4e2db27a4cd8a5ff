"""The processes of a bench: started, watched, stopped; what they print is kept for the case that they fail."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from streams.settings import PREFIX

ROOT: Final = Path(__file__).resolve().parents[1]
STOP_SECONDS: Final = 30.0
TAIL_BYTES: Final = 2000


class BenchFailed(Exception):
    """The figures could not be had; the message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. `own`: settings that differ from those of this process; a folder is made for its data."""

    name: str
    arguments: Sequence[str]
    own: Mapping[str, str] = field(default_factory=dict)


def agent(topic: str, records: int) -> Command:
    return Command("the empty agent", ("streams.bench_agent", topic, str(records)))


def worker(port: int) -> Command:
    return Command("the worker", ("streams", "worker"), {"WORKER_ID": "bench", "WORKER_PORT": str(port)})


class Child:
    """A running command; leaving the block stops it."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._folder = tempfile.TemporaryDirectory(prefix="twinsluice-bench-", ignore_cleanup_errors=True)
        self._log: IO[bytes] = open(Path(self._folder.name) / "log", "w+b")  # noqa: SIM115 - closed on leaving
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        own = {PREFIX + name: value for name, value in self._command.own.items()}
        own[f"{PREFIX}DATA"] = str(Path(self._folder.name) / "data")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            *self._command.arguments,
            cwd=ROOT,
            env={**os.environ, **own},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._running()
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.communicate(), STOP_SECONDS)
        except TimeoutError:
            process.kill()
            await process.communicate()
        self._log.close()
        self._folder.cleanup()

    def check(self) -> None:
        """Raises BenchFailed when the process has ended."""
        code = self._running().returncode
        if code is not None:
            raise BenchFailed(f"{self._command.name} ended by itself with {code}.\n{self.tail()}")

    async def answer(self, seconds: float) -> dict[str, Any]:
        """The JSON object of the first line that it prints. Raises BenchFailed when none comes."""
        output = self._running().stdout
        assert output is not None
        try:
            line = await asyncio.wait_for(output.readline(), seconds)
        except TimeoutError:
            raise BenchFailed(f"{self._command.name} did not finish in {seconds:.0f} s.\n{self.tail()}") from None
        try:
            answer: dict[str, Any] = json.loads(line[line.index(b"{") :])  # Faust's worker shows the cursor before it
        except ValueError:
            raise BenchFailed(f"{self._command.name} failed.\n{self.tail()}") from None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._running().wait(), STOP_SECONDS)
        return answer

    def _running(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    def tail(self) -> str:
        """The end of what it logged."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - TAIL_BYTES))
        return self._log.read().decode("utf-8", "replace")


def free_port() -> int:
    """A port of loopback that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
