"""Admit: both gates over every candidate, commands and expiries too, and erasures in their turn (design §5.3, §5.4).

The only reader of candidates and the only writer of books, memories, questions, due and receipts. A record below a
book's guard was decided before: what the outbox still holds of it is done again, nothing is decided twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.codec import decode
from connectors.kafka.producer import Outgoing
from connectors.ledger import Ledger
from connectors.metrics import VERDICTS
from streams.batch import Taken
from streams.deadletter import letter, send_letters
from streams.erase import Eraser
from streams.fence import Fencing
from streams.persist import Effects, Persist, due_key
from streams.ports import Bus, Copies, Tenants, Vector
from streams.users import Users
from tables.admit import Relate, admit
from tables.candidate import Candidate
from tables.commanded import apply
from tables.erase import expire, purge
from tables.errors import InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.memory import Memory
from tables.outbox import acked, behind, pending_at, recorded
from tables.policy import Policy, Tenant
from tables.relation import Related, Relating, nearest
from tables.snapshot import Due, Snapshot, SnapshotKind
from tables.world import Step, World

OUTBOX_MAX = 64  # entries of one user: each may hold two records with all their sources, and a row has 8 MiB


@dataclass(slots=True)
class User:
    """One user within a micro-batch: the world so far and the effects that led there."""

    world: World
    effects: Effects


@dataclass(slots=True)
class Work:
    """What a micro-batch has decided and not yet done."""

    users: dict[tuple[int, Scope], User] = field(default_factory=dict)
    letters: list[Outgoing] = field(default_factory=list)
    done: dict[tuple[str, int], int] = field(default_factory=dict)

    def clear(self) -> None:
        self.users.clear()
        self.letters.clear()
        self.done.clear()


class Admit:
    """The step."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        tenants: Tenants,
        copies: Copies,
        bus: Bus,
        persist: Persist,
        eraser: Eraser,
        fencing: Fencing,
        relating: Relating | None = None,
    ) -> None:
        self._tenants = tenants
        self._copies = copies
        self._bus = bus
        self._persist = persist
        self._eraser = eraser
        self._fencing = fencing
        self._relating = relating
        self._users = Users(ledger)
        self._acked: dict[int, int] = {}
        self._moved = False

    def forget(self) -> None:
        """Drop everything cached: called when partitions come or go, also in the middle of a batch."""
        self._moved = True
        self._drop_cached()
        self._acked.clear()

    def _drop_cached(self) -> None:
        self._users.forget()
        self._fencing.forget()

    async def __call__(self, batch: Sequence[Taken]) -> None:
        """Do a micro-batch; returns when every effect is durable and visible. Raises Unavailable: repeat it whole."""
        work = Work()
        self._moved = False
        try:
            for record in batch:
                try:
                    await self._take(record, decode(Snapshot, record.value), work)
                except InvalidRecord as error:
                    work.letters.append(letter(record, "admit", error))
            await self._flush(work)
        except BaseException:
            self._drop_cached()  # a world that was decided but not written must not be taken for a written one
            raise
        if self._moved:
            self._drop_cached()  # what this batch read belongs to an assignment that is over
            return
        for record in batch:  # they are acked next, in this order
            self._acked[record.partition] = record.offset

    async def _take(self, record: Taken, snapshot: Snapshot, work: Work) -> None:
        if snapshot.kind is SnapshotKind.PROGRESS:
            work.done.update({(topic, record.partition): offset for topic, offset in snapshot.done.items()})
            return
        tenant = self._tenants.get(snapshot.scope.tenant)
        if tenant is None:
            raise Unavailable("tenants")  # collect knew it: this worker's registry is a moment behind
        if snapshot.kind is SnapshotKind.ERASURE:
            await self._flush(work)
            await self._erase(record, snapshot, tenant)
            return
        user = self._user(record, snapshot, tenant, work)
        if behind(user.world.book, record.offset):
            user.effects.vectors.update({c.id: c.vector for c in snapshot.candidates})
            self._again(user, record.offset)
            if snapshot.due is not None:
                user.effects.due_done.append(_due_key_of(snapshot.due))
            return
        for step in self._decide(record, snapshot, user, tenant):
            _take_in(user, record.offset, step)
        if len(user.world.book.outbox) >= OUTBOX_MAX:
            await self._flush(work)
            self._acked[record.partition] = record.offset  # everything up to here is done: it need not be told again

    def _decide(self, record: Taken, snapshot: Snapshot, user: User, tenant: Tenant) -> list[Step]:
        """Every step that the record makes, each over the world that the one before left."""
        steps: list[Step] = []
        world = user.world
        said = snapshot.candidates if snapshot.kind is SnapshotKind.TURN else ()
        for candidate in said:
            policy = tenant.policy_at(candidate.at)
            fences = self._fencing.of(record.partition, candidate.scope)
            user.effects.vectors[candidate.id] = candidate.vector
            relate = _relate(self._relating, user.effects.vectors)
            steps.append(admit(candidate, world, policy, candidate.position, fences, relate))
            world = steps[-1].world
        if snapshot.command is not None:
            policy = tenant.policy_at(snapshot.command.at)
            reading = snapshot.candidates[0] if snapshot.candidates else None
            steps.append(apply(snapshot.command, world, policy, snapshot.position, reading))
        if snapshot.due is not None:
            steps.append(_fallen_due(snapshot.due, user, tenant.policy_at(snapshot.due.due_at), snapshot.position))
        for step in steps:
            VERDICTS.labels(step.verdict.value).inc()
        return steps

    def _user(self, record: Taken, snapshot: Snapshot, tenant: Tenant, work: Work) -> User:
        key = (record.partition, snapshot.scope)
        user = work.users.get(key)
        if user is None:
            world, effects = self._users.effects(tenant, snapshot.scope, record.partition, record.key or b"")
            book = acked(world.book, self._acked.get(record.partition, -1) + 1)
            user = work.users[key] = User(replace(world, book=book), effects)
        return user

    def _again(self, user: User, offset: int) -> None:
        """Do again what was decided at `offset`: the events as they were, the rows as they are by now."""
        entry = pending_at(user.world.book, offset)
        if entry is None:
            return
        effects = user.effects
        effects.changes += entry.changes
        effects.asked += entry.questions
        effects.outcomes += [entry.outcome] if entry.outcome else []
        for change in entry.changes:
            effects.memories[change.memory.id] = user.world.memories[change.memory.id]
        effects.dropped.update(entry.dropped)
        for question in entry.questions:
            effects.questions[question.id] = user.world.questions.get(question.id, question)

    async def _erase(self, record: Taken, snapshot: Snapshot, tenant: Tenant) -> None:
        partition = record.partition
        scopes = [snapshot.scope] if snapshot.scope.user else self._users.scopes(partition, tenant.id)
        users: list[User] = []
        for scope in scopes:
            world, effects = self._users.effects(tenant, scope, partition, record.key or b"")
            book = acked(world.book, record.offset)  # finished by the flush: the words of before need not stay
            users.append(User(replace(world, book=book), effects))
        await self._eraser(record, snapshot, tenant, [(user.world, user.effects) for user in users])
        self._users.forget()

    async def _flush(self, work: Work) -> None:
        """Do everything decided so far and empty `work`."""
        if work.users:
            users = list(work.users.values())
            await self._persist([user.effects for user in users])
            for (partition, _), user in work.users.items():
                self._users.keep(partition, user.world, user.effects.vectors)
        await send_letters(self._bus, work.letters)
        if work.done:
            await self._copies.publish_progress(work.done)
        work.clear()


def _relate(relating: Relating | None, vectors: Mapping[str, Vector]) -> Relate | None:
    """How a candidate stands to the memories nearest to it, by `relating` and the vectors of both."""
    if relating is None:
        return None

    def related(candidate: Candidate, memories: Sequence[Memory]) -> Mapping[str, Related]:
        held = {memory.id: memory for memory in memories if memory.id in vectors}
        near = nearest(candidate.vector, [(one, vectors[one]) for one in held])
        return {one: relating.relation(held[one], vectors[one], candidate, candidate.vector) for one in near}

    return related


def _due_key_of(due: Due) -> bytes:
    return due_key(due.due_at, due.scope, due.memory_id)


def _fallen_due(due: Due, user: User, policy: Policy, position: Position) -> Step:
    """Expire or purge, if it still holds; either way the row of `due` that said so is done with."""
    user.effects.due_done.append(_due_key_of(due))
    step = expire(due.memory_id, due.due_at, user.world, position)
    return step if step.changes else purge(due.memory_id, due.due_at, user.world, policy, position)


def _take_in(user: User, offset: int, step: Step) -> None:
    """Add what `step` did to the user's effects; its world, with guard and outbox, is the user's from now on."""
    effects = user.effects
    effects.dropped.update(step.dropped)
    user.world = replace(step.world, book=recorded(step.world.book, offset, step))
    effects.book = user.world.book
    effects.memories.update(step.memories)
    effects.questions.update({question.id: question for question in step.questions})
    effects.changes += step.changes
    effects.asked += step.questions
    effects.outcomes += [step.outcome] if step.outcome else []
