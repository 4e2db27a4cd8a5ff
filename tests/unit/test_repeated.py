"""Which turns repeat what an erased memory said (FORMAT rule 12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Kind
from tables.enter import memory_from
from tables.memory import Memory, State
from tables.repeated import repeats, tells_of
from tables.text import normalised
from tests.unit.builders import candidate


def held(content: str, value: str = "") -> Memory:
    said = candidate(value or content, slot="health.condition", kind=Kind.HEALTH)
    return replace(memory_from(said, State.COMMITTED), content=content, value=value or normalised(content))


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("I'm on sertraline for depression, please keep that in mind", "Understood, you take Sertraline."),
        ("我有点抑郁症，在吃舍曲林", "收到，您在服用舍曲林，我会留意"),
        ("our flat is on the 14th floor, unit 1407B", "so 1407B it is"),
        ("三月去敦煌出差", "敦煌那边天气怎么样"),
    ],
)
def test_a_whole_statement_is_known_by_its_telling_words(content: str, turn: str) -> None:
    assert repeats(turn, tells_of(held(content)))


@pytest.mark.parametrize(
    ("content", "turn"),
    [
        ("I'm on sertraline for depression, please keep that in mind", "what's the weather doing tomorrow, please?"),
        ("我有点抑郁症，在吃舍曲林", "帮我看看明天的天气"),
        ("I always want an aisle seat when you book flights", "thanks, that is all for today"),
        ("我喜欢喝茶", "我喜欢你"),
    ],
)
def test_ordinary_words_tell_nothing(content: str, turn: str) -> None:
    assert not repeats(turn, tells_of(held(content)))


def test_a_value_that_a_rule_has_read_is_known_by_itself_alone() -> None:
    tells = tells_of(held("I'm terribly allergic to peanuts", "peanut"))
    assert repeats("no PEANUTS for you then", tells)
    assert not repeats("terribly sorry", tells)


def test_what_was_said_beside_the_value_tells_too() -> None:
    tells = tells_of(held("我有点抑郁症，在吃舍曲林", "抑郁症"))
    assert repeats("您在服用舍曲林", tells)


def test_short_values_stand_alone() -> None:
    tells = tells_of(held("I play go", "go"))
    assert repeats("a game of Go?", tells)
    assert not repeats("good going", tells)
