"""Scenario files: what is read of them, and each complaint with its place."""

from __future__ import annotations

from typing import Any

import pytest

from tables.candidate import Sensitivity
from tables.expectation import Expectation, Want
from tables.policy import Sensitive
from tables.scenario import BadScenario, CommandStep, Group, ListStep, Order, RecallStep, Risk, TurnStep, WaitStep
from tables.scenario_read import parse_scenarios

AT = "2026-03-01T09:00:00+08:00"
AT_MS = 1_772_326_800_000
TURN: dict[str, Any] = {"turn": "user", "at": AT, "text": "hello"}


def scenario(*steps: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    base = {"id": "one", "group": "deletion", "tenant": "t", "user": "u", "session": "s", "steps": list(steps)}
    return [{name: value for name, value in {**base, **more}.items() if value is not ...}]


def step(fields: dict[str, Any], **more: Any) -> Any:
    (parsed,) = parse_scenarios(scenario(fields, **more), "f.yaml")
    return parsed.steps[0]


def complaint(data: object) -> str:
    with pytest.raises(BadScenario) as error:
        parse_scenarios(data, "f.yaml")
    return str(error.value)


def test_a_scenario_has_its_defaults() -> None:
    (parsed,) = parse_scenarios(scenario(TURN, lang="zh"), "f.yaml")
    assert (parsed.id, parsed.group, parsed.lang, parsed.risk) == ("one", Group.DELETION, "zh", Risk.NORMAL)


def test_a_turn_keeps_its_time_as_written() -> None:
    turn = step({**TURN, "id": "m1", "consent": False})
    assert isinstance(turn, TurnStep)
    assert (turn.moment.number, turn.moment.at, turn.moment.said_at, turn.moment.zone_minutes) == (1, AT_MS, AT, 480)
    assert (turn.role, turn.text, turn.id, turn.consent, turn.minor) == ("user", "hello", "m1", False, None)


def test_a_step_overrides_defaults_and_null_removes_one() -> None:
    turn = step({**TURN, "tenant": "t2", "session": "", "task": None, "topic": "cars"}, task="kitchen")
    place = turn.place
    assert (place.tenant, place.user, place.session, place.task, place.topic) == ("t2", "u", "", "", "cars")


def test_ids_are_taken_as_written() -> None:
    odd = 'a"*/中😀\x01'
    assert step({**TURN, "user": odd}).place.user == odd


def test_expectations_keep_their_order_and_an_empty_ask_is_one() -> None:
    recall = step(
        {"recall": "q", "at": AT, "ignore": ["x"], "use": ["a", "b"], "ask": [], "empty": True, "max_tokens": 9}
    )
    assert isinstance(recall, RecallStep)
    assert recall.expected == (
        Expectation(Want.IGNORE, "x"),
        Expectation(Want.USE, "a"),
        Expectation(Want.USE, "b"),
        Expectation(Want.ASK_NOTHING),
        Expectation(Want.EMPTY),
        Expectation(Want.MAX_TOKENS, number=9),
    )
    assert recall.max_tokens == 9


def test_a_recall_says_what_it_sends() -> None:
    recall = step({"recall": "q", "at": AT, "knowledge": ["k"], "strict": True, "as_of": AT})
    assert (recall.query, recall.knowledge, recall.strict, recall.as_of) == ("q", ("k",), True, AT)


def test_a_list_counts_and_matches() -> None:
    listed = step({"list": True, "at": AT, "drafts": True, "has": ["a"], "lacks": ["b"], "at_least": 1, "at_most": "2"})
    assert isinstance(listed, ListStep)
    assert listed.drafts
    assert [str(one) for one in listed.expected] == ["has: a", "lacks: b", "at_least: 1", "at_most: 2"]


def test_a_command_says_what_it_orders() -> None:
    command = step({"command": "consent", "at": AT, "allow": False, "kind": "health"})
    assert isinstance(command, CommandStep)
    assert (command.order, command.allow, command.of_kind) == (Order.CONSENT, False, "health")


@pytest.mark.parametrize(("text", "moved"), [("90s", 90_000), ("2h", 7_200_000), ("60d", 5_184_000_000), ("0m", 0)])
def test_a_wait_moves_on_from_the_last_time(text: str, moved: int) -> None:
    (parsed,) = parse_scenarios(scenario(TURN, {"wait": text}, {"wait": text}), "f.yaml")
    assert isinstance(parsed.steps[2], WaitStep)
    assert parsed.steps[2].moment.at == AT_MS + 2 * moved


def test_a_policy_sets_what_it_names() -> None:
    policy = {"items": 20, "session_gap": "1h", "total_weight": "50", "sensitive": {"health": "ask"}}
    (parsed,) = parse_scenarios(scenario(TURN, policy=policy), "f.yaml")
    held = parsed.policy
    assert (held.items, held.session_gap_ms, held.total_weight, held.window_messages) == (20, 3_600_000, 50, 20)
    assert held.sensitive[Sensitivity.HEALTH] is Sensitive.ASK
    assert held.sensitive[Sensitivity.CREDENTIAL] is Sensitive.REFUSE


RECALL = {"recall": "q", "at": AT}
DELETE = {"command": "delete", "at": AT}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "f.yaml: a list of scenarios is wanted"),
        (["x"], "f.yaml: scenario 1: a mapping is wanted"),
        ([{}], "f.yaml: scenario 1: id is missing"),
        ([*scenario(TURN), *scenario(TURN)], "f.yaml: one: there is another scenario of that id"),
        (scenario(TURN, group="x"), "f.yaml: one: group: 'x' is none of recent_reference"),
        (scenario(TURN, group=...), "f.yaml: one: group is missing"),
        (scenario(TURN, risk="low"), "f.yaml: one: risk: 'low' is none of normal, high"),
        (scenario(TURN, stpes=[]), "f.yaml: one: 'stpes' is no key here"),
        (scenario(), "f.yaml: one: steps: a list of steps is wanted"),
        (scenario(TURN, policy={"colour": 1}), "f.yaml: one, policy: 'colour' is no key here"),
        (scenario(TURN, policy={"items": 0}), "f.yaml: one, policy: items: a whole number above 0 is wanted"),
        (scenario(TURN, policy={"session_gap": "2 h"}), "f.yaml: one, policy: session_gap: a duration is wanted"),
        (scenario(TURN, policy={"sensitive": {"x": "ask"}}), "f.yaml: one, policy, sensitive: 'x' is no key here"),
        (scenario(TURN, policy={"sensitive": {"health": "x"}}), "f.yaml: one, policy, sensitive: health: 'x' is none"),
        (scenario(TURN, "x"), "f.yaml: one, step 2: a mapping is wanted"),  # type: ignore[arg-type]  # what is refused
        (scenario({"at": AT}), "f.yaml: one, step 1: exactly one of turn, recall, list, command, wait is wanted"),
        (scenario({**TURN, **RECALL}), "f.yaml: one, step 1: exactly one of"),
        (scenario({**TURN, "use": ["x"]}), "f.yaml: one, step 1: 'use' is no key here"),
        (scenario({**TURN, "turn": "robot"}), "f.yaml: one, step 1: turn: 'robot' is none of user, assistant"),
        (scenario({"turn": "user", "at": AT}), "f.yaml: one, step 1: text is missing"),
        (scenario({"turn": "user", "text": "x"}), "f.yaml: one, step 1: at is missing"),
        (scenario({**TURN, "at": "2026-03-01"}), "f.yaml: one, step 1: at: '2026-03-01' is no time with an offset"),
        (scenario({**TURN, "consent": "no"}), "f.yaml: one, step 1: consent: true or false is wanted"),
        (scenario({**TURN, "text": 3}), "f.yaml: one, step 1: text: a text is wanted"),
        (scenario(TURN, tenant=...), "f.yaml: one, step 1: tenant is missing"),
        (scenario({**TURN, "user": None}), "f.yaml: one, step 1: user is missing"),
        (scenario(TURN, session=...), "f.yaml: one, step 1: session is missing"),
        (scenario(RECALL, session=...), "f.yaml: one, step 1: session is missing"),
        (scenario({**RECALL, "use": "x"}), "f.yaml: one, step 1: use: a list of texts is wanted"),
        (scenario({**RECALL, "use": ["("]}), "f.yaml: one, step 1: use: '(' is no regular expression"),
        (scenario({**RECALL, "has": ["x"]}), "f.yaml: one, step 1: 'has' is no key here"),
        (scenario({**RECALL, "empty": False}), "f.yaml: one, step 1: empty: true is wanted"),
        (scenario({**RECALL, "max_tokens": -1}), "f.yaml: one, step 1: max_tokens: a whole number is wanted"),
        (scenario({**RECALL, "as_of": "then"}), "f.yaml: one, step 1: as_of: 'then' is no time"),
        (scenario({"list": False, "at": AT}), "f.yaml: one, step 1: list: true is wanted"),
        (scenario({"command": "erase", "at": AT}), "f.yaml: one, step 1: command: 'erase' is none of confirm"),
        (scenario(DELETE), "f.yaml: one, step 1: scope is missing"),
        (scenario({**DELETE, "scope": "context"}), "f.yaml: one, step 1: scope: 'context' is none of memory"),
        (scenario({**DELETE, "scope": "memory"}), "f.yaml: one, step 1: match is missing"),
        (scenario({**DELETE, "scope": "memory", "match": "["}), "f.yaml: one, step 1: match: '[' is no regular"),
        (scenario({**DELETE, "scope": "session"}, session=...), "f.yaml: one, step 1: session is missing"),
        (scenario({**DELETE, "scope": "task"}), "f.yaml: one, step 1: task is missing"),
        (scenario({"command": "reset", "at": AT, "scope": "user"}), "f.yaml: one, step 1: scope: 'user' is none of"),
        (scenario({"command": "close_task", "at": AT}), "f.yaml: one, step 1: task is missing"),
        (scenario({"command": "consent", "at": AT}), "f.yaml: one, step 1: allow is missing"),
        (scenario({"command": "correct", "at": AT, "match": "x"}), "f.yaml: one, step 1: text is missing"),
        (scenario({"command": "system_update", "at": AT}), "f.yaml: one, step 1: text is missing"),
        (scenario({"wait": "1d"}), "f.yaml: one, step 1: wait: there is no step before it"),
        (scenario(TURN, {"wait": "1 day"}), "f.yaml: one, step 2: wait: '1 day' is no duration"),
        (scenario(TURN, {"wait": "1d", "at": AT}), "f.yaml: one, step 2: 'at' is no key here"),
        (scenario(TURN, {"wait": "99999d"}), "f.yaml: one, step 2: wait: this ends after the last time"),
    ],
)
def test_each_complaint_says_where_and_what(data: object, says: str) -> None:
    assert complaint(data).startswith(says)
