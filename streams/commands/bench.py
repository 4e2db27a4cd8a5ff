"""How fast one worker is, measured against an empty Faust agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from streams.commands.screen import print_json, print_table, say
from streams.settings import Settings, load

if TYPE_CHECKING:
    from streams.bench import Result

EXIT_FAILED = 1


def bench(
    turns: Annotated[int, typer.Option(min=1000, help="How many turns.")] = 20_000,
    sessions: Annotated[int, typer.Option(min=1, help="Of how many sessions.")] = 200,
    at_least: Annotated[float, typer.Option(metavar="RATIO", help="Exit with 1 when the ratio is below.")] = 0.0,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long a process may take.")] = 300.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure turns a second of one worker over records a second of an empty Faust agent, in one run.

    Small talk in Chinese and English: what every worker does for every turn, session row and durable ack included.
    Start-up does not count. It wants an engine of its own: Kafka, Redis and Milvus up, no worker running, nothing
    waiting. The turns belong to a tenant twinsluice-bench; their windows stay for a day.

    \b
    python -m streams bench
    python -m streams bench --turns 50000 --sessions 1000 --at-least 0.3 --json
    """
    settings = load()
    from streams.bench_process import BenchFailed

    try:
        result = asyncio.run(_bench(settings, turns, sessions, timeout))
    except BenchFailed as error:
        say(str(error))
        raise typer.Exit(EXIT_FAILED) from None
    _print_json(result) if as_json else _print(result)
    if result.ratio < at_least:
        say(f"below {at_least}")
        raise typer.Exit(EXIT_FAILED)


async def _bench(settings: Settings, turns: int, sessions: int, seconds: float) -> Result:
    from streams.bench import Bench
    from streams.commands import engines

    async with engines.bus(settings) as bus, engines.reader(settings) as reader:
        return await Bench(settings, bus, reader, say)(turns, sessions, seconds)


def _print(result: Result) -> None:
    named = [
        ("empty agent, before the worker", result.agent[0]),
        ("empty agent, after the worker", result.agent[1]),
        ("worker, last offset committed", result.committed),
        ("worker, last offset published as done", result.published),
    ]
    rows = [(name, rate.records, f"{rate.seconds:.2f}", f"{rate.per_second:,.0f}") for name, rate in named]
    print_table(("what", "records", "seconds", "a second"), rows, right=("records", "seconds", "a second"))
    typer.echo(
        f"ratio {result.ratio:.3f}: {result.worker_rate:,.0f} turns a second over {result.agent_rate:,.0f} "
        f"({result.turns} turns, {result.sessions} sessions, {result.partitions} partitions)"
    )


def _print_json(result: Result) -> None:
    print_json(
        {
            "turns": result.turns,
            "sessions": result.sessions,
            "partitions": result.partitions,
            "agent_per_second": [round(rate.per_second, 1) for rate in result.agent],
            "committed_per_second": round(result.committed.per_second, 1),
            "published_per_second": round(result.published.per_second, 1),
            "ratio": round(result.ratio, 4),
        }
    )
