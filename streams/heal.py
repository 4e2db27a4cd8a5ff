"""Heal: the copies in Redis are rebuilt from the ledger whenever Redis does not hold this epoch's mark of a partition.

Readers serve a partition only while its mark is there (design §11.5), so a Redis that lost its data answers degraded,
never wrong, until every fence, window, memory and question of the partition is back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from connectors.codec import decode_held, decode_row
from connectors.ledger import Ledger
from streams.fence import Fences, Fencing
from streams.ports import Copies
from streams.receipts import Receipts
from tables.book import Book
from tables.copies import SessionCopy, UserCopy
from tables.keys import Scope, key_parts, row_key
from tables.policy import Policy, Tenant
from tables.question import Question
from tables.session import Session

CHUNK = 200  # rows a round trip: large enough to be quick, small enough to let other work in between


class Heal:
    """Rebuilds the copies of one partition; the caller keeps the steps from writing meanwhile."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        copies: Copies,
        fencing: Fencing,
        receipts: Receipts,
        tenant: Callable[[str], Tenant | None],
        now: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._copies = copies
        self._fencing = fencing
        self._receipts = receipts
        self._tenant = tenant
        self._now = now

    async def missing(self, assigned: frozenset[int]) -> frozenset[int]:
        """The assigned partitions whose mark Redis does not hold. Raises Unavailable("redis")."""
        return assigned - await self._copies.served_partitions()

    async def partition(self, partition: int) -> None:
        """Marks first, then everything readable, then the mark of the epoch. Raises Unavailable; repeat."""
        await self._fences(partition)
        await self._sessions(partition)
        await self._users(partition)
        await self._receipts.show_all(partition, self._tenant)
        await self._copies.confirm_partition(partition)

    async def _fences(self, partition: int) -> None:
        for key, raw in self._ledger.scan("fences", partition):
            parts = key_parts(key)
            if parts[0] == "":
                await self._copies.put_clock(parts[2], int(raw[1:]))
                continue
            for fence in decode_row(Fences, raw).fences:
                await self._copies.put_marks(Scope(parts[0], parts[1]), self._fencing.marks(fence))

    async def _sessions(self, partition: int) -> None:
        chunk: list[SessionCopy] = []
        for key, raw in self._ledger.scan("sessions", partition):
            tenant, user, name = key_parts(key)
            row = decode_row(Session, raw)
            if not row.window and not row.wishes:
                continue  # erased or reset: only the guard is left
            policy = self._policy(tenant, row.last_at)
            chunk.append(SessionCopy(Scope(tenant, user), name, row, policy.session_ttl_ms))
            if len(chunk) >= CHUNK:
                await self._copies.mirror_sessions(chunk)
                chunk.clear()
        await self._copies.mirror_sessions(chunk)

    async def _users(self, partition: int) -> None:
        chunk: list[UserCopy] = []
        for scope, book in self._owners(partition):
            chunk.append(self._user(partition, scope, book))
            if len(chunk) >= CHUNK:
                await self._copies.mirror_users(chunk)
                chunk.clear()
        await self._copies.mirror_users(chunk)

    def _owners(self, partition: int) -> Iterator[tuple[Scope, Book]]:
        """Every user with a book, also one who has outcomes and no memory."""
        for key, raw in self._ledger.scan("books", partition):
            tenant, user = key_parts(key)
            yield Scope(tenant, user), decode_row(Book, raw)

    def _user(self, partition: int, scope: Scope, book: Book) -> UserCopy:
        prefix = row_key(*scope)
        memories = [decode_held(raw)[0] for _, raw in self._ledger.scan("memories", partition, prefix)]
        live = tuple(memory for memory in memories if not memory.closed)
        gone = tuple(memory.id for memory in memories if memory.closed)
        held = self._ledger.scan("questions", partition, prefix)
        questions = tuple(decode_row(Question, raw) for _, raw in held)
        return UserCopy(
            scope=scope,
            memories=live,
            removed=gone,
            questions=questions,
            outcomes=book.outcomes,
            profile_version=book.profile_version,
        )

    def _policy(self, tenant: str, at: int) -> Policy:
        known = self._tenant(tenant)
        return known.policy_at(at) if known else Policy()
