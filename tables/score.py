"""The score of a memory: what the bounded gate and the ranking weigh (H2, H3, H4). Numbers in, numbers out."""

from __future__ import annotations

from math import exp
from typing import Final, Protocol

from tables.candidate import Kind
from tables.policy import DAY_MS, KINDS

RECENCY_SHARE: Final = 0.4
IMPORTANCE_SHARE: Final = 0.3
KIND_SHARE: Final = 0.2
CONFIDENCE_SHARE: Final = 0.1
_COMMITMENT: Final = Kind.COMMITMENT  # looked up once: a book of 300 is scored at every eviction
_RATES: Final = {kind: (rule.tau_days * DAY_MS, KIND_SHARE * rule.factor) for kind, rule in KINDS.items()}


class Weighed(Protocol):
    """What a score is made of: a memory and its book entry both have it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def importance(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def last_mentioned_at(self) -> int: ...
    @property
    def expires_at(self) -> int: ...


def recency(item: Weighed, now: int) -> float:
    """R = exp(−Δt / (τ · (1 + importance))), 0..1, with τ by type (H4, design §4).

    Δt runs from the last mention by the user, never from a recall; for a commitment whose end is known, from that end
    ("until it ends"). A mention later than `now` counts as now. Of two items of one type and age the more important
    never has the lower R.
    """
    since = item.last_mentioned_at
    if item.kind is _COMMITMENT and item.expires_at > since:
        since = item.expires_at
    return exp((since - now) / (_RATES[item.kind][0] * (1.0 + item.importance))) if since < now else 1.0


def score(item: Weighed, now: int) -> float:
    """0.4·recency + 0.3·importance + 0.2·type weight + 0.1·confidence, 0..1 (H3).

    The type weight is the type's factor (identity 1.0 … passing 0.5, design §4).
    """
    kind, importance, since = item.kind, item.importance, item.last_mentioned_at
    tau, of_kind = _RATES[kind]
    if kind is _COMMITMENT and item.expires_at > since:
        since = item.expires_at
    # `recency`, written out: a full book is scored entry by entry for every newcomer, and a call each is a third of it
    recent = RECENCY_SHARE * exp((since - now) / (tau * (1.0 + importance))) if since < now else RECENCY_SHARE
    return recent + IMPORTANCE_SHARE * importance + of_kind + CONFIDENCE_SHARE * item.confidence


def weight(kind: Kind, tokens: int) -> float:
    """What an item takes of the total weight budget: tokens × the type's factor (H2).

    20 core memories of 100 tokens (factor 1.0) fill 2,000; 300 short ones of 11 tokens (factor 0.6) fit.
    """
    return tokens * KINDS[kind].factor
