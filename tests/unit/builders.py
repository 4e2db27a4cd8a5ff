"""Objects that tests change one field of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tables.admit import admit
from tables.book import Book, Entry
from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.command import Actor, ActorRole, Command, CommandKind
from tables.enter import memory_from
from tables.erasure import Erasure, Reach, Selector
from tables.keys import Position, Scope, memory_id, turn_key
from tables.memory import Memory, State
from tables.policy import DAY_MS, Policy
from tables.question import Question
from tables.slots import SLOTS
from tables.world import Step, World, entry_of

T0 = 1_772_355_600_000  # 2026-03-01T09:00:00Z
SCOPE = Scope("t1", "u1")
POLICY = Policy()


def position(offset: int = 0, topic: str = "memory.candidates.v1") -> Position:
    return Position(topic, 0, offset)


def candidate(value: str = "paris", **fields: Any) -> Candidate:
    """A clear statement about the user's city, said in session s1 at T0; its id follows from turn and fact."""
    turn_id = fields.pop("turn_id", f"turn-{fields.get('session', 's1')}-{fields.get('at', T0)}-{value}")
    session = fields.get("session", "s1")
    slot = fields.get("slot", "identity.city")
    known = SLOTS.get(".".join(slot.split(".")[:2]))
    scope = fields.get("scope", SCOPE)
    turn = turn_key(scope, session, turn_id)
    polarity = fields.get("polarity", Polarity.POSITIVE)
    subject = fields.get("subject", SELF)
    base = Candidate(
        id=memory_id(turn, subject, slot, value, polarity.value),
        scope=scope,
        session=session,
        task="",
        topic="",
        kind=Kind.IDENTITY,
        subject=subject,
        slot=slot,
        single=known.single if known is not None else True,
        value=value,
        polarity=polarity,
        content=f"it is {value}",
        span=(0, len(value)),
        expires_at=0,
        confidence=0.9,
        explicit=True,
        importance=0.5,
        confirmation=Confirmation.STATED,
        sensitivity=Sensitivity.NONE,
        lang="en",
        turn=turn,
        turn_id=turn_id,
        at=T0,
        position=position(0, "conversation.turns.v1"),
    )
    return replace(base, **fields)


def world(memories: Iterable[Memory] = (), questions: Iterable[Question] = (), **book: Any) -> World:
    rows = {memory.id: memory for memory in memories}
    entries = {key: entry_of(memory) for key, memory in rows.items() if not memory.closed}
    return World(SCOPE, Book(entries=entries, **book), rows, {q.id: q for q in questions})


def memory(value: str = "paris", **fields: Any) -> Memory:
    """A committed memory that rests on `candidate(value)`; `fields` of the memory."""
    said = {k: fields.pop(k) for k in ("slot", "kind", "polarity", "session", "at", "subject", "lang") if k in fields}
    return replace(memory_from(candidate(value, **said), State.COMMITTED), **fields)


def entry(**fields: Any) -> Entry:
    """The book's line of `memory()`, with `fields` of its own."""
    return replace(entry_of(memory()), **fields)


def frozen(value: str = "paris", **fields: Any) -> Memory:
    return memory(value, state=State.FROZEN, **fields)


def take(candidates: Iterable[Candidate], start: World | None = None, policy: Policy = POLICY) -> list[Step]:
    """Admit `candidates` in order, each on the world that the one before left."""
    here = start if start is not None else world()
    steps: list[Step] = []
    for offset, one in enumerate(candidates):
        step = admit(one, here, policy, position(offset))
        steps.append(step)
        here = step.world
    return steps


def last(candidates: Iterable[Candidate], start: World | None = None, policy: Policy = POLICY) -> Step:
    """The step of the last of `candidates`."""
    return take(candidates, start, policy)[-1]


def active(here: World) -> list[str]:
    """The values that are current in `here`, drafts left out."""
    return sorted(m.value for m in rows(here) if m.recallable)


def rows(here: World) -> list[Memory]:
    """The rows that the book names."""
    return [here.memories[key] for key in here.book.entries]


def only(step: Step) -> Memory:
    """The one row that `step` wrote."""
    (row,) = step.memories.values()
    return row


def later(days: float) -> int:
    return T0 + int(days * DAY_MS)


def command(kind: CommandKind, **fields: Any) -> Command:
    """A command by the user, a day after T0."""
    base = Command(
        request_id="r1", kind=kind, scope=SCOPE, actor=Actor("u1", ActorRole.USER), at=later(1), zone_minutes=0
    )
    return replace(base, **fields)


def erasure(reach: Reach, *values: str, **fields: Any) -> Erasure:
    """An erasure by the user, 10 days after T0."""
    before = fields.pop("before", 0)
    actor = Actor("u1", ActorRole.USER)
    base = Erasure("e1", SCOPE, Selector(reach, values, before), "", actor, later(10))
    return replace(base, **fields)
