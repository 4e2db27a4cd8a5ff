"""Subjects that a session is to be silent about (H10, H18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Kind
from tables.enter import memory_from
from tables.memory import Memory, State
from tables.quiet import is_about, subjects
from tables.session import Wish
from tests.unit.builders import candidate


def held(content: str) -> Memory:
    said = candidate(content, slot="commitment.promise", kind=Kind.COMMITMENT)
    return replace(memory_from(said, State.COMMITTED), content=content)


def silent(wish: str, content: str) -> bool:
    return any(is_about(held(content), one) for one in subjects([Wish("", wish, "t", 0)]))


@pytest.mark.parametrize(
    ("wish", "content"),
    [
        ("今天先不要提考试", "我6月20号要考研复试"),
        ("这次别跟我聊工作的事", "我工作上的项目月底交"),
        ("Please don't mention the exam today", "My anatomy exam is on June 20"),
        ("let's not talk about my ex tonight, ok?", "broke up with my ex in May"),
        ("no, don't bring up exams for now", "the exam is on Friday"),
    ],
)
def test_what_it_names_is_kept_down(wish: str, content: str) -> None:
    assert silent(wish, content)


@pytest.mark.parametrize(
    ("wish", "content"),
    [
        ("今天先不要提考试", "我对花生过敏"),
        ("今天先别提了", "我6月20号要考研复试"),
        ("Please don't mention the exam today", "My dog is called Biscuit"),
        ("answer briefly this time", "the exam is on Friday"),
        ("don't mention it", "the exam is on Friday, mention it"),
    ],
)
def test_nothing_else_is(wish: str, content: str) -> None:
    assert not silent(wish, content)
