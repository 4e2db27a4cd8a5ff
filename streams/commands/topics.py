"""Provisioning: make the topics, or verify them."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from streams.commands.screen import print_json, print_table, say
from streams.settings import kafka_config, load


def topics(
    create: Annotated[bool, typer.Option("--create", help="Create the topics that are missing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Verify every topic of the engine; with --create make those that are missing.

    The partition count (TWINSLUICE_PARTITIONS) is fixed for life: it decides which worker owns a user. A topic with
    another count, or with a setting that would lose or keep what it must not, is refused with what to do about it.

    \b
    python -m streams topics --create
    python -m streams topics --json | jq '.[].name'
    """
    settings = load()
    from connectors.kafka.admin import provision
    from connectors.kafka.topics import TOPICS

    created = set(asyncio.run(provision(kafka_config(settings), create=create)))
    rows = [
        {
            "name": spec.name,
            "partitions": spec.partitions(settings.partitions),
            "internal": spec.internal,
            "created": spec.name in created,
            "what": spec.what,
        }
        for spec in TOPICS
    ]
    if as_json:
        print_json(rows)
        return
    table = [(row["name"], row["partitions"], "created" if row["created"] else "ok", row["what"]) for row in rows]
    print_table(("topic", "partitions", "state", "what"), table, right=("partitions",))
    say(f"{len(rows)} topics: {len(created)} created, {len(rows) - len(created)} verified")
