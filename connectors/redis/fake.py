"""The copies in memory: one `Shelf` shared by a `FakeCopies` and a `FakeReader`, held to the same contract tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from connectors.redis.copies import as_read
from connectors.redis.layout import mark_field
from tables.command import Outcome
from tables.copies import SessionCopy, UserCopy, UserView
from tables.erasure import Mark, Reach
from tables.errors import Unavailable
from tables.keys import Scope
from tables.memory import Memory
from tables.question import Question, QuestionStatus
from tables.receipt import Query, Receipt
from tables.session import Session


@dataclass(slots=True)
class Drawer:
    """What is kept of one user."""

    memories: dict[str, Memory] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    present: bool = False
    profile_version: int = 0

    @property
    def keys(self) -> int:
        return bool(self.memories) + bool(self.questions) + self.present


class Shelf:
    """The store itself. Set `away` to make every call fail; `lose` forgets all, as a server without its disk does."""

    def __init__(self) -> None:
        self.away = False
        self.lose()

    def lose(self) -> None:
        self.users: dict[Scope, Drawer] = {}
        self.sessions: dict[tuple[Scope, str], Session] = {}
        self.user_marks: dict[Scope, dict[str, Mark]] = {}
        self.tenant_marks: dict[str, dict[str, Mark]] = {}
        self.receipts: dict[tuple[str, str], Receipt] = {}
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.traces: dict[tuple[str, str], bytes] = {}
        self.clocks: dict[str, int] = {}
        self.progress: dict[tuple[str, int], int] = {}
        self.served: set[int] = set()

    def check(self) -> None:
        if self.away:
            raise Unavailable("redis")

    def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        self.check()
        for mark in marks:
            held = self.marks_of(scope, mark)
            name = mark_field(mark)
            if mark.confirmed or name not in held or not held[name].confirmed:
                held[name] = mark

    def marks_of(self, scope: Scope, mark: Mark) -> dict[str, Mark]:
        if mark.reach is Reach.TENANT:
            return self.tenant_marks.setdefault(scope.tenant, {})
        if not scope.user:
            raise ValueError("a mark of no user")
        return self.user_marks.setdefault(scope, {})

    def marks(self, scope: Scope) -> tuple[Mark, ...]:
        held = [*self.user_marks.get(scope, {}).values(), *self.tenant_marks.get(scope.tenant, {}).values()]
        return tuple(sorted(held, key=lambda mark: (mark.at, mark.reach.value, mark.value, mark.before)))


class FakeCopies:
    """The worker's side."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    async def mirror_sessions(self, rows: Sequence[SessionCopy]) -> None:
        self.shelf.check()
        for row in rows:
            if row.row is None:
                self.shelf.sessions.pop((row.scope, row.session), None)
            else:
                self.shelf.sessions[(row.scope, row.session)] = as_read(row.row)

    async def mirror_users(self, rows: Sequence[UserCopy]) -> None:
        self.shelf.check()
        for row in rows:
            for outcome in row.outcomes:
                self.shelf.outcomes[(row.scope.tenant, outcome.request_id)] = outcome
            if row.memories or row.removed or row.questions or row.profile_version:
                _fold(self.shelf.users.setdefault(row.scope, Drawer()), row)

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        self.shelf.put_marks(scope, marks)

    async def remove_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        self.shelf.check()
        for mark in marks:
            self.shelf.marks_of(scope, mark).pop(mark_field(mark), None)

    async def drop_user(self, scope: Scope) -> int:
        self.shelf.check()
        drawer = self.shelf.users.pop(scope, Drawer())
        gone = [key for key in self.shelf.sessions if key[0] == scope]
        for key in gone:
            del self.shelf.sessions[key]
        return drawer.keys + len(gone) + bool(gone)

    async def sweep_user(self, scope: Scope) -> int:
        return await self.drop_user(scope)

    async def residue(self, scope: Scope, memory_ids: Sequence[str], sessions: Sequence[str]) -> tuple[Query, ...]:
        self.shelf.check()
        drawer = self.shelf.users.get(scope, Drawer())
        windows = {session for owner, session in self.shelf.sessions if owner == scope}
        if not memory_ids and not sessions:
            index = bool(windows)
            return (Query("by_key", drawer.keys + index), Query("by_scan", drawer.keys + index + len(windows)))
        left = len(set(memory_ids) & set(drawer.memories)) + len(set(sessions) & windows)
        asked = sum(question.memory_id in memory_ids for question in drawer.questions.values())
        return (Query("by_key", left), Query("by_question", asked), Query("by_scan", left))

    async def put_receipt(self, tenant: str, receipt: Receipt) -> None:
        self.shelf.check()
        self.shelf.receipts[(tenant, receipt.request_id)] = receipt

    async def put_outcome(self, tenant: str, outcome: Outcome) -> None:
        self.shelf.check()
        self.shelf.outcomes[(tenant, outcome.request_id)] = outcome

    async def put_clock(self, tenant: str, at: int) -> None:
        self.shelf.check()
        self.shelf.clocks[tenant] = max(at, self.shelf.clocks.get(tenant, at))

    async def publish_progress(self, done: Mapping[tuple[str, int], int]) -> None:
        self.shelf.check()
        for place, offset in done.items():
            self.shelf.progress[place] = max(offset, self.shelf.progress.get(place, offset))

    async def served_partitions(self) -> frozenset[int]:
        self.shelf.check()
        return frozenset(self.shelf.served)

    async def confirm_partition(self, partition: int) -> None:
        self.shelf.check()
        self.shelf.served.add(partition)

    async def withdraw_partition(self, partition: int) -> None:
        self.shelf.check()
        self.shelf.served.discard(partition)


class FakeReader:
    """The API's side."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    async def serves(self, partition: int) -> bool:
        self.shelf.check()
        return partition in self.shelf.served

    async def view(self, scope: Scope, session: str) -> UserView:
        self.shelf.check()
        drawer = self.shelf.users.get(scope, Drawer())
        return UserView(
            scope=scope,
            present=drawer.present,
            memories=tuple(sorted(drawer.memories.values(), key=lambda memory: memory.id)),
            questions=tuple(sorted(drawer.questions.values(), key=lambda q: (q.asked_at, q.id))),
            session=self.shelf.sessions.get((scope, session)),
            marks=self.shelf.marks(scope),
            clock=self.shelf.clocks.get(scope.tenant, 0),
            profile_version=drawer.profile_version,
        )

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None:
        self.shelf.put_marks(scope, marks)

    async def marks(self, scope: Scope) -> tuple[Mark, ...]:
        self.shelf.check()
        return self.shelf.marks(scope)

    async def progress(self, topic: str, partition: int) -> int:
        self.shelf.check()
        return self.shelf.progress.get((topic, partition), -1)

    async def receipt(self, tenant: str, request_id: str) -> Receipt | None:
        self.shelf.check()
        return self.shelf.receipts.get((tenant, request_id))

    async def outcome(self, tenant: str, request_id: str) -> Outcome | None:
        self.shelf.check()
        return self.shelf.outcomes.get((tenant, request_id))

    async def put_trace(self, tenant: str, trace_id: str, trace: bytes, ttl_ms: int = 0) -> None:
        """Kept until the shelf is lost, whatever `ttl_ms` says."""
        del ttl_ms
        self.shelf.check()
        self.shelf.traces[(tenant, trace_id)] = trace

    async def trace(self, tenant: str, trace_id: str) -> bytes | None:
        self.shelf.check()
        return self.shelf.traces.get((tenant, trace_id))

    async def healthy(self) -> bool:
        return not self.shelf.away


def _fold(drawer: Drawer, row: UserCopy) -> None:
    drawer.present = True
    drawer.profile_version = row.profile_version or drawer.profile_version
    drawer.memories |= {memory.id: memory for memory in row.memories}
    for memory_id in (*row.removed, *(memory.id for memory in row.memories if memory.closed)):
        drawer.memories.pop(memory_id, None)
    for question in row.questions:
        if question.status is QuestionStatus.OPEN:
            drawer.questions[question.id] = question
        else:
            drawer.questions.pop(question.id, None)
    for question_id in row.dropped_questions:
        drawer.questions.pop(question_id, None)
