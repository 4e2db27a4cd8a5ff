"""The result as JSON, in the shape that the format of scenario files gives; floors that it is held against. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from streams.evaluation.cost import Cost
from tables.scenario import Group
from tables.scoring import Result, Scores, by_group, high_risk, scores
from tables.write_scoring import WriteScores

CEILINGS: Final = frozenset(
    {"stale_use_rate", "residual_recall", "leaks", "drift", "junk", "duplicates", "p50", "p95", "seconds"}
)
_GROUP: Final = frozenset({"passed", "recall", "precision"})
_TOTALS: Final = _GROUP | {
    "stale_use_rate",
    "residual_recall",
    "leaks",
    "returned_precision",
    "drift",
    "seconds",
    *(f"{name}.{rank}" for name in ("latency_ms", "context_tokens") for rank in ("p50", "p95")),
}
_WRITE: Final = frozenset({"stored", "junk", "recall", "values_found", "duplicates"})
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Floor:
    """A least (of what is counted against: a greatest) value of the number at `path` in the totals or the result."""

    path: str
    value: float

    @property
    def is_ceiling(self) -> bool:
        return self.path.rsplit(".", 1)[-1] in CEILINGS

    def __str__(self) -> str:
        return f"{self.path}{'≤' if self.is_ceiling else '≥'}{self.value:g}"


def parse_floor(text: str) -> Floor:
    """`name=value`, as in recall=0.9 or groups.deletion.passed=1. Raises ValueError saying what is wrong."""
    match = re.fullmatch(r"([a-zA-Z0-9_.-]+)=([0-9]+(?:\.[0-9]+)?)", text)
    if match is None:
        raise ValueError(f"{text!r} is no floor: write name=value, as in passed=0.9")
    if not _is_name(match[1]):
        raise ValueError(
            f"{match[1]!r} is no score; there are {', '.join(sorted(_TOTALS))}, each also after high_risk.; "
            "groups.GROUP.(passed, recall, precision); write.LANG.(" + ", ".join(sorted(_WRITE)) + ")"
        )
    return Floor(match[1], float(match[2]))


def missed(floors: Sequence[Floor], document: Mapping[str, Any]) -> list[str]:
    """What of `floors` the result does not reach, with what it has; what it has nothing of is not reached."""
    found = [(floor, _looked_up(floor.path, document)) for floor in floors]
    return [
        f"{floor}: {'there is none' if held is None else format(held, 'g')}"
        for floor, held in found
        if held is None or (held > floor.value if floor.is_ceiling else held < floor.value)
    ]


def _is_name(path: str) -> bool:
    head, _, rest = path.partition(".")
    match head:
        case "totals" | "high_risk":
            return rest in _TOTALS
        case "groups":
            group, _, score = rest.partition(".")
            return group in set(Group) and score in _GROUP
        case "write":
            return rest.rpartition(".")[2] in _WRITE and "." in rest
        case _:
            return path in _TOTALS


def _looked_up(path: str, document: Mapping[str, Any]) -> float | None:
    """The number at `path`, None where nothing was played; `passed` as the share that it is."""
    parts = path.split(".")
    whole: Any = document if parts[0] in ("groups", "totals", "high_risk", "write") else document["totals"]
    place: Any = whole
    for part in parts[:-1]:
        place = place.get(part, {})
    held = place.get(parts[-1])
    if held is None or (parts[-1] == "passed" and not place["total"]):
        return None
    return float(held / place["total"] if parts[-1] == "passed" else held)


def document(
    results: Sequence[Result], cost: Cost, seconds: float, write: Mapping[str, WriteScores] | None
) -> dict[str, Any]:
    """The whole result. `write` None: no chat was played."""
    return {
        "scenarios": [_scenario(result) for result in results],
        "groups": {group.value: _group(scores(members)) for group, members in by_group(results).items()},
        "totals": _totals(scores(results), cost, seconds),
        "high_risk": _totals(scores(high_risk(results)), cost, seconds),
        **({} if write is None else {"write": {lang: _write(one) for lang, one in write.items()}}),
    }


def _scenario(result: Result) -> dict[str, Any]:
    scenario = result.scenario
    return {
        "id": scenario.id,
        "group": scenario.group.value,
        "lang": scenario.lang,
        "risk": scenario.risk.value,
        "passed": result.passed,
        "failures": [
            {
                "step": played.step.moment.number,
                "expectation": str(check.expectation),
                "got": check.got,
                "trace_id": played.trace_id,
            }
            for played in result.played
            for check in played.checks
            if not check.held
        ],
    }


def _group(found: Scores) -> dict[str, Any]:
    return {
        "passed": found.passed,
        "total": found.total,
        "recall": round(found.recall, _DIGITS),
        "precision": round(found.precision, _DIGITS),
    }


def _totals(found: Scores, cost: Cost, seconds: float) -> dict[str, Any]:
    """Cost and seconds are those of the whole run: a worker does not tell its turns apart."""
    return {
        **_group(found),
        "stale_use_rate": round(found.stale_use_rate, _DIGITS),
        "residual_recall": round(found.residual_recall, _DIGITS),
        "leaks": found.leaks,
        "returned_precision": round(found.returned_precision, _DIGITS),
        "drift": round(found.drift, _DIGITS),
        "write_cost": {
            "extractor_calls": int(cost.extractor_calls),
            "embeddings": int(cost.embeddings),
            "ms": round(cost.ms, 1),
        },
        "latency_ms": {"p50": round(found.latency[0], 1), "p95": round(found.latency[1], 1)},
        "context_tokens": {"p50": int(found.context[0]), "p95": int(found.context[1])},
        "seconds": round(seconds, 1),
    }


def _write(found: WriteScores) -> dict[str, Any]:
    return {name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in asdict(found).items()}
