"""A lock for many readers or one writer, fair to both."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadWriteLock:
    """Callers get in by the order in which they came; neighbouring readers are in together.

    So neither a stream of readers nor one of writers can keep the other out. Not re-entrant.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._next_ticket = 0
        self._serving = 0
        self._readers = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, no writer is."""
        with self._changed:
            ticket = self._take_ticket()
            self._changed.wait_for(lambda: self._serving == ticket)
            self._readers += 1
            self._serve_next()
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, nobody else is."""
        with self._changed:
            ticket = self._take_ticket()
            self._changed.wait_for(lambda: self._serving == ticket and self._readers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._serve_next()

    def _take_ticket(self) -> int:
        ticket = self._next_ticket
        self._next_ticket += 1
        return ticket

    def _serve_next(self) -> None:
        self._serving += 1
        self._changed.notify_all()
