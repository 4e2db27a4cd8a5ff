"""Hard filters before any score, and a score of named parts (A8, A14, §11.19)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.candidate import Confirmation, Kind
from tables.erasure import Mark, Reach
from tables.fields import asked_slots, is_asked
from tables.keys import Scope
from tables.memory import State, Status
from tables.ranking import Ask, Calibration, Found, rank, refusal, score
from tables.slots import SLOTS
from tables.trace import Reason
from tests.unit.recall_world import DAY, NOW, OTHER_USER, OWNER, memory

ASK = Ask(OWNER, "s1", "", NOW, NOW)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"status": Status.SUPERSEDED}, Reason.STATUS),
        ({"status": Status.DELETED}, Reason.MARKED),  # its words are gone
        ({"state": State.DRAFT}, Reason.DRAFT),
        ({"expires_at": NOW}, Reason.EXPIRED),
        ({"expires_at": NOW + 1}, None),
        ({"task": "x"}, Reason.OTHER_TASK),
        ({"status": Status.SUPERSEDED, "task": "x"}, Reason.STATUS),
    ],
)
def test_a_refusal_names_the_first_filter_that_refuses(fields: dict[str, Any], reason: Reason | None) -> None:
    assert refusal(memory("x", **fields), ASK, ()) is reason


@pytest.mark.parametrize("scope", [OTHER_USER, Scope("t2", "u1"), Scope("t1", ""), Scope("t1", "u1 ")])
def test_another_scope_is_foreign_however_alike(scope: Scope) -> None:
    assert refusal(memory("x", scope), ASK, ()) is Reason.FOREIGN


def test_a_memory_of_several_statements_is_hidden_by_any_of_them() -> None:
    one, two = memory("x"), memory("y", session="s9")
    both = memory("x", sources=one.sources + two.sources)
    marks = (Mark(Reach.SESSION, "s9", NOW, 0, NOW, confirmed=True),)
    assert refusal(both, ASK, marks) is Reason.MARKED
    assert refusal(one, ASK, marks) is None


def test_a_memory_without_sources_is_hidden_by_when_it_was_made() -> None:
    bare = memory("imported", sources=(), confirmation=Confirmation.IMPORTED)
    marks = (Mark(Reach.USER, "", NOW, 0, NOW, confirmed=True),)
    assert refusal(bare, ASK, marks) is Reason.MARKED


def test_legs_add_evidence_and_none_takes_any_away() -> None:
    alone = Found(memory("x"), dense=0.5)
    assert Found(memory("x"), dense=0.5, keyword=0.5).relevance == pytest.approx(0.75)
    assert Found(memory("x"), dense=0.5, field=0.6).relevance > alone.relevance
    assert Found(memory("x")).relevance == 0


def test_the_parts_stay_within_their_shares_and_add_up_to_at_most_one() -> None:
    best = memory(
        "x", state=State.FROZEN, task="t", confirmation=Confirmation.COMMANDED, confidence=1.0, last_mentioned_at=NOW
    )
    parts = score(Found(best, dense=1.0), Ask(OWNER, "s1", "t", NOW, NOW))
    assert (parts.relevance, parts.scope, parts.recency, parts.source) == (0.55, 0.15, 0.15, 0.15)
    assert parts.score == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"last_mentioned_at": NOW, "created_at": NOW}, {"last_mentioned_at": NOW - 300 * DAY}),
        ({"confidence": 0.95}, {"confidence": 0.5}),
        ({"confirmation": Confirmation.STATED}, {"confirmation": Confirmation.INFERRED}),
        ({"session": "s1"}, {"session": "s7"}),
        ({"state": State.FROZEN}, {}),
    ],
)
def test_at_equal_relevance_the_better_founded_comes_first(better: dict[str, Any], worse: dict[str, Any]) -> None:
    good, bad = memory("x", **better), memory("y", **worse)
    (first, _), _ = rank([Found(bad, 0.5), Found(good, 0.5)], ASK)
    assert first.memory.content == "x"


def test_the_floor_spares_frozen_health_and_boundaries() -> None:
    rows = [
        memory("plain"),
        memory("frozen", state=State.FROZEN),
        memory("health", kind=Kind.HEALTH),
        memory("boundary", kind=Kind.BOUNDARY),
    ]
    kept, out = rank([Found(row, 0.0) for row in rows], ASK)
    assert {s.memory.content for s in kept} == {"frozen", "health", "boundary"}
    assert [(o.id, o.reason) for o in out] == [(rows[0].id, Reason.BELOW_FLOOR)]


def test_the_count_spares_nobody_and_ties_are_settled_the_same_way_every_time() -> None:
    rows = [Found(memory(f"m{n}"), 0.5) for n in range(30)]
    kept, out = rank(rows, ASK)
    again, _ = rank(rows[::-1], ASK)
    assert [s.memory.id for s in kept] == [s.memory.id for s in again]
    assert (len(kept), len(out)) == (20, 10)
    assert {o.reason for o in out} == {Reason.BEYOND_COUNT}


def test_calibration_maps_the_band_of_the_embedder_onto_zero_to_one() -> None:
    e5 = Calibration()
    assert [e5.relevance(x) for x in (0.5, 0.70, 0.95, 1.0)] == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("query", "slot"),
    [
        ("what is my name?", "identity.name"),
        ("我叫什么", "identity.name"),
        ("我住在哪个城市", "identity.city"),
        ("晚饭吃什么好", "preference.diet"),
        ("draft the welcome mail", "preference.answer_language"),
        ("装修的预算还剩多少", "task.budget.装修"),
    ],
)
def test_a_question_that_asks_for_a_field_finds_its_slot(query: str, slot: str) -> None:
    assert is_asked(slot, asked_slots(query))


def test_every_slot_that_a_cue_names_exists() -> None:
    from tables.fields import _PATTERNS

    assert {slot for slots, _ in _PATTERNS for slot in slots} <= set(SLOTS)
    assert asked_slots("tell me a joke") == frozenset()
