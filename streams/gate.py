"""A shared/exclusive gate: steps work side by side, a repair of the copies runs alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """`shared` by any number at once, `exclusive` alone; an exclusive one that waits lets no new shared one in."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = 0
        self._closed = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._closed)
            self._closed = True
            try:
                await self._changed.wait_for(lambda: not self._inside)
            except BaseException:
                self._closed = False
                self._changed.notify_all()
                raise
        try:
            yield
        finally:
            async with self._changed:
                self._closed = False
                self._changed.notify_all()
