"""Persist: what admit decided becomes durable, then visible, then known, in one fixed order (design §5.4, §11.4).

For every micro-batch, each step awaited before the next:

1. book rows: the guard and the outbox, which holds everything below; from here on the decision stands;
2. memory, question and due rows;
3. the vector index;
4. the copies in Redis;
5. change, state and question events: a change never announces what a recall cannot find;
then the caller acks. A crash after 1 finds the offset below the guard and does 2–5 again from the outbox; before 1
nothing has happened and the records are decided again from the same rows. Every write is an upsert under a stable id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.codec import encode, encode_held, encode_row, to_json
from connectors.kafka.producer import Headers, Outgoing
from connectors.kafka.topics import CHANGES, QUESTIONS, STATE
from connectors.ledger import Ledger, Row
from streams.ports import Bus, Copies, Embedder, Index, Vector
from tables.book import Book
from tables.change import Change
from tables.command import Outcome
from tables.copies import IndexRow, UserCopy
from tables.erase import due_at
from tables.keys import Scope, encoded_tenant, row_key
from tables.memory import Memory
from tables.policy import Tenant
from tables.question import Question

SOURCE = b"/twinsluice"


@dataclass(slots=True)
class Effects:
    """What a micro-batch decided for one user: final rows of what was touched, and every event in order.

    `route` is the Kafka key of the user's events. `vectors` of memories whose words are new or were held already;
    `dropped` questions whose rows go; `due_done` keys of due rows that were seen to.
    """

    tenant: Tenant
    scope: Scope
    partition: int
    route: bytes
    book: Book
    memories: dict[str, Memory] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    due_done: list[bytes] = field(default_factory=list)


class Persist:
    """The order of effects. Raises Unavailable: repeat the whole batch."""

    def __init__(self, *, ledger: Ledger, index: Index, copies: Copies, bus: Bus, embedder: Embedder) -> None:
        self._ledger = ledger
        self._index = index
        self._copies = copies
        self._bus = bus
        self._embedder = embedder

    async def __call__(self, users: Sequence[Effects]) -> None:
        """Make everything in `users` durable and visible."""
        await self._fill_vectors(users)
        await self._ledger.write([_book_row(user) for user in users])
        await self._ledger.write([row for user in users for row in _rows(user)])
        await self._to_index(users)
        await self._copies.mirror_users([_copy(user) for user in users])
        events = [event for user in users for event in _events(user)]
        if events:
            await self._bus.send_all(events)

    async def _fill_vectors(self, users: Sequence[Effects]) -> None:
        """Embed what has words and no vector yet: a correction's text, a record found without its candidate."""
        missing = [(u, m) for u in users for m in u.memories.values() if not m.closed and m.id not in u.vectors]
        if missing:
            vectors = await self._embedder.passages([memory.content for _, memory in missing])
            for (user, memory), vector in zip(missing, vectors, strict=True):
                user.vectors[memory.id] = vector

    async def _to_index(self, users: Sequence[Effects]) -> None:
        kept: dict[str, list[IndexRow]] = defaultdict(list)
        gone: dict[str, list[str]] = defaultdict(list)
        tenants = {user.tenant.id: user.tenant for user in users}
        for user in users:
            for memory in user.memories.values():
                if memory.closed:
                    gone[user.tenant.id].append(memory.id)
                else:
                    kept[user.tenant.id].append(IndexRow(memory, user.vectors[memory.id]))
        for tenant, rows in kept.items():
            await self._index.upsert(tenants[tenant], rows)
        for tenant, ids in gone.items():
            await self._index.delete(tenants[tenant], ids)


def _book_row(user: Effects) -> Row:
    return Row("books", user.partition, row_key(*user.scope), encode_row(user.book))


def _rows(user: Effects) -> Iterator[Row]:
    for memory in user.memories.values():
        key = row_key(*user.scope, memory.id)
        vector = () if memory.closed else user.vectors.get(memory.id, ())  # a vector is content too
        yield Row("memories", user.partition, key, encode_held(memory, vector))
    for question in user.questions.values():
        yield Row("questions", user.partition, row_key(*user.scope, question.id), encode_row(question))
    for question_id in user.dropped:
        yield Row("questions", user.partition, row_key(*user.scope, question_id), None)
    yield from _due_rows(user)


def _due_rows(user: Effects) -> Iterator[Row]:
    """The rows of `due` that the changes set or take away, and those whose time was seen to."""
    written: dict[bytes, bytes | None] = dict.fromkeys(user.due_done)
    for change in user.changes:
        for side, value in ((change.before, None), (change.after, b"\x01")):
            at = due_at(side, user.tenant.policy_at(side.updated_at)) if side is not None else 0
            if side is not None and at:
                written[due_key(at, side.scope, side.id)] = value
    yield from (Row("due", user.partition, key, value) for key, value in written.items())


def due_key(at: int, scope: Scope, memory_id: str) -> bytes:
    """Sorted by time: 8 bytes of epoch ms, then whose memory it is."""
    return at.to_bytes(8, "big") + row_key(*scope, memory_id)


def _copy(user: Effects) -> UserCopy:
    live = tuple(m for m in user.memories.values() if not m.closed)
    gone = tuple(m.id for m in user.memories.values() if m.closed)
    return UserCopy(
        scope=user.scope,
        memories=live,
        removed=gone,
        questions=tuple(user.questions.values()),
        dropped_questions=tuple(user.dropped),
        outcomes=tuple(user.outcomes),
        profile_version=user.book.profile_version,
    )


def _events(user: Effects) -> Iterator[Outgoing]:
    for change in user.changes:
        headers = ce_headers(change.id, "memory.changed.v1", change.memory.id)
        yield Outgoing(CHANGES, user.route, change_event(change), headers)
    for memory in user.memories.values():
        key = f"{encoded_tenant(user.scope.tenant)}/{memory.id}".encode()
        headers = ce_headers(f"{memory.id}:{memory.version}", "memory.state.v1", memory.id)
        yield Outgoing(STATE, key, None if memory.closed else encode(memory), headers)
    for question in user.asked:
        headers = ce_headers(f"{question.id}:{question.status}", "memory.question.v1", question.memory_id)
        yield Outgoing(QUESTIONS, user.route, encode(question), headers)


def change_event(change: Change) -> bytes:
    """The value on `memory.changes.v1`: Debezium-shaped, everything said inside the body."""
    memory = change.memory
    source = {
        "topic": change.position.topic,
        "partition": change.position.partition,
        "offset": change.position.offset,
        "rule": change.rule.value,
    }
    sides = {"before": change.before, "after": change.after}
    return to_json(
        {
            "v": 1,
            "id": change.id,
            "op": change.op.value,
            "ts_ms": change.at,
            "tenant_id": memory.scope.tenant,
            "user_id": memory.scope.user,
            "memory_id": memory.id,
            "version": memory.version,
            "status": memory.status.value,
            "source": source,
            "body": {"enc": "none", "kid": "", "data": sides},
        }
    )


def ce_headers(event_id: str, kind: str, subject: str = "") -> Headers:
    """CloudEvents attributes in binary mode; the id is the same again when the event is sent again."""
    named = (("ce_subject", subject.encode()),) if subject else ()
    return (
        ("ce_specversion", b"1.0"),
        ("ce_source", SOURCE),
        ("ce_id", event_id.encode()),
        ("ce_type", kind.encode()),
        ("content-type", b"application/json"),
        *named,
    )
