"""Ordered micro-batches that ack after the effect: the one way in which every step takes records from the bus.

Faust acks a record when an agent moves on or raises, whatever became of its effects. Here the agent only hands records
over; one task takes what has come, in order, lets the step do its effects, and only then acks, in offset order:

1. `put` appends a record; it waits while the buffer is full, so a slow engine slows the fetching down.
2. `run` takes the records present (at most `size`), drops those of a lost generation, and calls the step. While
   records keep coming it lingers for a fuller batch, otherwise it does not wait.
3. The step returns when every effect is durable. Only then is each record acked, oldest first.

A crash before 3 leaves everything unacked: the log gives it again. `Unavailable` repeats the same batch after a pause,
in order, for ever: nothing is skipped, the lag shows it. Anything else is a bug: it goes to `crash`, which ends the
process, because going on would ack past the failure.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tables.errors import Unavailable

BUSY_RECORDS = 50  # a batch of at least so many means that records keep coming: the next one waits to be larger
LINGER_SECONDS = 0.1  # for so long; the rows of a session are then written once for more of its turns
PAUSE_SECONDS_MAX = 5.0  # longer pauses would only make an engine's return be noticed later


@dataclass(frozen=True, slots=True)
class Taken:
    """A record as it came from the bus. `timestamp` epoch ms; `generation` of the group's membership.

    `pairs` are its headers as they stand, `headers` the last of each name.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    pairs: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = 0
    generation: int = 0
    handle: object = None

    @property
    def headers(self) -> Mapping[str, bytes]:
        return dict(self.pairs)


Handle = Callable[[Sequence[Taken]], Awaitable[None]]


class OrderedBatches:
    """One step's intake. `put` is called by the agent, `run` lives as long as the worker.

    alive   whether a record still belongs to the present generation: others are dropped, never acked
    ack     called per record, in order, after the effects of its batch
    crash   called once with the exception of a bug; `run` ends
    waiting called with the engine's name before each pause, None once the batch got through
    """

    def __init__(
        self,
        handle: Handle,
        *,
        ack: Callable[[Taken], None],
        alive: Callable[[Taken], bool],
        crash: Callable[[BaseException], Awaitable[None]],
        waiting: Callable[[str | None], None] = lambda _: None,
        size: int = 500,
        capacity: int = 4000,
        linger: float = LINGER_SECONDS,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._handle = handle
        self._ack = ack
        self._alive = alive
        self._crash = crash
        self._waiting = waiting
        self._size = size
        self._capacity = capacity
        self._linger = linger
        self._pause = pause
        self._full = asyncio.Event()
        self._taken = 0
        self._buffer: deque[Taken] = deque()
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._busy = False

    async def put(self, record: Taken) -> None:
        """Hand a record over; returns at once while there is room."""
        if len(self._buffer) >= self._capacity:
            self._room.clear()
            await self._room.wait()
        self._buffer.append(record)
        self._filled.set()
        if len(self._buffer) >= self._size:
            self._full.set()

    @property
    def pending(self) -> int:
        """How many records wait or are being worked on (the batch in hand counts as one)."""
        return len(self._buffer) + self._busy

    async def run(self) -> None:
        """Take, work, ack, again; ends only by cancellation or after a bug went to `crash`."""
        while True:
            await self._filled.wait()
            await self._fill()
            batch = self._next()
            if not batch:
                continue
            self._busy = True
            try:
                await self._work(batch)
            except Exception as error:
                await self._crash(error)
                return
            finally:
                self._busy = False

    async def _fill(self) -> None:
        """Wait for a full batch, for a moment and only while records keep coming."""
        if self._taken < BUSY_RECORDS or len(self._buffer) >= self._size:
            return
        self._full.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), self._linger)

    def _next(self) -> list[Taken]:
        batch: list[Taken] = []
        while self._buffer and len(batch) < self._size:
            record = self._buffer.popleft()
            if self._alive(record):
                batch.append(record)
        self._taken = len(batch)
        if not self._buffer:
            self._filled.clear()
        if len(self._buffer) < self._capacity:
            self._room.set()
        return batch

    async def _work(self, batch: list[Taken]) -> None:
        seconds = 0.1
        while batch:
            try:
                await self._handle(batch)
            except Unavailable as error:
                self._waiting(error.engine)
                await self._pause(max(seconds, min(error.retry_after_seconds, PAUSE_SECONDS_MAX)))
                seconds = min(seconds * 2, PAUSE_SECONDS_MAX)
                batch = [record for record in batch if self._alive(record)]
                continue
            self._waiting(None)
            break
        for record in batch:
            if self._alive(record):
                self._ack(record)
