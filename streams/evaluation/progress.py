"""Waiting for the worker: one look at its progress serves everyone who waits."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Final

from tables.errors import Unavailable
from tables.keys import Position

PAUSE_SECONDS: Final = 0.01
PATIENCE_SECONDS: Final = 120.0  # a worker that does not get there in this time does not work

Ask = Callable[[str, int], Awaitable[int]]


class Progress:
    """`ask(topic, partition)` gives the offset up to which every effect is done."""

    def __init__(self, ask: Ask, *, patience: float = PATIENCE_SECONDS) -> None:
        self._ask = ask
        self._patience = patience
        self._waiting: dict[tuple[str, int], list[tuple[int, asyncio.Future[None]]]] = defaultdict(list)
        self._looking: asyncio.Task[None] | None = None

    async def reached(self, position: Position) -> None:
        """Returns when every effect up to this record is done. Raises Unavailable("worker") when it takes too long."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[position.topic, position.partition].append((position.offset, future))
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="progress")
        await future

    async def _look(self) -> None:
        moved_at = time.monotonic()
        try:
            while self._waiting:
                if await self._look_once():
                    moved_at = time.monotonic()
                elif time.monotonic() - moved_at > self._patience:
                    raise Unavailable("worker")
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception as error:
            self._fail(error)

    async def _look_once(self) -> bool:
        """Whether anybody's wait is over."""
        moved = False
        for place in list(self._waiting):
            done = await self._ask(*place)
            waiting = self._waiting[place]
            for offset, future in waiting:
                if offset <= done and not future.done():
                    future.set_result(None)
            left = [(offset, future) for offset, future in waiting if not future.done()]
            moved = moved or len(left) < len(waiting)
            if left:
                self._waiting[place] = left
            else:
                del self._waiting[place]
        return moved

    def _fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, defaultdict(list)
        for futures in waiting.values():
            for _, future in futures:
                if not future.done():
                    future.set_exception(error)
