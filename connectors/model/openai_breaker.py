"""A circuit breaker of one endpoint: after failures in a row nobody calls for a while, then one call tries.

Our own fifty lines: the libraries for it (aiobreaker, pybreaker, purgatory) break by exception and count for
themselves, while here a throttled or refused call is an answer of a healthy endpoint, one failure may be final (a wrong
key), and the clock must be one that tests can move.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Breaker:
    """For one event loop. Whoever is admitted must tell how it went: `succeeded` or `failed`."""

    def __init__(
        self,
        *,
        failures: int,
        open_seconds: float,
        open_seconds_max: float,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures_max = failures
        self._first = open_seconds
        self._longest = open_seconds_max
        self._seconds = seconds
        self._failures = 0
        self._pause = open_seconds
        self._until: float | None = None  # None: closed
        self._trying = False

    def admit(self) -> float:
        """0.0 when the caller may call now, else the seconds after which it may ask again.

        When the pause is over one caller is let in to try; the others wait for what becomes of it.
        """
        if self._until is None:
            return 0.0
        left = self._until - self._seconds()
        if left > 0:
            return left
        if self._trying:
            return self._first
        self._trying = True
        return 0.0

    def succeeded(self) -> None:
        """The endpoint answered: closed again."""
        self._failures, self._pause, self._until, self._trying = 0, self._first, None, False

    def failed(self, *, final: bool = False) -> None:
        """A call failed. `final`: no other could succeed, so it opens at once. A failed try opens it for longer."""
        self._failures += 1
        if self._trying:
            self._pause = min(self._pause * 2, self._longest)
        if final or self._trying or self._failures >= self._failures_max:
            self._until = self._seconds() + self._pause
            self._trying = False
