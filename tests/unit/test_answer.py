"""A bare answer gives its value to the slot that the question before it asked for."""

from __future__ import annotations

import pytest

from connectors.model.extractive import Extractive
from streams.collect_work import judged
from tables.answer import answered, question_before
from tables.candidate import Kind
from tables.policy import Policy
from tables.session import Session, WindowTurn, fold
from tables.sieve import Sieve
from tests.extraction.data import said
from tests.unit.step_world import Machine

STOPS_ALL = Sieve({}, 0.0, {"en": 1.0, "zh": 1.0})


@pytest.mark.parametrize(
    ("question", "answer", "slot", "value"),
    [
        ("Which city are you in?", "Leeds", "identity.city", "leeds"),
        ("您现在住在哪个城市？", "成都", "identity.city", "成都"),
        ("你对什么过敏吗？", "花生过敏", "health.allergy", "花生"),
        ("Any allergies I should know about?", "shellfish, please", "health.allergy", "shellfish"),
        ("What should I call you?", "just Sam", "identity.name", "sam"),
        ("怎么称呼您？", "叫我小满吧", "identity.name", "小满"),
        ("Aisle or window?", "the window", "preference.seat", "window"),
        ("What do you do for a living?", "I'm a welder", "identity.occupation", "welder"),
    ],
)
def test_the_answer_is_the_value_and_the_content(question: str, answer: str, slot: str, value: str) -> None:
    found = answered(said(answer, asked=question))
    assert found is not None
    assert (found.slot, found.value, found.content) == (slot, value, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which city are you in?", "why do you ask?"),
        ("Which city are you in?", "no"),
        ("您现在住在哪个城市？", "不告诉你"),
        ("Any allergies?", "none"),
        ("Any allergies?", "show me the menu first"),
        ("What should I cook?", "Leeds"),
        ("", "Leeds"),
        (
            "Which city are you in?",
            "well that is a long story and it begins with a train that never came to the station at all",
        ),
    ],
)
def test_no_answer_no_fact(question: str, answer: str) -> None:
    assert answered(said(answer, asked=question)) is None


def window(*turns: tuple[str, str]) -> tuple[WindowTurn, ...]:
    return tuple(WindowTurn(str(n), "", role, content, n, 1) for n, (role, content) in enumerate(turns))


def test_only_the_assistant_s_question_right_before_counts() -> None:
    asked = ("assistant", "Sure. Which city are you in?")
    assert question_before(window(asked, ("user", "Leeds"))) == asked[1]
    assert question_before(window(asked, ("user", "hm"), ("user", "Leeds"))) == ""
    assert question_before(window(("user", "Which city are you in?"), ("user", "Leeds"))) == ""
    assert question_before(window(("assistant", "Nice!"), ("user", "Leeds"))) == ""
    assert question_before(window(("user", "Leeds"))) == ""


def test_an_answer_passes_the_sieve_and_takes_its_question_along() -> None:
    turn = said("Leeds")
    session = fold(
        Session(window=window(("assistant", "Which city are you in?"))), turn, 1, Policy(session_gap_ms=10**15)
    )
    passed, _, drop = judged(turn, session, Policy(), STOPS_ALL)
    assert (passed.asked, drop) == ("Which city are you in?", None)


async def test_what_a_rule_reads_needs_no_question() -> None:
    ((one,),) = await Extractive().extract([(said("I love jazz", asked="Which city are you in?"), Policy())])  # type: ignore[misc]
    assert one.slot == "preference.likes"


async def test_an_answer_becomes_a_memory() -> None:
    m = Machine()
    await m.run(m.turn("Which city are you based in?", "t0", role="assistant"), m.turn("Leeds", "t1"))
    assert m.contents() == ["Leeds"]


async def test_an_authoritative_kind_is_the_tenant_s_choice() -> None:
    text = said("记一下，我的工单处理完了")
    assert await Extractive().extract([(text, Policy(authoritative=("ticket_status",)))]) == [()]
    ((one,),) = await Extractive().extract([(text, Policy(authoritative=()))])  # type: ignore[misc]
    assert one.kind is Kind.FACT
