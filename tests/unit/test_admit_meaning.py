"""What no slot compares is compared by meaning: repetitions merge, updates replace, a conflict stands beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tables.admit import Relate, admit
from tables.book import Book
from tables.candidate import Candidate, Kind, Polarity
from tables.change import Rule
from tables.memory import Memory, State, Status
from tables.question import QuestionKind
from tables.relation import Related
from tables.world import Step, World
from tests.unit.builders import POLICY, SCOPE, T0, candidate, later, position


def said(words: str, session: str = "s1", at: int = T0, **fields: object) -> Candidate:
    """A statement that no rule has read: its value is all of its words."""
    base = candidate(words, slot="preference.habit", kind=Kind.PREFERENCE, session=session, at=at, explicit=False)
    return replace(base, content=words, **fields)  # type: ignore[arg-type]  # fields of Candidate


def story(relation: Related, *candidates: Candidate) -> Step:
    """The last step when every statement stands so to every memory that it is compared with."""

    def relate(_: Candidate, memories: Sequence[Memory]) -> Mapping[str, Related]:
        return {memory.id: relation for memory in memories}

    return told(relate, *candidates)


def told(relate: Relate, *candidates: Candidate) -> Step:
    step = Step(World(SCOPE, Book()), Rule.NEW)
    for number, one in enumerate(candidates):
        step = admit(one, step.world, POLICY, position(number), (), relate)
    return step


RUNS = said("runs before work")
RAN = said("a run first thing, like always", "s2", later(1))


def test_a_repetition_is_merged_and_keeps_the_first_words() -> None:
    step = story(Related.SAME, RUNS, RAN)
    (row,) = step.memories.values()
    assert (row.content, row.version, len(row.sources)) == (RUNS.content, 2, 2)
    assert step.verdict is Rule.DUPLICATE


def test_an_update_replaces_and_the_old_words_are_history() -> None:
    step = story(Related.UPDATE, RUNS, RAN)
    assert step.verdict is Rule.REPLACES
    assert {row.content: row.status for row in step.memories.values()} == {
        RUNS.content: Status.SUPERSEDED,
        RAN.content: Status.ACTIVE,
    }


@pytest.mark.parametrize("relation", [Related.CONFLICT, Related.OTHER])
def test_anything_else_stands_beside(relation: Related) -> None:
    step = story(relation, RUNS, RAN)
    assert (step.verdict, list(step.memories)) == (Rule.NEW, [RAN.id])


def test_a_denial_is_never_merged_into_what_it_denies() -> None:
    denied = replace(RAN, polarity=Polarity.NEGATIVE)
    assert story(Related.SAME, RUNS, denied).verdict is Rule.NEW


def test_an_update_of_a_protected_memory_asks_and_changes_nothing() -> None:
    asthma = replace(
        candidate("has asthma", slot="health.condition", kind=Kind.HEALTH, turn_id="t1"), content="has asthma"
    )
    gone = replace(
        candidate("asthma is gone", slot="health.condition", kind=Kind.HEALTH, session="s2", at=later(1)),
        content="asthma is gone",
    )
    step = story(Related.UPDATE, asthma, gone)
    assert step.verdict is Rule.QUESTION
    assert step.memories == {}


def test_a_conflict_with_what_is_locked_is_asked_about_and_nothing_changes() -> None:
    never = replace(candidate("spicy food", slot="health.allergy", kind=Kind.HEALTH), content="I can't eat spicy food")
    loves = said("sichuan food is what i order", "s2", later(1))
    step = story(Related.CONFLICT, never, loves)
    assert (step.verdict, step.memories) == (Rule.QUESTION, {})
    assert [question.kind for question in step.questions] == [QuestionKind.SUSPECTED]


def test_what_was_said_before_the_memory_does_not_replace_it() -> None:
    step = story(Related.UPDATE, RAN, RUNS)
    assert step.verdict is Rule.HISTORY
    assert step.world.memories[RAN.id].status is Status.ACTIVE


def test_the_same_statement_again_changes_nothing() -> None:
    assert story(Related.SAME, RUNS, RAN, RAN).verdict is Rule.REPEATED


def test_a_guess_replaces_nothing() -> None:
    guess = replace(RAN, confidence=0.4)
    step = story(Related.UPDATE, RUNS, guess)
    assert step.world.memories[guess.id].state is State.DRAFT
    assert step.world.memories[RUNS.id].status is Status.ACTIVE


def test_values_that_rules_have_read_are_not_compared_by_meaning() -> None:
    def never(_: Candidate, memories: Sequence[Memory]) -> Mapping[str, Related]:
        raise AssertionError("asked")

    jazz = candidate("jazz", slot="preference.likes", kind=Kind.PREFERENCE)
    blues = candidate("blues", slot="preference.likes", kind=Kind.PREFERENCE, session="s2", at=later(1))
    assert told(never, jazz, blues).verdict is Rule.NEW


def test_another_task_or_another_subject_is_not_compared() -> None:
    def never(_: Candidate, memories: Sequence[Memory]) -> Mapping[str, Related]:
        raise AssertionError("asked")

    need = replace(said("the launch is on the 20th", kind=Kind.TASK), task="a")
    other = replace(said("launch slipped to May", "s2", later(1), kind=Kind.TASK), task="b")
    assert told(never, need, other).verdict is Rule.NEW
    assert told(never, RUNS, replace(RAN, subject="my son")).verdict is Rule.NEW


def likes(words: str, session: str = "s1", at: int = T0) -> Candidate:
    said_so = candidate(words, slot="preference.likes", kind=Kind.PREFERENCE, session=session, at=at)
    return replace(said_so, content=words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("我特爱吃辣，无辣不欢", "最近胃不舒服，往后菜都给我做清淡的，辣的不吃了"),
        ("I like my drinks sweet, full sugar every time", "from now on only unsweetened drinks for me"),
        ("I take my coffee in a large cup", "from now on I want my coffee small"),
        ("I like my reports as bullet points", "write my reports as flowing prose from now on"),
        ("我习惯用电子发票", "以后发票都改成纸质的"),
    ],
)
def test_a_preference_of_one_respect_of_a_thing_takes_the_earlier_one_s_place(before: str, after: str) -> None:
    step = story(Related.OTHER, likes(before), likes(after, "s2", later(1)))
    assert step.verdict is Rule.REPLACES


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I take my coffee with oat milk", "from now on I want my coffee small"),
        ("奶茶我喝全糖", "以后咖啡都少糖"),
        ("I like my reports as bullet points", "slides in dark mode from now on"),
        ("I like spicy food", "I like mild weather"),
    ],
)
def test_another_respect_or_another_thing_stands_beside(before: str, after: str) -> None:
    assert story(Related.OTHER, likes(before), likes(after, "s2", later(1))).verdict is Rule.NEW
