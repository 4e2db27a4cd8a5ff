"""The API's side of Redis: it reads, and writes unreadable marks and traces only. Fits `streams.ports.Reader`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from connectors.codec import decode
from connectors.redis.client import wall
from connectors.redis.config import DAY_MS, RedisConfig
from connectors.redis.layout import Layout, progress_field
from connectors.redis.marks import Marks, unpacked
from tables.command import Outcome
from tables.copies import UserView
from tables.erasure import Mark
from tables.errors import Unavailable
from tables.keys import Scope, tenant_digest
from tables.memory import Memory
from tables.question import Question
from tables.receipt import Receipt
from tables.session import Session


class RedisReader:
    """`client` comes from `connect(config)` and is closed by whoever made it."""

    def __init__(self, client: Redis, config: RedisConfig) -> None:
        self._client = client
        self._config = config
        self._layout = Layout(config.prefix)
        self._marks = Marks(client, config)

    async def serves(self, partition: int) -> bool:
        """Whether the copies of this partition are complete. False, or Unavailable, means: answer degraded."""
        with wall():
            return bool(await self._client.hexists(self._layout.epoch, str(partition)))

    async def view(self, scope: Scope, session: str) -> UserView:
        """Everything of one user in one round trip. The marks are read after everything they may hide.

        `session` must be the session's exact id ("" = none): no other session is ever shown. The caller applies
        the marks and compares times; nothing here has been filtered.
        """
        layout = self._layout
        pipe = self._client.pipeline(transaction=False)
        pipe.hvals(layout.memories(scope))
        pipe.hvals(layout.questions(scope))
        pipe.get(layout.session(scope, session))
        pipe.hget(layout.clocks, tenant_digest(scope.tenant))
        pipe.hmget(layout.meta(scope), "present", "profile_version")
        pipe.hvals(layout.user_marks(scope))
        pipe.hvals(layout.tenant_marks(scope.tenant))
        with wall():
            memories, questions, window, clock, (present, profile), own, whole = await pipe.execute()
        return UserView(
            scope=scope,
            present=present is not None,
            memories=_memories(memories, scope),
            questions=tuple(sorted((decode(Question, raw) for raw in questions), key=lambda q: (q.asked_at, q.id))),
            session=decode(Session, window) if window is not None else None,
            marks=unpacked([*own, *whole]),
            clock=int(clock or 0),
            profile_version=int(profile or 0),
        )

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        """Write marks, durably as `RedisConfig` says. A confirmed mark is never replaced by an unconfirmed one."""
        with wall():
            await self._marks.put(scope, marks)

    async def marks(self, scope: Scope) -> tuple[Mark, ...]:
        """The user's marks and the tenant's, oldest first."""
        pipe = self._client.pipeline(transaction=False)
        pipe.hvals(self._layout.user_marks(scope))
        pipe.hvals(self._layout.tenant_marks(scope.tenant))
        with wall():
            own, whole = await pipe.execute()
        return unpacked([*own, *whole])

    async def progress(self, topic: str, partition: int) -> int:
        """The offset up to which every effect is done, −1 when none is known."""
        with wall():
            held: Any = await self._client.hget(self._layout.progress, progress_field(topic, partition))
        return -1 if held is None else int(held)

    async def receipt(self, tenant: str, request_id: str) -> Receipt | None:
        raw = await self._got(self._layout.receipt(tenant, request_id))
        return None if raw is None else decode(Receipt, raw)

    async def outcome(self, tenant: str, request_id: str) -> Outcome | None:
        raw = await self._got(self._layout.outcome(tenant, request_id))
        return None if raw is None else decode(Outcome, raw)

    async def put_trace(self, tenant: str, trace_id: str, trace: bytes, ttl_ms: int = DAY_MS) -> None:
        """Keep a recall's trace (ids and numbers only) for a while."""
        with wall():
            await self._client.set(self._layout.trace(tenant, trace_id), trace, px=ttl_ms)

    async def trace(self, tenant: str, trace_id: str) -> bytes | None:
        return await self._got(self._layout.trace(tenant, trace_id))

    async def healthy(self) -> bool:
        """Whether the server answers; never raises."""
        try:
            with wall():
                await self._client.ping()
        except Unavailable:
            return False
        return True

    async def hazards(self) -> tuple[str, ...]:
        """What about the server's settings could lose a mark: of not_append_only, may_evict, settings_hidden."""
        pipe = self._client.pipeline(transaction=False)
        pipe.config_get("appendonly")
        pipe.config_get("maxmemory-policy")
        with wall():
            append, policy = await pipe.execute(raise_on_error=False)
        if not isinstance(append, dict) or not isinstance(policy, dict):
            return ("settings_hidden",)
        losing = "" if append.get("appendonly") == "yes" else "not_append_only"
        evicting = "" if policy.get("maxmemory-policy") == "noeviction" else "may_evict"
        return tuple(word for word in (losing, evicting) if word)

    async def _got(self, key: str) -> bytes | None:
        with wall():
            held: Any = await self._client.get(key)
        return None if held is None else bytes(held)


def _memories(values: Sequence[bytes], scope: Scope) -> tuple[Memory, ...]:
    """By id; a memory of another scope could only be here by a bug and is not shown."""
    memories = (decode(Memory, raw) for raw in values)
    return tuple(sorted((one for one in memories if one.scope == scope), key=lambda memory: memory.id))
