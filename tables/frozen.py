"""The frozen gate: when a conclusion is sure enough to be kept from change, and what is kept from it (H6–H8, H17)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod
from typing import Final

from tables.candidate import SELF, Confirmation, Kind
from tables.memory import Freeze, Memory, Source, State
from tables.policy import KINDS, Policy
from tables.slots import SLOTS

DRAFT_BELOW: Final = 0.5  # H8: default confidence; a guess or a hedge lies below
SESSION_CONFIDENCE: Final = 0.5  # design §11.14: a session counts only if its own statement has at least this
EXPLICIT_CONFIDENCE: Final = 0.8  # design §11.14: at least one statement must be explicit and this sure
SESSIONS_TO_COMMIT: Final = 2  # a draft said again in a second session is no accident
SESSIONS_TO_FREEZE: Final = 2


def is_protected(kind: Kind, slot: str, subject: str) -> bool:
    """H17: the user's own health, name, contact and address are never evicted."""
    if subject != SELF:
        return False
    known = SLOTS.get(".".join(slot.split(".", 2)[:2]))
    return kind is Kind.HEALTH or (known is not None and known.protected)


def is_locked(memory: Memory, at: int) -> bool:
    """Whether a contradiction said at `at` asks instead of changing: frozen (H7), or protected and stated (H17).

    A commitment is frozen until it ends (H6).
    """
    if memory.state is State.FROZEN:
        return not (memory.kind is Kind.COMMITMENT and 0 < memory.expires_at <= at)
    if memory.state is State.DRAFT or not is_protected(memory.kind, memory.slot, memory.subject):
        return False
    return memory.confirmation is Confirmation.COMMANDED or any(source.explicit for source in memory.sources)


def is_hedged(confidence: float, confirmation: Confirmation) -> bool:
    """Whether one statement alone makes a draft: unsure, or inferred from behaviour (H8, H20, A5)."""
    return confidence < DRAFT_BELOW or confirmation is Confirmation.INFERRED


def joined_confidence(sources: Iterable[Source]) -> float:
    """1 − Π(1 − c) over independent sessions, c = the surest statement of each (design §11.14).

    Sources without a session (commands, business records) stand for themselves. The order of sources is without effect.
    """
    surest: dict[str, float] = {}
    for source in sources:
        key = f"session {source.session}" if source.session else f"turn {source.turn}"
        surest[key] = max(surest.get(key, 0.0), source.confidence)
    return 1.0 - prod(1.0 - c for c in sorted(surest.values()))


def sessions(sources: Iterable[Source]) -> frozenset[str]:
    """The independent sessions of a conclusion: they have different session ids."""
    return frozenset(source.session for source in sources if source.session)


def counting(sources: Iterable[Source]) -> tuple[Source, ...]:
    """The sources that count for freezing: said in a session, and sure enough by themselves."""
    return tuple(s for s in sources if s.session and s.confidence >= SESSION_CONFIDENCE)


def settled(memory: Memory, policy: Policy, *, share_free: bool) -> Memory:
    """`memory` with the state and freeze that its evidence allows (H6, H7, H8); nothing ever unfreezes here.

    committed → frozen when the kind freezes, two sessions count, one statement is explicit, the joined confidence of
    what counts reaches `policy.freeze_confidence`, and, where the kind asks for it, its present value was reviewed.
    `share_free`: whether freezing it stays within `policy.protected_share`; otherwise it waits as pending.
    """
    if memory.state is State.FROZEN:
        return memory if memory.freeze is Freeze.NONE else replace(memory, freeze=Freeze.NONE)
    freeze = waits_for(memory, policy)
    if freeze is None and share_free:
        return replace(memory, state=State.FROZEN, freeze=Freeze.NONE)
    freeze = Freeze.PENDING if freeze is None else freeze
    return memory if memory.freeze is freeze else replace(memory, freeze=freeze)


def waits_for(memory: Memory, policy: Policy) -> Freeze | None:
    """What keeps `memory` from freezing; None = nothing but the room for it."""
    rule = KINDS[memory.kind]
    if not rule.freezes or memory.state is State.DRAFT:
        return Freeze.NONE
    proof = counting(memory.sources)
    explicit = any(s.explicit and s.confidence >= EXPLICIT_CONFIDENCE for s in proof)
    if not explicit or joined_confidence(proof) < policy.freeze_confidence:
        return Freeze.NONE
    if len(sessions(proof)) < SESSIONS_TO_FREEZE:
        return Freeze.PENDING
    reviewed = memory.review is not None and memory.review.value == memory.value
    return None if reviewed or not rule.needs_review else Freeze.AWAITING_REVIEW
