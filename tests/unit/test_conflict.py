"""Dimensions and what cannot be true together. H5, A10, H9."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Candidate, Kind, Polarity
from tables.conflict import ask, conclusion, dimension, is_older, question_id, standing
from tables.memory import Memory, State, Status
from tables.question import QuestionKind
from tests.unit.builders import T0, candidate, later, memory, world

NO = Polarity.NEGATIVE
LIKES = "preference.likes"


def rivals(fact: Candidate, *held: Memory) -> list[str]:
    place = standing(fact, world(held).book.entries, fact.at)
    return sorted(entry.id for entry in place.rivals)


def test_another_value_of_a_single_slot_is_a_rival() -> None:
    old = memory("paris")
    assert rivals(candidate("rome", at=later(1)), old) == [old.id]


def test_another_value_of_a_slot_of_many_is_none() -> None:
    assert rivals(candidate("tea", slot=LIKES), memory("milk", slot=LIKES)) == []


def test_the_denial_of_a_value_is_its_rival_on_a_slot_of_many() -> None:
    old = memory("tea", slot=LIKES)
    assert rivals(candidate("tea", slot=LIKES, polarity=NO, at=later(1)), old) == [old.id]


def test_the_denial_of_the_held_value_is_its_rival_on_a_single_slot() -> None:
    old = memory("paris")
    assert rivals(candidate("paris", polarity=NO, at=later(1)), old) == [old.id]


def test_the_affirmation_of_a_denied_value_is_its_rival_on_a_single_slot() -> None:
    old = memory("paris", polarity=NO)
    assert rivals(candidate("paris", at=later(1)), old) == [old.id]


def test_the_denial_of_another_value_leaves_the_held_one_alone() -> None:
    """ "From now on American English, not British": the second half must not retire the first."""
    assert rivals(candidate("british", polarity=NO, at=later(1)), memory("american")) == []


def test_two_denials_of_a_single_slot_stand_side_by_side() -> None:
    assert rivals(candidate("rome", polarity=NO), memory("paris", polarity=NO)) == []


def test_negation_never_equals_its_opposite() -> None:
    assert conclusion(candidate("paris")) != conclusion(candidate("paris", polarity=NO))


def test_another_subject_is_another_dimension() -> None:
    assert dimension(candidate("paris")) != dimension(candidate("paris", subject="my brother"))


def test_another_slot_is_another_dimension() -> None:
    assert dimension(candidate("paris")) != dimension(candidate("paris", slot="identity.origin"))


def test_a_fact_of_one_task_is_another_dimension_than_that_of_another() -> None:
    fact = candidate("9000", kind=Kind.TASK, slot="task.budget", task="kitchen")
    assert dimension(fact) != dimension(replace(fact, task="garden"))


@pytest.mark.parametrize("kind", [Kind.IDENTITY, Kind.HEALTH, Kind.BOUNDARY, Kind.VALUE])
def test_what_belongs_to_the_user_is_of_no_task(kind: Kind) -> None:
    fact = candidate("x", kind=kind)
    assert dimension(replace(fact, task="kitchen")) == dimension(fact)


def test_a_preference_marked_for_a_task_stays_in_it() -> None:
    fact = candidate("tabs", kind=Kind.PREFERENCE, slot=LIKES)
    assert dimension(replace(fact, task="kitchen")) != dimension(fact)


def test_a_memory_lies_where_its_candidate_lay() -> None:
    fact = candidate("9000", kind=Kind.TASK, slot="task.budget", task="kitchen")
    kept = memory("9000", kind=Kind.TASK, slot="task.budget", task="kitchen")
    assert (dimension(kept), conclusion(kept)) == (dimension(fact), conclusion(fact))


def test_an_equal_conclusion_is_the_same() -> None:
    held = memory("paris")
    place = standing(candidate("paris", session="s2"), world([held]).book.entries, T0)
    assert place.same is not None
    assert place.same.id == held.id


def test_a_committed_memory_is_the_same_before_a_draft() -> None:
    draft = memory("paris", session="s0", state=State.DRAFT)
    held = memory("paris")
    place = standing(candidate("paris", session="s2"), world([draft, held]).book.entries, T0)
    assert place.same is not None
    assert place.same.id == held.id


def test_history_is_kin_but_never_current() -> None:
    held = memory("paris", status=Status.SUPERSEDED)
    place = standing(candidate("paris", session="s2"), world([held]).book.entries, T0)
    assert (place.same, [entry.id for entry in place.kin]) == (None, [held.id])


def test_what_has_ended_is_no_longer_current() -> None:
    held = memory("oslo", expires_at=later(5))
    place = standing(candidate("rome"), world([held]).book.entries, later(5))
    assert (place.rivals, [entry.id for entry in place.lapsed]) == ((), [held.id])


@pytest.mark.parametrize(
    ("at", "older"),
    [(later(-1), True), (T0, False), (later(1), False)],
)
def test_a_statement_before_the_last_mention_is_older(at: int, older: bool) -> None:
    assert is_older(candidate("rome", at=at, turn_id="other"), memory("paris")) is older


def test_a_later_mention_makes_the_held_one_newer() -> None:
    assert is_older(candidate("rome", at=later(1)), memory("paris", last_mentioned_at=later(2)))


def test_inside_one_turn_the_later_clause_is_the_newer() -> None:
    held = replace(memory("paris"), span=(10, 15), sources=memory("paris").sources)
    same_turn = replace(candidate("rome"), turn=held.sources[0].turn, span=(0, 4))
    assert is_older(same_turn, held)


def test_of_one_turn_and_span_the_greater_id_is_the_newer() -> None:
    held = memory("paris")
    same_turn = replace(candidate("rome"), turn=held.sources[0].turn, span=held.span)
    assert is_older(replace(same_turn, id="0"), held)
    assert not is_older(replace(same_turn, id="g"), held)


def test_the_same_contradiction_is_the_same_question() -> None:
    held = memory("paris")
    assert question_id(held, candidate("rome")) == question_id(held, candidate("rome", session="s9", at=later(9)))


def test_the_same_contradiction_of_another_memory_is_another_question() -> None:
    assert question_id(memory("paris"), candidate("rome")) != question_id(memory("oslo"), candidate("rome"))


def test_another_contradiction_is_another_question() -> None:
    held = memory("paris")
    assert question_id(held, candidate("rome")) != question_id(held, candidate("oslo"))


@pytest.mark.parametrize("lang", ["zh", "zh-Hant"])
@pytest.mark.parametrize("kind", list(QuestionKind))
def test_a_chinese_memory_is_asked_about_in_chinese(kind: QuestionKind, lang: str) -> None:
    held = memory("芒果过敏", lang=lang, content="我对芒果过敏")
    text = ask(kind, held, candidate("mango", content="我能吃芒果了"), T0).text
    assert "我对芒果过敏" in text
    assert "我能吃芒果了" in text
    assert any(c in text for c in "吗？")


@pytest.mark.parametrize("kind", list(QuestionKind))
def test_other_languages_are_asked_in_english(kind: QuestionKind) -> None:
    text = ask(kind, memory("paris", content="I live in Paris"), candidate("rome", content="I live in Rome"), T0).text
    assert text.isascii() or text.replace("“", "").replace("”", "").isascii()
    assert "I live in Paris" in text


def test_braces_in_what_was_said_stay_as_they_are() -> None:
    text = ask(QuestionKind.CONTRADICTION, memory(content="{said} {0}"), candidate("rome", content="{held}"), T0).text
    assert "{said} {0}" in text
    assert "{held}" in text


def test_without_a_new_value_the_question_is_whether_the_old_one_is_wrong() -> None:
    text = ask(QuestionKind.SUSPECTED, memory(content="I live in Paris"), candidate("paris", content=""), T0).text
    assert text == "You say this is wrong: “I live in Paris”. Should I drop it?"
