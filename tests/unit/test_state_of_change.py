"""An instruction against a frozen preference holds in its own session while it is asked about (FORMAT rule 5)."""

from __future__ import annotations

from dataclasses import replace

from tables.candidate import Kind
from tables.conflict import ask
from tables.context import is_change_in, item_of_change
from tables.enter import memory_from
from tables.memory import State
from tables.question import Question, QuestionKind
from tests.unit.builders import T0, candidate

HELD = memory_from(candidate("text", slot="preference.channel", kind=Kind.PREFERENCE), State.FROZEN)
SAID = replace(candidate("voice", slot="preference.channel", kind=Kind.PREFERENCE, session="s3"), content="use voice")


def asked(kind: QuestionKind) -> Question:
    return ask(kind, HELD, SAID, T0)


def test_it_is_state_of_the_session_that_gave_it() -> None:
    question = asked(QuestionKind.PREFERENCE_CHANGE)
    assert is_change_in(question, "s3")
    assert not is_change_in(question, "s1")
    assert (item_of_change(question).content, item_of_change(question).origin) == ("use voice", "session")


def test_a_contradiction_of_anything_else_is_no_instruction() -> None:
    assert not is_change_in(asked(QuestionKind.CONTRADICTION), "s3")
    assert not is_change_in(asked(QuestionKind.SUSPECTED), "s3")
