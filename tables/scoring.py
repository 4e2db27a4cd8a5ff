"""Scores from what the checks of played scenarios found: shares are 0..1, times milliseconds.

A share of nothing says that nothing went wrong: 1 for recall and precision, 0 for what is counted against.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tables.expectation import AVOIDED, USED, Check, Want
from tables.scenario import CommandStep, Group, ListStep, Order, RecallStep, Risk, Scenario, TurnStep

_STALE: Final = (Group.PREFERENCE_UPDATE, Group.GATE_FROZEN, Group.EXPIRY_NEW_CONVERSATION)


@dataclass(frozen=True, slots=True)
class Played:
    """A recall or list that was played.

    relevant, returned  long-term items that match a `use`-type expectation, and all of them, of a recall with `use`
    millis              how long the recall took; None for a list
    tokens              of the context; None for a list and for a refused recall
    """

    step: RecallStep | ListStep
    checks: tuple[Check, ...]
    trace_id: str = ""
    relevant: int = 0
    returned: int = 0
    millis: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A scenario that was played. `frozen`: profile entries at its end, `overturned` of them are no longer current."""

    scenario: Scenario
    played: tuple[Played, ...]
    frozen: int = 0
    overturned: int = 0

    @property
    def passed(self) -> bool:
        return all(check.held for one in self.played for check in one.checks)


@dataclass(frozen=True, slots=True)
class Scores:
    """`leaks` is a count, `latency` and `context` are (p50, p95), everything else a share or a count."""

    passed: int
    total: int
    recall: float
    precision: float
    stale_use_rate: float
    residual_recall: float
    leaks: int
    returned_precision: float
    drift: float
    latency: tuple[float, float]
    context: tuple[float, float]


def scores(results: Sequence[Result]) -> Scores:
    """The scores of these scenarios together."""
    played = [one for result in results for one in result.played]
    checks = [check for one in played for check in one.checks]
    stale = [check for result in results for check in _stale(result)]
    residue = [check for result in results for check in _residual(result)]
    return Scores(
        passed=sum(result.passed for result in results),
        total=len(results),
        recall=_held([check for check in checks if check.expectation.want in USED]),
        precision=_held([check for check in checks if check.expectation.want in AVOIDED]),
        stale_use_rate=1 - _held(stale),
        residual_recall=1 - _held(residue),
        leaks=sum(not check.held for result in results for check in _foreign(result)),
        returned_precision=_share(sum(one.relevant for one in played), sum(one.returned for one in played), 1.0),
        drift=_share(sum(r.overturned for r in results), sum(r.frozen for r in results), 0.0),
        latency=_spread([one.millis for one in played if one.millis is not None]),
        context=_spread([float(one.tokens) for one in played if one.tokens is not None]),
    )


def by_group(results: Sequence[Result]) -> dict[Group, list[Result]]:
    """The results of every group that there are any of, in the order of the groups."""
    found = {group: [one for one in results if one.scenario.group is group] for group in Group}
    return {group: members for group, members in found.items() if members}


def high_risk(results: Iterable[Result]) -> list[Result]:
    return [one for one in results if one.scenario.risk is Risk.HIGH]


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest rank: the smallest value that at least `share` of them do not exceed; 0 of none."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else 0.0


def _foreign(result: Result) -> Iterator[Check]:
    """What would show another user's memory."""
    if result.scenario.group is Group.CROSS_USER:
        yield from _recall_checks(result, Want.IGNORE, Want.EMPTY)


def _stale(result: Result) -> Iterator[Check]:
    """What would show a superseded or expired value: a conversation that was reset is a matter of residue."""
    scenario = result.scenario
    reset = any(isinstance(step, CommandStep) and step.order is Order.RESET for step in scenario.steps)
    if scenario.group in _STALE and not (reset and scenario.group is Group.EXPIRY_NEW_CONVERSATION):
        yield from _recall_checks(result, Want.IGNORE)


def _recall_checks(result: Result, *wants: Want) -> Iterator[Check]:
    for one in result.played:
        if isinstance(one.step, RecallStep):
            yield from (check for check in one.checks if check.expectation.want in wants)


def _residual(result: Result) -> Iterator[Check]:
    for one in result.played:
        if isinstance(one.step, RecallStep):
            erasures = list(_erasures_before(result.scenario, one.step))
            yield from (check for check in one.checks if any(_of_erased(check, erasure) for erasure in erasures))


@dataclass(frozen=True, slots=True)
class _Erasure:
    """A `delete` or `reset`, and what had been said before it where it reaches."""

    step: CommandStep
    said: tuple[str, ...]


def _erasures_before(scenario: Scenario, recall: RecallStep) -> Iterator[_Erasure]:
    """The erasures of the recalling user's own, before this recall."""
    for number, step in enumerate(scenario.steps[: recall.moment.number - 1]):
        if isinstance(step, CommandStep) and step.order in (Order.DELETE, Order.RESET) and _same_user(step, recall):
            yield _Erasure(step, tuple(_said(scenario.steps[:number], step)))


def _said(steps: Sequence[object], erasure: CommandStep) -> Iterator[str]:
    """Texts of the user's sessions that the erasure reaches. A memory's chain may hold other words than its match."""
    session = erasure.reach in ("session", "context")
    for step in steps:
        if not isinstance(step, TurnStep | CommandStep) or not _same_user(step, erasure) or not step.text:
            continue
        if session and step.place.session != erasure.place.session:
            continue
        if erasure.reach == "task" and step.place.task != erasure.place.task:
            continue
        yield step.text


def _same_user(one: TurnStep | CommandStep, other: CommandStep | RecallStep) -> bool:
    return (one.place.tenant, one.place.user) == (other.place.tenant, other.place.user)


def _of_erased(check: Check, erasure: _Erasure) -> bool:
    """Whether `check` looks for content of this erasure; a reset that keeps long-term memory leaves nothing empty."""
    if check.expectation.want is Want.EMPTY:
        return erasure.step.order is Order.DELETE or erasure.step.reach == "all"
    if check.expectation.want is not Want.IGNORE:
        return False
    return any(re.search(check.expectation.pattern, text) for text in erasure.said)


def _held(checks: Sequence[Check]) -> float:
    return _share(sum(check.held for check in checks), len(checks), 1.0)


def _share(part: int, whole: int, of_nothing: float) -> float:
    return part / whole if whole else of_nothing


def _spread(values: Sequence[float]) -> tuple[float, float]:
    return percentile(values, 0.5), percentile(values, 0.95)
