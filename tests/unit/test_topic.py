"""Projects without task ids are told apart by their names, and by what a question asks of two alike (A6, A8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Kind
from tables.enter import memory_from
from tables.memory import Memory, State
from tables.session import WindowTurn
from tables.topic import apart, carried, mark, named
from tests.unit.builders import candidate


def fact(content: str, kind: Kind = Kind.TASK, topic: str = "") -> Memory:
    slot = {Kind.TASK: "task.need", Kind.FACT: "fact.note", Kind.PREFERENCE: "preference.habit"}.get(
        kind, "health.limit"
    )
    base = memory_from(candidate(content, slot=slot, kind=kind), State.COMMITTED)
    return replace(base, content=content, topic=topic)


def left_out(query: str, *memories: Memory, topic: str = "") -> list[str]:
    out = apart(memories, query, topic)
    return [one.content for one in memories if one.id in out]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("白鹭项目的接口文档月底交", {"白鹭"}),
        ("A项目上线时间定在3月20日", {"a"}),
        ("说说海豚项目", {"海豚"}),
        ("这个项目里缩进用tab", set()),
        ("For project Heron the docs are due", {"heron"}),
        ("the Dolphin rollout slipped", {"dolphin"}),
        ("for this project use tabs", set()),
        ("the project is late", set()),
        ("我喜欢喝茶", set()),
    ],
)
def test_a_project_is_known_by_its_name(text: str, names: set[str]) -> None:
    assert named(text) == names


def test_a_named_project_keeps_the_facts_of_others_out() -> None:
    heron, dolphin = fact("白鹭项目月底交，小唐负责"), fact("海豚项目周五交，阿杰负责")
    assert left_out("白鹭项目谁负责？", heron, dolphin) == [dolphin.content]
    assert left_out("白鹭项目和海豚项目谁先交？", heron, dolphin) == []
    assert left_out("哪天交？", heron, dolphin) == []


def test_what_was_said_under_a_topic_belongs_to_it() -> None:
    mine, other = fact("the docs are due on Friday", topic="Heron"), fact("the demo is on Monday", topic="Dolphin")
    assert left_out("when is it due?", mine, other, topic="heron") == [other.content]
    assert left_out("when are the docs for project Dolphin due?", mine, other) == [mine.content]


def test_of_two_alike_the_question_names_one() -> None:
    kitchen, garden = fact("the budget for the kitchen is 9,000"), fact("the budget for the garden is 2,500")
    assert left_out("what is left of the kitchen budget?", kitchen, garden) == [garden.content]
    assert left_out("what budgets do I have?", kitchen, garden) == []


def test_what_belongs_to_the_person_is_never_left_out() -> None:
    allergy = fact("项目再忙也不能吃花生", Kind.HEALTH, topic="dolphin")
    assert left_out("project Heron: order lunch", allergy, topic="Heron") == []


def test_likes_are_no_siblings() -> None:
    assert (
        left_out(
            "any green tea left?", fact("likes green tea", Kind.PREFERENCE), fact("likes red tea", Kind.PREFERENCE)
        )
        == []
    )


def said(content: str, role: str = "user") -> WindowTurn:
    return WindowTurn(content, "", role, content, 0, 1)


def test_a_topic_is_carried_on_from_the_user_s_last_turns() -> None:
    window = (said("project Dolphin is late"), said("project Heron goes first"), said("project Otter?", "assistant"))
    assert carried("the docs are due on Friday", window) == mark("heron")
    assert carried("project Otter needs docs", window) == "otter"
    assert carried("A项目 and B项目 are late", window) == ""
    assert carried("hello", ()) == ""
    assert carried("hello", (window[0], *[said("and then?")] * 6)) == ""


def test_what_was_carried_on_is_known_again_without_its_name() -> None:
    window = (said("project Heron goes first"),)
    topic = carried("the docs are due on Friday", window)
    assert "heron" not in topic
    mine, other = fact("the docs are due on Friday", topic=topic), fact("the demo is on Monday", topic=mark("dolphin"))
    assert left_out("what is due for project Heron?", mine, other) == [other.content]
