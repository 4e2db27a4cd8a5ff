"""One process of the local engine: started with a log, waited for until it really answers, stopped within a bound."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.errors import Interrupted, PartFailed, last_lines

POLL_SECONDS = 0.05
KILL_SECONDS = 5.0  # a killed process is gone at once, unless the system is stuck in its disk


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and how long it may take to stop when asked."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_seconds: float = 10.0
    stops_first: bool = False
    """Whether it leans on processes that do not, and so has to end before any of them."""
    after: Callable[[int], None] | None = None
    """Called with the exit code when the process was ready and has been stopped in an orderly way."""


class Part:
    """A started process. Whoever started it stops it; `stop` may be called again."""

    def __init__(self, command: Command, log: Path, environment: Mapping[str, str], folder: Path) -> None:
        """Starts the process in a session of its own, so that a Ctrl-C at the terminal reaches only its owner."""
        self.command = command
        self.name = command.name
        self.log = log
        self._was_ready = False
        self._was_asked = False
        with log.open("ab") as output:
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, **command.environment},
                cwd=folder,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process's number, also after its end."""
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def wait_ready(self, ready: Callable[[], bool], seconds: float, cancelled: threading.Event) -> None:
        """Returns when `ready` says so; `ready` may raise OSError for "not yet".

        PartFailed, with the last lines of the log, when the process ends or the time is up; Interrupted when cancelled.
        With either, the process is gone.
        """
        try:
            self._wait_ready(ready, seconds, cancelled)
        except BaseException:
            self.stop()
            raise
        self._was_ready = True

    def _wait_ready(self, ready: Callable[[], bool], seconds: float, cancelled: threading.Event) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.lives:
                raise PartFailed(self.name, f"ended with exit code {self._process.returncode} at its start.", self.log)
            with contextlib.suppress(OSError):
                if ready():
                    return
            if cancelled.wait(POLL_SECONDS):
                raise Interrupted(f"the start of {self.name} was called off")
        raise PartFailed(self.name, f"did not answer within {seconds:.0f} seconds.", self.log)

    def wait_end(self, seconds: float, cancelled: threading.Event, say: Callable[[str], None]) -> None:
        """Returns when the process has ended well; PartFailed or Interrupted otherwise. Passes on its last lines."""
        deadline = time.monotonic() + seconds
        said = ""
        while self.lives:
            if (line := last_lines(self.log, 1)) != said:
                said = line
                say(line)
            if time.monotonic() > deadline:
                raise PartFailed(self.name, f"was not done within {seconds:.0f} seconds.", self.log)
            if cancelled.wait(POLL_SECONDS):
                raise Interrupted(f"{self.name} was called off")
        if self._process.returncode != 0:
            raise PartFailed(self.name, f"ended with exit code {self._process.returncode}.", self.log)

    def said(self, text: bytes) -> bool:
        """Whether the process has printed this text since it was started."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return text in log.read()

    def send(self, number: signal.Signals) -> None:
        """Sends a signal; for SIGKILL returns when the process is gone."""
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            self._process.wait(KILL_SECONDS)

    def ask(self) -> None:
        """Asks the process to end, once, and does not wait: `stop` does."""
        if not self._was_asked:
            self._was_asked = True
            self._process.terminate()

    def stop(self) -> None:
        """Asks the process to end, waits its bound, then forces it. A normal return promises that it is gone."""
        if self.lives:
            self.ask()
            try:
                code = self._process.wait(self.command.stop_seconds)
            except subprocess.TimeoutExpired:
                self.send(signal.SIGKILL)
            else:
                if self.command.after is not None and self._was_ready:
                    self.command.after(code)
        self._process.wait(KILL_SECONDS)
