"""Unreadable marks: durable when written, never weakened, read last (design §11.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from connectors.codec import decode, encode
from connectors.redis.config import RedisConfig
from connectors.redis.layout import Layout, mark_field
from tables.erasure import Mark, Reach
from tables.errors import Unavailable
from tables.keys import Scope

CONFIRMED: Final = b"1"
UNCONFIRMED: Final = b"0"

PUT: Final = """
for i = 1, #ARGV, 2 do
  local held = redis.call('HGET', KEYS[1], ARGV[i])
  if not held or string.sub(held, 1, 1) ~= '1' or string.sub(ARGV[i + 1], 1, 1) == '1' then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return #ARGV / 2
"""


class Marks:
    """Writes marks of a user, and marks of a whole tenant, each into the hash of its own."""

    def __init__(self, client: Redis, config: RedisConfig) -> None:
        self._client = client
        self._config = config
        self._layout = Layout(config.prefix)
        self._waits = True

    async def put(self, scope: Scope, marks: Sequence[Mark]) -> None:
        """Write `marks`; one that is confirmed already stays so. Must be called within the wall.

        On Redis 7.2 and later a normal return means: on the disk. Raises Unavailable when that could not be had in
        time; the mark may be there all the same, and writing it again is harmless.
        """
        if not marks:
            return
        pipe = self._client.pipeline(transaction=False)
        for key, held in self._by_key(scope, marks).items():
            pipe.eval(PUT, 1, key, *[part for mark in held for part in (mark_field(mark), packed(mark))])
        if self._waits:
            pipe.execute_command("WAITAOF", 1, 0, self._config.fsync_timeout_ms)
        answers: list[Any] = await pipe.execute(raise_on_error=False)
        if self._waits:
            self._check_durable(answers.pop())
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer

    async def remove(self, scope: Scope, marks: Sequence[Mark]) -> None:
        """Forget `marks`. Must be called within the wall."""
        if not marks:
            return
        pipe = self._client.pipeline(transaction=False)
        for key, held in self._by_key(scope, marks).items():
            pipe.hdel(key, *[mark_field(mark) for mark in held])
        await pipe.execute()

    def _by_key(self, scope: Scope, marks: Sequence[Mark]) -> Mapping[str, list[Mark]]:
        keys: dict[str, list[Mark]] = {}
        for mark in marks:
            keys.setdefault(marks_key(self._layout, scope, mark), []).append(mark)
        return keys

    def _check_durable(self, answer: object) -> None:
        """A server that cannot wait (older, or without a log) is not asked again; `hazards` names the latter."""
        if isinstance(answer, ResponseError):
            self._waits = False
        elif isinstance(answer, Exception):
            raise answer
        elif isinstance(answer, list) and int(answer[0]) < 1:
            raise Unavailable("redis")


def marks_key(layout: Layout, scope: Scope, mark: Mark) -> str:
    """Raises ValueError for a mark on a part of a user without a user: it would hide the same name of every user."""
    if mark.reach is Reach.TENANT:
        return layout.tenant_marks(scope.tenant)
    if not scope.user:
        raise ValueError("a mark of no user")
    return layout.user_marks(scope)


def packed(mark: Mark) -> bytes:
    return (CONFIRMED if mark.confirmed else UNCONFIRMED) + encode(mark)


def unpacked(values: Sequence[bytes]) -> tuple[Mark, ...]:
    """Marks in a fixed order: by time, then reach and value."""
    marks = [decode(Mark, value[1:]) for value in values]
    return tuple(sorted(marks, key=lambda mark: (mark.at, mark.reach.value, mark.value, mark.before)))
