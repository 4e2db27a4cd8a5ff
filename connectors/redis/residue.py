"""Back-queries in Redis: by key, and by looking at every key that could belong to the user."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from redis.asyncio import Redis

from connectors.codec import decode
from connectors.redis.config import RedisConfig
from connectors.redis.layout import Layout
from tables.keys import Scope
from tables.question import Question
from tables.receipt import Query


class Residue:
    """Marks, receipts, outcomes and traces hold no words and are no residue. To be called within the wall."""

    def __init__(self, client: Redis, config: RedisConfig) -> None:
        self._client = client
        self._layout = Layout(config.prefix)
        self._count = config.scan_count

    async def of_parts(self, scope: Scope, memory_ids: Sequence[str], sessions: Sequence[str]) -> tuple[Query, ...]:
        """What is left of these memories and sessions, open questions about them included."""
        ids = dict.fromkeys(memory_ids)
        keys = [self._layout.session(scope, session) for session in dict.fromkeys(sessions)]
        pipe = self._client.pipeline(transaction=False)
        for memory_id in ids:
            pipe.hexists(self._layout.memories(scope), memory_id)
        for key in keys:
            pipe.exists(key)
        pipe.hvals(self._layout.questions(scope))
        *found, asked = await pipe.execute()
        return (
            Query("by_key", sum(int(one) for one in found)),
            Query("by_question", sum(decode(Question, raw).memory_id in ids for raw in asked)),
            Query("by_scan", await self._scanned(scope, frozenset(ids), frozenset(keys))),
        )

    async def of_all(self, scope: Scope) -> tuple[Query, ...]:
        """How many content keys of the user are left."""
        layout = self._layout
        names = (layout.memories(scope), layout.questions(scope), layout.meta(scope), layout.sessions(scope))
        by_key = int(await self._client.exists(*names))
        by_scan = len({key async for key in self.content_keys(scope)})
        return (Query("by_key", by_key), Query("by_scan", by_scan))

    async def content_keys(self, scope: Scope) -> AsyncIterator[str]:
        """Every key that holds something of the user, a key possibly more than once. Takes a pass over the server."""
        pattern = self._layout.user_keys(scope)
        async for raw in self._client.scan_iter(match=pattern, count=self._count):
            key = raw.decode("ascii")
            if self._layout.is_content(key):
                yield key

    async def _scanned(self, scope: Scope, ids: frozenset[str], keys: frozenset[str]) -> int:
        found: set[str] = set()
        async for key in self.content_keys(scope):
            if key in keys:
                found.add(key)
            elif key == self._layout.memories(scope) and ids:
                found |= ids & await self._fields(key)
        return len(found)

    async def _fields(self, key: str) -> set[str]:
        fields: set[str] = set()
        entries: Any = self._client.hscan_iter(key, count=self._count)
        async for name, _ in entries:
            fields.add(name.decode("utf-8"))
        return fields
