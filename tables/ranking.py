"""Which memories a recall may show, and in what order: hard filters first, then a score of four named parts (A8, A14).

Similarity is never permission: `refusal` sees no score, and what it refuses is never scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tables.candidate import Confirmation, Kind
from tables.erasure import Mark, Shown, hides
from tables.keys import Scope
from tables.memory import Memory, State, Status
from tables.score import recency
from tables.trace import LeftOut, Reason

RELEVANCE: Final = 0.55
SCOPE: Final = 0.15
RECENCY: Final = 0.15
SOURCE: Final = 0.15

FLOOR: Final = 0.08  # of relevance 0..1; below the least related true pair of the calibration set
UNSEEN: Final = 0.3  # dense relevance of a row that the index does not show yet
FIELD_MATCH: Final = 0.6  # the question asks for this very slot
STRICT_CONFIDENCE: Final = 0.85

FIRST_KINDS: Final = frozenset({Kind.HEALTH, Kind.BOUNDARY})

_CREDIBILITY: Final[Mapping[Confirmation, float]] = {
    Confirmation.COMMANDED: 1.0,
    Confirmation.STATED: 0.95,
    Confirmation.IMPORTED: 0.8,
    Confirmation.INFERRED: 0.6,
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cosines of an embedder that mean "unrelated" and "the same": e5's lie in a narrow band."""

    low: float = 0.70
    high: float = 0.95

    def relevance(self, similarity: float) -> float:
        return min(1.0, max(0.0, (similarity - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class Ask:
    """What the ranking knows of a request. `now` of the tenant's clock, `wall` of the server's (epoch ms)."""

    scope: Scope
    session: str
    task: str
    now: int
    wall: int
    strict: bool = False
    floor: float = FLOOR
    count: int = 20
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory with what each leg says of it (0..1). `dense` None: the vector leg did not run."""

    memory: Memory
    dense: float | None = None
    keyword: float = 0.0
    field: float = 0.0

    @property
    def relevance(self) -> float:
        """The legs joined as independent evidence: no leg can lower what another found."""
        missed = (1 - (self.dense or 0.0)) * (1 - self.keyword) * (1 - self.field)
        return 1 - missed


@dataclass(frozen=True, slots=True)
class Parts:
    """The named parts of a score, already weighted: they add up to it."""

    relevance: float
    scope: float
    recency: float
    source: float

    @property
    def score(self) -> float:
        return self.relevance + self.scope + self.recency + self.source


@dataclass(frozen=True, slots=True)
class Scored:
    memory: Memory
    parts: Parts


def shown(memory: Memory) -> Shown:
    """The memory as the marks see it: each statement under the platform's turn id and under the engine's key."""
    said = [(source.turn_id, source.session, source.at) for source in memory.sources]
    said += [(source.turn, source.session, source.at) for source in memory.sources]
    if not said:  # imported or written by a command: it stands where it was created
        said = [("", memory.session, memory.created_at)]
    return Shown(memory.id, memory.kind.value, memory.task, tuple(said), memory.sensitivity.value)


def is_hidden(memory: Memory, marks: Iterable[Mark], wall: int) -> bool:
    """Whether any mark makes the memory unreadable; one that has lost its words is unreadable anyway."""
    seen = shown(memory)
    return memory.closed or any(hides(mark, seen, wall) for mark in marks)


def refusal(memory: Memory, ask: Ask, marks: Sequence[Mark]) -> Reason | None:
    """Why this memory may not be shown to this request, None when it may. No score has a say."""
    if memory.scope != ask.scope:
        return Reason.FOREIGN
    if is_hidden(memory, marks, ask.wall):
        return Reason.MARKED
    if memory.status is not Status.ACTIVE:
        return Reason.STATUS
    if memory.state is State.DRAFT:
        return Reason.DRAFT
    if is_expired(memory, ask.now):
        return Reason.EXPIRED
    if memory.task not in ("", ask.task):
        return Reason.OTHER_TASK
    if ask.strict and not is_confirmed(memory):
        return Reason.NOT_STRICT
    return None


def is_expired(memory: Memory, now: int) -> bool:
    return bool(memory.expires_at) and memory.expires_at <= now


def is_confirmed(memory: Memory) -> bool:
    """What `strict` admits: said outright and surely, or confirmed by a command."""
    if memory.confirmation is Confirmation.COMMANDED:
        return True
    explicit = any(source.explicit for source in memory.sources)
    return explicit and memory.confirmation is Confirmation.STATED and memory.confidence >= STRICT_CONFIDENCE


def newest_only(memories: Sequence[Memory]) -> tuple[list[Memory], list[LeftOut]]:
    """Without those that another one of them supersedes: a copy may lag behind the chain."""
    replaced = {memory.supersedes for memory in memories if memory.supersedes}
    kept = [memory for memory in memories if memory.id not in replaced]
    out = [LeftOut(m.id, m.kind.value, Reason.SUPERSEDED) for m in memories if m.id in replaced]
    return kept, out


def rank(found: Sequence[Found], ask: Ask) -> tuple[list[Scored], list[LeftOut]]:
    """At most `ask.count` of `found`, best first, and why each of the others is not among them.

    Frozen memories, health and boundaries are exempt from the floor; health and boundaries come first. Equal scores:
    the one mentioned later, then the smaller id.
    """
    kept: list[Scored] = []
    out: list[LeftOut] = []
    for one in found:
        if one.relevance < ask.floor and not _exempt(one.memory):
            out.append(LeftOut(one.memory.id, one.memory.kind.value, Reason.BELOW_FLOOR))
        else:
            kept.append(Scored(one.memory, score(one, ask)))
    kept.sort(key=_order)
    out += [LeftOut(s.memory.id, s.memory.kind.value, Reason.BEYOND_COUNT) for s in kept[ask.count :]]
    return kept[: ask.count], out


def score(one: Found, ask: Ask) -> Parts:
    memory = one.memory
    return Parts(
        relevance=round(RELEVANCE * one.relevance, 6),
        scope=round(SCOPE * _closeness(memory, ask), 6),
        recency=round(RECENCY * (0.7 * recency(memory, ask.now) + 0.3 * _standing(memory)), 6),
        source=round(SOURCE * memory.confidence * _CREDIBILITY[memory.confirmation], 6),
    )


def _exempt(memory: Memory) -> bool:
    return memory.state is State.FROZEN or memory.kind in FIRST_KINDS


def _closeness(memory: Memory, ask: Ask) -> float:
    if ask.task and memory.task == ask.task:
        return 1.0
    return 0.8 if memory.session == ask.session else 0.6


def _standing(memory: Memory) -> float:
    return 1.0 if memory.state is State.FROZEN else 0.5


def _order(scored: Scored) -> tuple[bool, float, int, str]:
    memory = scored.memory
    return memory.kind not in FIRST_KINDS, -scored.parts.score, -memory.last_mentioned_at, memory.id
