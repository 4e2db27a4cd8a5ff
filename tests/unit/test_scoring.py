"""Scores of played scenarios, each counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tables.expectation import Check
from tables.scenario import ListStep, RecallStep
from tables.scenario_read import parse_scenarios
from tables.scoring import Played, Result, by_group, high_risk, percentile, scores


def at(minute: int) -> str:
    return f"2026-03-01T09:{minute:02}:00Z"


def turn(text: str, **more: Any) -> dict[str, Any]:
    return {"turn": "user", "text": text, **more}


def recall(**more: Any) -> dict[str, Any]:
    return {"recall": "q", **more}


def played(
    *steps: dict[str, Any], broken: str = "", group: str = "deletion", risk: str = "normal", **more: Any
) -> Result:
    """A scenario played so that exactly the expectations named in `broken` (by their text) did not hold."""
    timed = [{"at": at(n), **step} for n, step in enumerate(steps)]
    base = {"id": "x", "group": group, "risk": risk, "tenant": "t", "user": "u", "session": "s", "steps": timed}
    (scenario,) = parse_scenarios([base], "f")
    found = tuple(
        Played(step, tuple(Check(one, str(one) not in broken.split(", ")) for one in step.expected), **more)
        for step in scenario.steps
        if isinstance(step, RecallStep | ListStep)
    )
    return Result(scenario, found)


def test_recall_counts_every_use_type_expectation() -> None:
    """use, window, has and at_least: 3 of 4 hold; ask and ignore are not of that type."""
    result = played(
        recall(use=["a"], window=["b"], ignore=["c"], ask=["d"]),
        {"list": True, "has": ["e"], "at_least": 1},
        broken="window: b, ask: d, ignore: c",
    )
    assert scores([result]).recall == 0.75


def test_precision_counts_ignore_and_lacks() -> None:
    """ignore a, ignore b, lacks c: one of three is violated."""
    result = played(recall(ignore=["a", "b"]), {"list": True, "lacks": ["c"]}, broken="lacks: c")
    assert scores([result]).precision == pytest.approx(2 / 3)


def test_a_scenario_passes_when_everything_holds() -> None:
    results = [played(recall(use=["a"])), played(recall(use=["a"]), broken="use: a"), played(turn("x"))]
    assert (scores(results).passed, scores(results).total) == (2, 3)


def test_returned_precision_is_over_all_recalls_together() -> None:
    """1 of 4 and 2 of 2 items: 3 of 6."""
    results = [
        played(recall(use=["a"]), relevant=1, returned=4),
        played(recall(use=["a"]), relevant=2, returned=2),
    ]
    assert scores(results).returned_precision == 0.5


def test_a_share_of_nothing_is_no_fault() -> None:
    held = scores([])
    assert (held.recall, held.precision, held.returned_precision) == (1, 1, 1)
    assert (held.stale_use_rate, held.residual_recall, held.leaks, held.drift, held.latency) == (0, 0, 0, 0, (0, 0))


@pytest.mark.parametrize(
    ("group", "rate"),
    [("preference_update", 0.5), ("gate_frozen", 0.5), ("expiry_new_conversation", 0.5), ("deletion", 0.0)],
)
def test_stale_use_is_counted_where_values_go_out_of_date(group: str, rate: float) -> None:
    result = played(turn("a b"), recall(ignore=["a", "b"]), group=group, broken="ignore: a")
    assert scores([result]).stale_use_rate == rate


def test_a_new_conversation_after_a_reset_is_residue_not_stale_use() -> None:
    steps = (turn("red suitcase"), {"command": "reset", "scope": "context"}, recall(ignore=["red"]))
    held = scores([played(*steps, group="expiry_new_conversation", broken="ignore: red")])
    assert (held.stale_use_rate, held.residual_recall) == (0.0, 1.0)


def test_residue_is_what_was_said_before_and_comes_back_after() -> None:
    """After the delete: gastritis (said before, back), figs (said after), dogs (never said), empty (back): 2 of 2."""
    result = played(
        turn("I have gastritis"),
        recall(ignore=["gastritis"]),
        {"command": "delete", "scope": "memory", "match": "gastritis"},
        turn("I love figs"),
        recall(ignore=["gastritis", "figs", "dogs"], empty=True),
        broken="ignore: gastritis, ignore: figs, empty: true",
    )
    assert scores([result]).residual_recall == 1.0


def test_a_failed_use_is_no_residue_and_no_leak() -> None:
    steps = (turn("a"), {"command": "delete", "scope": "user"}, recall(use=["a"]))
    held = scores([played(*steps, group="cross_user", broken="use: a")])
    assert (held.residual_recall, held.leaks) == (0.0, 0)


@pytest.mark.parametrize(
    ("command", "rate"),
    [
        ({"command": "delete", "scope": "session", "session": "s2"}, 0.0),
        ({"command": "delete", "scope": "session"}, 0.5),
        ({"command": "delete", "scope": "task", "task": "k"}, 0.5),
        ({"command": "delete", "scope": "task", "task": "other"}, 0.0),
        ({"command": "delete", "scope": "user"}, 0.5),
        ({"command": "delete", "scope": "user", "user": "u2"}, 0.0),
        ({"command": "delete", "scope": "user", "tenant": "t2"}, 0.0),
        ({"command": "reset", "scope": "history"}, 0.5),
        ({"command": "pin", "match": "tea"}, 0.0),
    ],
)
def test_residue_is_counted_where_the_erasure_reaches(command: dict[str, Any], rate: float) -> None:
    """Two ignored values were said in session s and task k; one comes back."""
    result = played(turn("tea milk", task="k"), command, recall(ignore=["tea", "milk"]), broken="ignore: tea")
    assert scores([result]).residual_recall == rate


def test_after_a_reset_that_keeps_memory_something_may_be_there() -> None:
    result = played(turn("a"), {"command": "reset", "scope": "context"}, recall(empty=True), broken="empty: true")
    assert scores([result]).residual_recall == 0.0


def test_leaks_are_counted_across_users_only() -> None:
    """ignore a and empty leak, ignore b holds, lacks is no recall's."""
    steps = (recall(ignore=["a", "b"], empty=True), {"list": True, "lacks": ["c"]})
    broken = "ignore: a, empty: true, lacks: c"
    assert scores([played(*steps, group="cross_user", broken=broken)]).leaks == 2
    assert scores([played(*steps, group="deletion", broken=broken)]).leaks == 0


def test_drift_is_the_share_of_profile_entries_overturned() -> None:
    base = played(turn("a"))
    results = [Result(base.scenario, (), frozen=3, overturned=1), Result(base.scenario, (), frozen=1)]
    assert scores(results).drift == 0.25


def test_latency_and_context_are_of_recalls_that_were_answered() -> None:
    results = [
        *(played(recall(), millis=float(n), tokens=10 * n) for n in range(1, 21)),
        played(recall(), millis=None, tokens=None),
    ]
    assert scores(results).latency == (10.0, 19.0)
    assert scores(results).context == (100.0, 190.0)


@pytest.mark.parametrize(
    ("values", "share", "value"), [([], 0.5, 0), ([7], 0.95, 7), ([3, 1, 2], 0.5, 2), ([4, 3, 2, 1], 0.5, 2)]
)
def test_a_percentile_is_a_value_that_was_measured(values: list[float], share: float, value: float) -> None:
    assert percentile(values, share) == value


def test_groups_and_high_risk_are_told_apart() -> None:
    results = [played(turn("a")), played(turn("a"), group="cross_user", risk="high"), played(turn("a"))]
    assert [(group.value, len(members)) for group, members in by_group(results).items()] == [
        ("deletion", 2),
        ("cross_user", 1),
    ]
    assert high_risk(results) == [results[1]]
