"""A candidate fact: what the extractor proposes to the gates. It is a proposal, never a memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tables.keys import Position, Scope


class Kind(StrEnum):
    """The closed list of memory types (defaults of each: `tables.policy.KINDS`)."""

    IDENTITY = "identity"
    HEALTH = "health"
    BOUNDARY = "boundary"
    VALUE = "value"
    PREFERENCE = "preference"
    COMMITMENT = "commitment"
    FACT = "fact"
    TASK = "task"
    PLAN = "plan"


class Polarity(StrEnum):
    """`NEGATIVE` denies, ends, dislikes or forbids. Equality of two facts always compares it."""

    POSITIVE = "pos"
    NEGATIVE = "neg"


class Confirmation(StrEnum):
    STATED = "stated"
    INFERRED = "inferred"
    IMPORTED = "imported"
    COMMANDED = "commanded"  # confirmed or corrected by a command


class Sensitivity(StrEnum):
    """Sensitivity classes a tenant's policy speaks of; NONE is everything else."""

    NONE = "none"
    HEALTH = "health"
    FINANCE = "finance"
    CONTACT = "contact"
    IDENTITY_NUMBER = "identity_number"
    CREDENTIAL = "credential"


SELF = "self"  # the subject of a fact about the user; anything else names a third party or thing


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact in the user's own words.

    slot        dimension of the subject, from `tables.slots`; `single` says that it holds one value at a time
    value       normalised value (case, width, script folded); equality of facts is equality of (subject, slot, value,
                polarity)
    content     the clause as said, what a recall shows
    span        [start, end) in characters of the source turn's content
    expires_at  epoch ms said in the text ("until Friday"), 0 = never; end of a commitment likewise
    confidence, importance  0..1 ; `explicit` = by the closed rules or "remember this" (counts for freezing, H8)
    vector      384 float32, L2-normalised; empty until embedded
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
    expires_at: int
    confidence: float
    explicit: bool
    importance: float
    confirmation: Confirmation
    sensitivity: Sensitivity
    lang: str
    turn: str
    turn_id: str
    at: int
    position: Position
    vector: tuple[float, ...] = ()
