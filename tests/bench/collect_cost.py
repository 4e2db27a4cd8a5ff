"""What the closed rules and the first tier cost a turn: `python -m tests.bench.collect_cost`.

Small talk and any other turn of the labelled chat, as collect judges them before it passes a turn on: microseconds,
median and 95th percentile over the turns, each the best of five runs.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import typer
from rich.console import Console
from rich.table import Table

from connectors.model.weights import load
from streams.collect_work import judged
from tables.policy import Policy
from tables.sensitive import masked
from tables.session import Session
from tables.turn import Turn
from tables.worth import Drop
from tests.extraction.data import HERE, said

RUNS = 5
EMPTY = Session()


def main() -> None:
    """Measure the cost of judging a turn in collect."""
    _, sieve = load()
    policy = Policy()
    spent: dict[str, list[float]] = {}
    for line in (HERE / "chat.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        if told["role"] != "user":
            continue
        turn = said(told["text"])

        def judge(turn: Turn = turn) -> Drop | None:
            return judged(replace(turn, content=masked(turn.content, policy)), EMPTY, policy, sieve)[2]

        drop = judge()
        kind = "small talk" if drop is Drop.SMALL_TALK else "dropped" if drop is not None else "passed on"
        spent.setdefault(kind, []).append(min(_timed(judge) for _ in range(RUNS)))
    table = Table("turns", "count", "median µs", "95 % µs", "largest µs")
    for kind, micros in sorted(spent.items()):
        ordered = sorted(micros)
        high = ordered[int(len(ordered) * 0.95)]
        table.add_row(kind, str(len(micros)), f"{statistics.median(micros):.0f}", f"{high:.0f}", f"{ordered[-1]:.0f}")
    Console().print(table)


def _timed(judge: Callable[[], object]) -> float:
    started = time.perf_counter()
    judge()
    return (time.perf_counter() - started) * 1e6


if __name__ == "__main__":
    typer.run(main)
