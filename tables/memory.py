"""The memory record (A6) and its life: one id through ledger, Milvus, Redis and topics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tables.candidate import Confirmation, Kind, Polarity, Sensitivity
from tables.keys import Scope


class Status(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    EVICTED = "evicted"
    DELETED = "deleted"


class State(StrEnum):
    DRAFT = "draft"
    COMMITTED = "committed"
    FROZEN = "frozen"


class Freeze(StrEnum):
    NONE = "none"
    PENDING = "pending"  # sure enough, waits for a second independent session
    AWAITING_REVIEW = "awaiting_review"


class Pin(StrEnum):
    NONE = "none"
    INTERN = "intern"
    CORE = "core"


@dataclass(frozen=True, slots=True)
class Source:
    """One statement that a memory rests on. `confidence` is that statement's own, `explicit` as in the candidate."""

    turn: str
    turn_id: str
    session: str
    at: int
    confidence: float
    explicit: bool


@dataclass(frozen=True, slots=True)
class Review:
    by: str
    at: int
    value: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One long-term memory. Times are epoch milliseconds, 0 = none; scores are 0..1.

    confidence  1 − Π(1 − c) over independent sessions (tables.frozen.joined_confidence)
    content, value, subject and the spans of an evicted or deleted memory are empty: only its id, status and times stay.
    version     1 for a new memory, +1 at every change; every change event carries it.
    """

    id: str
    scope: Scope
    session: str
    task: str
    topic: str
    kind: Kind
    subject: str
    slot: str
    single: bool
    value: str
    polarity: Polarity
    content: str
    span: tuple[int, int]
    sources: tuple[Source, ...]
    status: Status
    state: State
    freeze: Freeze
    created_at: int
    updated_at: int
    expires_at: int
    last_mentioned_at: int
    last_access_at: int
    hits: int
    pin: Pin
    review: Review | None
    sensitivity: Sensitivity
    version: int
    confidence: float
    importance: float
    confirmation: Confirmation
    lang: str
    tokens: int
    supersedes: str
    superseded_by: str

    @property
    def recallable(self) -> bool:
        """Whether a default recall may show it, time and fences apart."""
        return self.status is Status.ACTIVE and self.state is not State.DRAFT

    @property
    def closed(self) -> bool:
        """Whether its content is gone for good."""
        return self.status in (Status.EVICTED, Status.DELETED)
