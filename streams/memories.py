"""What a user may see of the own memories: list, one by id, open questions. Marks first, as in every read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from connectors.http.ports import Asked, Listing, Page
from streams.reading import Reading, Sight
from tables.erasure import Mark
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.memory import Memory, State, Status
from tables.policy import Tenant
from tables.question import QuestionStatus
from tables.ranking import is_expired
from tables.selection import is_question_hidden, visible


@dataclass(frozen=True, slots=True)
class _Seen:
    sight: Sight
    marks: Sequence[Mark]
    memories: tuple[Memory, ...]
    wall: int


class Memories:
    """Fits `connectors.http.ports.Memories`. Every read fails closed: Unavailable when marks cannot be trusted."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def listed(self, scope: Scope, listing: Listing) -> Page:
        """A page of the user's memories, the newest first. Raises InvalidRecord for a bad `at` or cursor."""
        tenant = self._reading.tenant(scope.tenant)
        named = self._reading.asked_at(tenant, listing.at)
        start = _read_cursor(listing.cursor)
        stale = not await self._reading.waited(listing.after)
        seen = await self._seen(tenant, scope)
        now = self._reading.now(tenant, named, seen.sight.view.clock)
        wanted = sorted((m for m in seen.memories if _is_wanted(m, listing, now)), key=_order)
        rest = [m for m in wanted if start is None or _order(m) > start]
        page = rest[: listing.limit]
        cursor = _cursor(page[-1]) if len(rest) > len(page) else ""
        return Page(tuple(page), cursor, seen.sight.view.profile_version, stale)

    async def memory(self, scope: Scope, memory_id: str) -> Memory | None:
        tenant = self._reading.tenant(scope.tenant)
        seen = await self._seen(tenant, scope)
        return next((m for m in seen.memories if m.id == memory_id), None)

    async def questions(self, scope: Scope, after: tuple[Position, ...]) -> Asked:
        tenant = self._reading.tenant(scope.tenant)
        stale = not await self._reading.waited(after)
        seen = await self._seen(tenant, scope)
        held = seen.sight.memories
        asked = [
            question
            for question in sorted(seen.sight.view.questions, key=lambda q: (q.asked_at, q.id))
            if question.status is QuestionStatus.OPEN
            and question.proposed.scope == scope
            and not is_question_hidden(question, held.get(question.memory_id), seen.marks, seen.wall)
        ]
        return Asked(tuple(asked), stale)

    async def _seen(self, tenant: Tenant, scope: Scope) -> _Seen:
        sight = await self._reading.look(tenant, scope, "")
        marks = await self._reading.proof(tenant, scope)
        if marks is None:
            raise Unavailable("redis")
        if sight.index_away:
            raise Unavailable("milvus")
        wall = self._reading.wall()
        own: Iterable[Memory] = (m for m in sight.memories.values() if m.scope == scope)
        return _Seen(sight, marks, tuple(visible(own, marks, wall)), wall)


def _is_wanted(memory: Memory, listing: Listing, now: int) -> bool:
    if memory.status is not listing.status:
        return False
    if memory.state is State.DRAFT and not listing.drafts:
        return False
    if listing.status is Status.ACTIVE and is_expired(memory, now):
        return False
    if listing.kinds and memory.kind not in listing.kinds:
        return False
    return listing.task is None or memory.task == listing.task


def _order(memory: Memory) -> tuple[int, str]:
    return -memory.created_at, memory.id


def _cursor(memory: Memory) -> str:
    return base64.urlsafe_b64encode(f"{memory.created_at}:{memory.id}".encode()).rstrip(b"=").decode()


def _read_cursor(cursor: str) -> tuple[int, str] | None:
    """Where a page begins. It opens nothing: whatever it says, the page is of the caller's own memories."""
    if not cursor:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        created, _, memory_id = raw.decode("ascii").partition(":")
        return -int(created), memory_id
    except (binascii.Error, ValueError):
        raise InvalidRecord(BadRecord.BAD_VALUE, "cursor") from None
