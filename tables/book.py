"""The book of a user: the index of the user's memories with what the gates weigh, and what is not yet acked."""

from __future__ import annotations

from dataclasses import dataclass, field

from tables.candidate import Kind, Polarity
from tables.change import Change
from tables.command import Outcome
from tables.memory import Freeze, Pin, State, Status
from tables.question import Question


@dataclass(frozen=True, slots=True)
class Entry:
    """What the gates weigh of one memory without reading its content.

    dimension   digest of (task, subject, slot), and of the value too where a slot holds many: one current memory each
    conclusion  digest of (dimension, value, polarity): equal conclusions are duplicates
    """

    id: str
    kind: Kind
    dimension: str
    conclusion: str
    polarity: Polarity
    status: Status
    state: State
    freeze: Freeze
    pin: Pin
    protected: bool
    importance: float
    confidence: float
    tokens: int
    weight: float
    created_at: int
    last_mentioned_at: int
    expires_at: int
    task: str


@dataclass(frozen=True, slots=True)
class Pending:
    """An outbox entry: the effects decided at `offset` (candidates topic) and not yet known to be acked (§11.4).

    `dropped`: ids of question rows that an erasure takes away.
    """

    offset: int
    changes: tuple[Change, ...] = ()
    questions: tuple[Question, ...] = ()
    outcome: Outcome | None = None
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """One consent command: `of_kind` as in `Book.consent`, in force from `at` on."""

    of_kind: str
    allow: bool
    at: int


@dataclass(frozen=True, slots=True)
class Book:
    """One user's index. `offset` is the guard: the last applied offset of the candidates topic, -1 = none.

    `rejected` holds the questions the user refused (never asked again at once); `outcomes` those of the last 24 h.
    `consent`: "" = everything, else a memory type or a sensitivity class → allowed? It is what the newest of `grants`
    (by time) left in force; older ones are kept to judge late turns.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    profile_version: int = 0
    consent: dict[str, bool] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    rejected: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    outbox: tuple[Pending, ...] = ()
    offset: int = -1
