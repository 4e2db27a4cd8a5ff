"""The score of a memory: H2, H3, H4."""

from __future__ import annotations

from math import exp

import pytest

from tables.candidate import Kind
from tables.policy import DAY_MS, KINDS
from tables.score import recency, score, weight
from tests.unit.builders import T0, entry, later


def test_what_was_just_mentioned_is_wholly_recent() -> None:
    assert recency(entry(), T0) == 1.0


def test_a_mention_after_now_counts_as_now() -> None:
    assert recency(entry(last_mentioned_at=later(3)), T0) == 1.0


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.COMMITMENT])
def test_after_tau_an_item_without_importance_has_decayed_to_1_over_e(kind: Kind) -> None:
    item = entry(kind=kind, importance=0.0)
    assert recency(item, later(KINDS[kind].tau_days)) == pytest.approx(exp(-1))


def test_importance_stretches_tau() -> None:
    # τ · (1 + 1.0): after one τ of 365 d the exponent is −1/2
    assert recency(entry(importance=1.0), later(365)) == pytest.approx(exp(-0.5))


def test_a_commitment_does_not_decay_before_its_end() -> None:
    item = entry(kind=Kind.COMMITMENT, expires_at=later(100))
    assert recency(item, later(100)) == 1.0


def test_a_commitment_without_an_end_decays_from_its_mention() -> None:
    item = entry(kind=Kind.COMMITMENT, importance=0.0)
    assert recency(item, later(180)) == pytest.approx(exp(-1))


def test_a_plan_fades_from_its_mention_even_before_its_end() -> None:
    item = entry(kind=Kind.PLAN, importance=0.0, expires_at=later(30))
    assert recency(item, later(7)) == pytest.approx(exp(-1))


@pytest.mark.parametrize(
    ("kind", "days", "importance", "confidence", "expected"),
    [
        (Kind.IDENTITY, 0, 1.0, 1.0, 1.0),  # 0.4·1 + 0.3·1 + 0.2·1 + 0.1·1
        (Kind.PREFERENCE, 0, 0.5, 0.9, 0.8),  # 0.4 + 0.15 + 0.2·0.8 + 0.09
        (Kind.PLAN, 0, 0.0, 0.4, 0.54),  # 0.4 + 0 + 0.2·0.5 + 0.04
        (Kind.IDENTITY, 365 * 40, 0.0, 0.0, 0.2),  # recency gone, type weight left
    ],
)
def test_the_score_is_the_weighted_sum(
    kind: Kind, days: int, importance: float, confidence: float, expected: float
) -> None:
    item = entry(kind=kind, importance=importance, confidence=confidence)
    assert score(item, later(days)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("days", [0, 3, 45, 400])
def test_the_score_holds_the_recency_that_is_published(kind: Kind, days: int) -> None:
    item = entry(kind=kind, importance=0.3, confidence=0.7, expires_at=later(2))
    rest = 0.3 * 0.3 + 0.2 * KINDS[kind].factor + 0.1 * 0.7
    assert score(item, later(days)) == pytest.approx(0.4 * recency(item, later(days)) + rest)


def test_20_core_memories_of_100_tokens_fill_the_weight_budget() -> None:
    assert 20 * weight(Kind.HEALTH, 100) == 2000


def test_300_short_facts_fit_the_weight_budget() -> None:
    assert 300 * weight(Kind.FACT, 11) <= 2000


def test_identity_weighs_more_than_preference_and_that_more_than_what_passes() -> None:
    scores = [score(entry(kind=kind), T0) for kind in (Kind.IDENTITY, Kind.PREFERENCE, Kind.PLAN)]
    assert scores == sorted(scores, reverse=True)


def test_times_are_milliseconds() -> None:
    assert recency(entry(importance=0.0), T0 + DAY_MS) == pytest.approx(exp(-1 / 365))
