"""The three copies of every memory, compared."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from streams.commands.screen import print_json, print_table, say
from streams.settings import Settings, kafka_config, load

if TYPE_CHECKING:
    from streams.audit import Report

EXIT_DIFFERENT = 1
SHOWN_MAX = 200


def audit(
    tenant: Annotated[str, typer.Option(help="Only this tenant.")] = "",
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Look again for so long while there are differences.")
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare ledger, index and Redis: each memory exactly once in each, with one status and version.

    Exit code 0 only when they are equal. Differences are listed by id, never with what was said. While a worker is busy
    the copies may be a step apart for a moment, hence --wait.

    \b
    python -m streams audit
    python -m streams audit --tenant acme --json
    """
    settings = load()
    report = asyncio.run(_audit(settings, tenant, wait))
    _print_json(report) if as_json else _print(report)
    if report.differences:
        say(f"{len(report.differences)} differences")
        raise typer.Exit(EXIT_DIFFERENT)
    say("equal")


async def _audit(settings: Settings, tenant: str, patience: float) -> Report:
    from connectors.milvus.config import MilvusConfig
    from connectors.milvus.index import MilvusIndex
    from connectors.redis.client import connect
    from connectors.redis.config import RedisConfig
    from streams.audit import Audit

    redis_config = RedisConfig(settings.redis)
    redis, index = connect(redis_config), MilvusIndex(MilvusConfig(settings.milvus))
    try:
        await index.ensure()
        return await Audit(kafka_config(settings), index, redis, redis_config)(tenant, patience=patience)
    finally:
        await index.close()
        await redis.aclose()


def _print(report: Report) -> None:
    rows = [
        (
            name,
            " ".join(f"{status}:{count}" for status, count in sorted(statuses.items())) or "none",
            report.copies[name]["index"],
            report.copies[name]["redis"],
        )
        for name, statuses in report.ledger.items()
    ]
    print_table(("tenant", "ledger", "index", "redis"), rows, right=("index", "redis"))
    if report.differences:
        print_table(("copy", "tenant", "memory", "problem", "ledger", "found"), report.differences[:SHOWN_MAX])
    if len(report.differences) > SHOWN_MAX:
        say(f"the first {SHOWN_MAX}; --json has them all")


def _print_json(report: Report) -> None:
    print_json(
        {
            "equal": not report.differences,
            "tenants": {name: {"ledger": statuses, **report.copies[name]} for name, statuses in report.ledger.items()},
            "differences": [one._asdict() for one in report.differences],
        }
    )
