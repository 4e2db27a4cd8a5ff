"""Provisions a broker that has just been started: the engine's topics, and the place where its consumer group meets.

The latter a broker makes only when the first group asks for it, and then the first worker would wait.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from deploy.local.errors import Interrupted, TopicsRefused

if TYPE_CHECKING:
    from connectors.kafka.config import KafkaConfig

COORDINATOR_SECONDS = 5.0  # without a coordinator by then the worker waits for it itself
LOOK_SECONDS = 0.05
LINES_SHOWN = 3  # a wrong count is wrong for every topic, and the same is said of each


def provision(settings: Mapping[str, str], cancelled: threading.Event) -> None:
    """Creates the topics, or verifies those that are there; TopicsRefused with its words when it refuses.

    Interrupted when cancelled; topics may be half made then, and the next call makes the rest.
    """
    from streams.settings import kafka_config, load
    from tables.errors import Misconfigured, Unavailable

    try:
        asyncio.run(_unless(cancelled, kafka_config(load(settings))))
    except (Misconfigured, Unavailable) as error:
        raise TopicsRefused(_shortened(str(error))) from error


def _shortened(problems: str) -> str:
    lines = problems.splitlines()
    more = [f"and {len(lines) - LINES_SHOWN} topics more"] if len(lines) > LINES_SHOWN else []
    begin, end = "the topics of this folder's Kafka are not right:", "To begin anew, remove the folder."
    return "\n".join([begin, *lines[:LINES_SHOWN], *more, end])


async def _unless(cancelled: threading.Event, config: KafkaConfig) -> None:
    making = asyncio.create_task(_make(config))
    while not making.done():
        await asyncio.wait({making}, timeout=LOOK_SECONDS)
        if cancelled.is_set():
            making.cancel()
            with suppress(asyncio.CancelledError):
                await making
            raise Interrupted("the making of the topics was called off")
    making.result()


async def _make(config: KafkaConfig) -> None:
    from connectors.kafka.admin import provision as make

    await asyncio.gather(make(config, create=True), _coordinate(config))


async def _coordinate(config: KafkaConfig) -> None:
    """Returns when the broker can say who coordinates our group, or the time is up."""
    from aiokafka.errors import KafkaError

    from connectors.kafka.admin import connect
    from connectors.kafka.topics import GROUP

    client = await connect(config)
    end = time.monotonic() + COORDINATOR_SECONDS
    try:
        while time.monotonic() < end:
            with suppress(KafkaError):
                await client.find_coordinator(GROUP)
                return
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        await client.close()
