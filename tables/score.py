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
    if item.kind is Kind.COMMITMENT and item.expires_at > since:
        since = item.expires_at
    elapsed = now - since
    if elapsed <= 0:
        return 1.0
    return exp(-elapsed / (KINDS[item.kind].tau_days * DAY_MS * (1.0 + item.importance)))


def score(item: Weighed, now: int) -> float:
    """0.4·recency + 0.3·importance + 0.2·type weight + 0.1·confidence, 0..1 (H3).

    The type weight is the type's factor (identity 1.0 … passing 0.5, design §4).
    """
    return (
        RECENCY_SHARE * recency(item, now)
        + IMPORTANCE_SHARE * item.importance
        + KIND_SHARE * KINDS[item.kind].factor
        + CONFIDENCE_SHARE * item.confidence
    )


def weight(kind: Kind, tokens: int) -> float:
    """What an item takes of the total weight budget: tokens × the type's factor (H2).

    20 core memories of 100 tokens (factor 1.0) fill 2,000; 300 short ones of 11 tokens (factor 0.6) fit.
    """
    return tokens * KINDS[kind].factor
