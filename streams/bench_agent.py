"""The measure of the bench: an agent that does nothing, over the same records, with the settings of a worker.

    python -m streams.bench_agent TOPIC RECORDS

Prints one JSON object with the records it saw and the seconds from the first to the last of them, and ends. The
application is the worker's own (`streams.app.create_app`) under another id: no tables, no writes, only the agent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

import uvloop

from streams.app import create_app
from streams.commands import logs
from streams.settings import load


def main(topic: str, records: int) -> None:
    settings = load()
    logs.set_up(settings.log_level)
    uvloop.install()
    app = create_app(replace(settings, worker_id=topic))
    app.conf.id = topic
    app.before_start = _nothing
    source = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    counts: dict[int, int] = {}

    async def empty(stream: Any) -> None:
        begun = 0.0
        left = records
        async for event in stream.events():
            begun = begun or time.perf_counter()
            left -= 1
            counts[event.message.partition] = counts.get(event.message.partition, 0) + 1
            if not left:
                _end(records, time.perf_counter() - begun, counts)

    app.agent(source, name="empty", concurrency=1)(empty)
    app.Worker(
        loglevel="warning", logfile=None, quiet=True, override_logging=False, redirect_stdouts=False
    ).execute_from_commandline()


async def _nothing() -> None:
    """A worker opens its engines here; the empty agent has none."""


def _end(records: int, seconds: float, counts: dict[int, int]) -> None:
    print(json.dumps({"records": records, "seconds": seconds, "partitions": counts}), flush=True)
    asyncio.get_running_loop().call_later(1.5, os._exit, 0)  # after a commit, so that the group is left clean


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
