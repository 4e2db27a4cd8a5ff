"""The worker's side of Redis: it alone writes windows, memories, questions, outcomes, receipts and progress.

Fits `streams.ports.Copies`. Every write is idempotent and may be repeated after Unavailable("redis"), whose outcome
is unknown. A batch is one round trip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from redis.asyncio import Redis

from connectors.codec import encode
from connectors.redis.client import wall
from connectors.redis.config import DAY_MS, RedisConfig
from connectors.redis.layout import Layout, progress_field
from connectors.redis.marks import Marks
from connectors.redis.residue import Residue
from tables.command import Outcome
from tables.copies import SessionCopy, UserCopy
from tables.erasure import Mark
from tables.keys import Scope, session_digest, tenant_digest
from tables.question import QuestionStatus
from tables.receipt import Query, Receipt
from tables.session import Session

# The index is written first: a copy that no index names could not be erased without looking at every key.
MIRROR: Final = """
for i = 1, #KEYS, 2 do
  local at = 3 + (i - 1) / 2 * 3
  local member, session, life = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  if session == '' then
    redis.call('DEL', KEYS[i + 1])
    redis.call('ZREM', KEYS[i], member)
  else
    redis.call('ZADD', KEYS[i], tonumber(ARGV[1]) + life, member)
    redis.call('ZREMRANGEBYSCORE', KEYS[i], 0, ARGV[2])
    redis.call('SET', KEYS[i + 1], session, 'PX', life)
  end
end
return 0
"""

RAISE: Final = """
for i = 1, #ARGV, 2 do
  local held = tonumber(redis.call('HGET', KEYS[1], ARGV[i]))
  if not held or tonumber(ARGV[i + 1]) > held then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return 0
"""


class RedisCopies:
    """`client` comes from `connect(config)` and is closed by whoever made it. `now` is the wall clock in seconds."""

    def __init__(self, client: Redis, config: RedisConfig, now: Callable[[], float] = time.time) -> None:
        self._client = client
        self._config = config
        self._layout = Layout(config.prefix)
        self._marks = Marks(client, config)
        self._residue = Residue(client, config)
        self._now = now

    async def mirror_sessions(self, rows: Sequence[SessionCopy]) -> None:
        """Write each session as it is, or take its copy away. Redelivery guards stay behind: no reader needs them.

        One script for the whole batch: the client spends 25 µs on every command it sends.
        """
        if not rows:
            return
        names: list[str] = []
        values: list[str | bytes | int] = [now := int(self._now() * 1000), now - DAY_MS]
        for row in rows:
            user, member = self._layout.user(row.scope), session_digest(row.scope, row.session)
            life = max(0, row.ttl_ms) + self._config.garbage_ms
            names += (f"{user}:sessions", f"{user}:s:{member}")
            values += (member, b"" if row.row is None else encode(as_read(row.row)), life)
        with wall():
            await self._client.eval(MIRROR, len(names), *names, *values)

    async def mirror_users(self, rows: Sequence[UserCopy]) -> None:
        """Write what changed. A removed or closed memory goes even if it is named as written too."""
        if not rows:
            return
        pipe = self._client.pipeline(transaction=False)
        for row in rows:
            self._mirror_user(pipe, row)
            for outcome in row.outcomes:
                self._put_outcome(pipe, row.scope.tenant, outcome)
        await self._sent(pipe)

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        """Write marks, durably as `RedisConfig` says. A confirmed mark is never replaced by an unconfirmed one."""
        with wall():
            await self._marks.put(scope, marks)

    async def remove_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        """Forget marks whose fence is over."""
        with wall():
            await self._marks.remove(scope, marks)

    async def drop_user(self, scope: Scope) -> int:
        """Remove every copy of the user's words; marks, receipts and outcomes stay. Returns how many keys went."""
        layout = self._layout
        with wall():
            held: Any = await self._client.zrange(layout.sessions(scope), 0, -1)
            keys = [layout.session_of(scope, raw.decode("ascii")) for raw in held]
            keys += [layout.memories(scope), layout.questions(scope), layout.meta(scope), layout.sessions(scope)]
            return int(await self._client.delete(*keys))

    async def sweep_user(self, scope: Scope) -> int:
        """What `drop_user` does, by looking at every key of the server: for residue that the index does not name."""
        with wall():
            keys = [key async for key in self._residue.content_keys(scope)]
            return int(await self._client.delete(*keys)) if keys else 0

    async def residue(self, scope: Scope, memory_ids: Sequence[str], sessions: Sequence[str]) -> tuple[Query, ...]:
        """What is left of those ids and sessions, or of the whole user when neither is given: by key and by scan."""
        with wall():
            if memory_ids or sessions:
                return await self._residue.of_parts(scope, memory_ids, sessions)
            return await self._residue.of_all(scope)

    async def put_receipt(self, tenant: str, receipt: Receipt) -> None:
        key = self._layout.receipt(tenant, receipt.request_id)
        with wall():
            await self._client.set(key, encode(receipt), px=self._config.receipt_ms)

    async def put_outcome(self, tenant: str, outcome: Outcome) -> None:
        pipe = self._client.pipeline(transaction=False)
        self._put_outcome(pipe, tenant, outcome)
        await self._sent(pipe)

    async def put_clock(self, tenant: str, at: int) -> None:
        """Move the tenant's event clock forward; it never goes back."""
        await self._raise(self._layout.clocks, [(tenant_digest(tenant), at)])

    async def publish_progress(self, done: Mapping[tuple[str, int], int]) -> None:
        """Publish offsets whose effects are all done; a smaller one than before changes nothing."""
        fields = [(progress_field(topic, partition), offset) for (topic, partition), offset in done.items()]
        await self._raise(self._layout.progress, fields)

    async def served_partitions(self) -> frozenset[int]:
        """Partitions whose copies are complete. Empty after Redis lost its data: rebuild, then confirm each."""
        with wall():
            fields: Any = await self._client.hkeys(self._layout.epoch)
        return frozenset(int(name) for name in fields)

    async def confirm_partition(self, partition: int) -> None:
        """Say that the copies of this partition are complete: readers serve it from now on."""
        with wall():
            await self._client.hset(self._layout.epoch, str(partition), "1")

    async def withdraw_partition(self, partition: int) -> None:
        """Say that they are not (before a rebuild): readers answer degraded until it is confirmed again."""
        with wall():
            await self._client.hdel(self._layout.epoch, str(partition))

    def _mirror_user(self, pipe: Any, row: UserCopy) -> None:
        if not (row.memories or row.removed or row.questions or row.dropped_questions or row.profile_version):
            return
        gone = {*row.removed, *(memory.id for memory in row.memories if memory.closed)}
        held = {memory.id: encode(memory) for memory in row.memories if memory.id not in gone}
        asked = {q.id: encode(q) for q in row.questions if q.status is QuestionStatus.OPEN}
        answered = {q.id for q in row.questions if q.status is not QuestionStatus.OPEN} | set(row.dropped_questions)
        asked = {question: raw for question, raw in asked.items() if question not in answered}
        if gone:
            pipe.hdel(self._layout.memories(row.scope), *sorted(gone))
        if held:
            pipe.hset(self._layout.memories(row.scope), mapping=held)
        if asked:
            pipe.hset(self._layout.questions(row.scope), mapping=asked)
        if answered:
            pipe.hdel(self._layout.questions(row.scope), *sorted(answered))
        meta = {"present": 1, **({"profile_version": row.profile_version} if row.profile_version else {})}
        pipe.hset(self._layout.meta(row.scope), mapping=meta)

    def _put_outcome(self, pipe: Any, tenant: str, outcome: Outcome) -> None:
        pipe.set(self._layout.outcome(tenant, outcome.request_id), encode(outcome), px=self._config.outcome_ms)

    async def _raise(self, key: str, fields: Sequence[tuple[str, int]]) -> None:
        if not fields:
            return
        with wall():
            await self._client.eval(RAISE, 1, key, *[str(part) for pair in fields for part in pair])

    async def _sent(self, pipe: Any) -> None:
        with wall():
            await pipe.execute()


def as_read(session: Session) -> Session:
    """The session without what only its writer needs (up to 16 KB of turn keys, and the offsets)."""
    return replace(session, seen=(), offsets={})
