"""The result as JSON, floors against it, what writing cost, and waiting for the worker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streams.evaluation.cost import EMBEDDINGS, EXTRACTOR_CALLS, Cost, cost_in
from streams.evaluation.progress import Progress
from streams.evaluation.result import document, missed, parse_floor
from tables.errors import Unavailable
from tables.expectation import Check
from tables.keys import Position
from tables.scenario import RecallStep
from tables.scenario_read import parse_scenarios
from tables.scoring import Played, Result
from tables.write_scoring import WriteScores

AT = "2026-03-01T09:00:00Z"


def result(held: bool = True, risk: str = "normal") -> Result:
    step = {"recall": "q", "at": AT, "use": ["tea"]}
    base = {"id": f"{held}-{risk}", "group": "deletion", "lang": "en", "tenant": "t", "user": "u", "session": "s"}
    (scenario,) = parse_scenarios([{**base, "risk": risk, "steps": [step]}], "f")
    (recall,) = scenario.steps
    assert isinstance(recall, RecallStep)
    check = Check(recall.expected[0], held, "" if held else "nothing")
    return Result(scenario, (Played(recall, (check,), "tr", 1, 2, 3.0, 4),))


def whole(*results: Result, write: dict[str, WriteScores] | None = None) -> dict[str, Any]:
    return document(results, Cost(1, 2, 3.04, ()), 9.99, write)


def test_the_result_has_the_shape_of_the_format() -> None:
    totals = {
        "passed": 1,
        "total": 2,
        "recall": 0.5,
        "precision": 1.0,
        "stale_use_rate": 0.0,
        "residual_recall": 0.0,
        "leaks": 0,
        "returned_precision": 0.5,
        "drift": 0.0,
        "write_cost": {"extractor_calls": 1, "embeddings": 2, "ms": 3.0},
        "latency_ms": {"p50": 3.0, "p95": 3.0},
        "context_tokens": {"p50": 4, "p95": 4},
        "seconds": 10.0,
    }
    found = whole(result(), result(held=False, risk="high"))
    assert found["totals"] == totals
    assert found["high_risk"] == {**totals, "passed": 0, "total": 1, "recall": 0.0}
    assert found["groups"] == {"deletion": {"passed": 1, "total": 2, "recall": 0.5, "precision": 1.0}}
    assert found["scenarios"][1] == {
        "id": "False-high",
        "group": "deletion",
        "lang": "en",
        "risk": "high",
        "passed": False,
        "failures": [{"step": 1, "expectation": "use: tea", "got": "nothing", "trace_id": "tr"}],
    }
    assert "write" not in found


def test_the_write_side_is_told_when_a_chat_was_played() -> None:
    scores = WriteScores(9, 3, 1 / 3, 0.5, 1.0, 0)
    assert whole(write={"en": scores})["write"] == {
        "en": {"turns": 9, "stored": 3, "junk": 0.3333, "recall": 0.5, "values_found": 1.0, "duplicates": 0}
    }


@pytest.mark.parametrize(
    ("floor", "reached"),
    [
        ("passed=0.5", True),
        ("passed=0.51", False),
        ("totals.recall=0.5", True),
        ("high_risk.recall=0.1", False),
        ("groups.deletion.passed=0.5", True),
        ("groups.cross_user.passed=0", False),  # nothing was played there
        ("leaks=0", True),
        ("latency_ms.p95=3", True),
        ("latency_ms.p95=2.9", False),
        ("write.en.recall=0.5", True),
        ("write.en.junk=0.3", False),
        ("write.zh.recall=0.1", False),
    ],
)
def test_a_floor_is_a_least_value_or_a_greatest_of_what_is_counted_against(floor: str, reached: bool) -> None:
    found = whole(result(), result(held=False, risk="high"), write={"en": WriteScores(9, 3, 1 / 3, 0.5, 1.0, 0)})
    assert (missed([parse_floor(floor)], found) == []) is reached


@pytest.mark.parametrize("text", ["passed", "passed=x", "passed=-1", "recal=0.9", "groups.x.passed=1", "write.junk=1"])
def test_a_floor_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        parse_floor(text)


METRICS = """\
# TYPE twinsluice_step_seconds histogram
twinsluice_step_seconds_sum{step="collect"} 0.5
twinsluice_step_seconds_sum{step="admit"} 1.5
twinsluice_step_seconds_count{step="admit"} 3
# TYPE twinsluice_extractor_calls counter
twinsluice_extractor_calls_total{of="rules"} 4
twinsluice_extractor_calls_total{of="head"} 3
"""


def test_the_cost_of_writing_is_read_from_the_workers_metrics() -> None:
    held = cost_in(METRICS)
    assert (held.extractor_calls, held.embeddings, held.ms) == (7, 0, 2000)
    assert held.missing == (EMBEDDINGS,)
    assert held.since(Cost(2, 0, 500, ())) == Cost(5, 0, 1500, (EMBEDDINGS,))


def test_a_metric_that_was_never_counted_is_no_missing_one() -> None:
    held = cost_in("# TYPE twinsluice_extractor_calls_total counter\n# TYPE twinsluice_step_seconds histogram\n")
    assert held == Cost(0, 0, 0, (EMBEDDINGS,))


def test_a_worker_that_does_not_answer_costs_nothing_that_is_known() -> None:
    assert EXTRACTOR_CALLS in Cost().missing


async def test_everyone_who_waits_is_served_by_one_look() -> None:
    asked: list[tuple[str, int]] = []

    async def ask(topic: str, partition: int) -> int:
        asked.append((topic, partition))
        return len(asked) - 1

    progress = Progress(ask)
    await asyncio.gather(*(progress.reached(Position("t", 0, offset)) for offset in (0, 2, 2)))
    assert len(asked) == 3
    await progress.reached(Position("t", 0, 0))


async def test_a_worker_that_does_not_move_is_away() -> None:
    async def ask(topic: str, partition: int) -> int:
        return -1

    with pytest.raises(Unavailable, match="worker"):
        await Progress(ask, patience=0.02).reached(Position("t", 0, 0))
