"""The result for the person at the terminal: groups, those of high risk apart, every failed step, totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from streams.commands.screen import print_fields, print_table
from tables.scoring import Result, by_group, high_risk, scores

NUMBERS = ("passed", "of", "recall", "precision", "returned precision")


def print_result(results: Sequence[Result], result: Mapping[str, Any]) -> None:
    """Everything, on standard output."""
    normal = [one for one in results if one not in high_risk(results)]
    for title, members in (("scenarios", normal), ("scenarios of high risk", high_risk(results))):
        if members:
            typer.echo(title)
            print_table(("group", *NUMBERS), list(_rows(members)), right=NUMBERS)
    _print_failures(result["scenarios"])
    if results:
        _print_totals(result)
    if "write" in result:
        _print_write(result["write"])


def _rows(results: Sequence[Result]) -> list[tuple[object, ...]]:
    named = [(group.value, members) for group, members in by_group(results).items()]
    found = [(name, scores(members)) for name, members in [*named, ("all", results)]]
    return [
        (name, s.passed, s.total, _share(s.recall), _share(s.precision), _share(s.returned_precision))
        for name, s in found
    ]


def _print_failures(scenarios: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (scenario["id"], failure["step"], failure["expectation"], failure["got"], failure["trace_id"])
        for scenario in scenarios
        for failure in scenario["failures"]
    ]
    if rows:
        typer.echo("what did not hold")
        print_table(("scenario", "step", "expected", "got", "trace"), rows, right=("step",))


def _print_totals(result: Mapping[str, Any]) -> None:
    columns = {"all": result["totals"], "high risk": result["high_risk"]}
    names = ("recall", "precision", "returned_precision", "stale_use_rate", "residual_recall", "leaks", "drift")
    rows: list[tuple[object, ...]] = [("passed", *(f"{t['passed']} of {t['total']}" for t in columns.values()))]
    rows += [(name, *(_number(totals[name]) for totals in columns.values())) for name in names]
    for name in ("latency_ms", "context_tokens"):
        rows.append((f"{name} p50 / p95", *(f"{t[name]['p50']} / {t[name]['p95']}" for t in columns.values())))
    typer.echo("totals")
    print_table(("score", *columns), rows, right=tuple(columns))
    cost = result["totals"]["write_cost"]
    print_fields({**{f"write cost, {name}": value for name, value in cost.items()}, "seconds": _seconds(result)})


def _seconds(result: Mapping[str, Any]) -> object:
    return result["totals"]["seconds"]


def _print_write(write: Mapping[str, Mapping[str, Any]]) -> None:
    columns = ("turns", "stored", "junk", "recall", "values_found", "duplicates")
    rows = [(lang, *(_number(found[name]) for name in columns)) for lang, found in write.items()]
    typer.echo("writing")
    print_table(("lang", *columns), rows, right=columns)


def _share(value: float) -> str:
    return f"{value:.3f}"


def _number(value: object) -> str:
    return _share(value) if isinstance(value, float) else str(value)
