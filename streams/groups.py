"""What the broker knows of a consumer group: its members, and what it has committed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from tables.errors import Unavailable

T = TypeVar("T")

TRIES: Final = 50  # the broker makes its offsets topic when a group first asks: some seconds
PAUSE_SECONDS: Final = 0.1


async def committed(client: AIOKafkaAdminClient, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
    """Every committed offset of `group`, metadata included. Raises Unavailable("kafka")."""
    return dict(await _patient(lambda: client.list_consumer_group_offsets(group)))


async def members(client: AIOKafkaAdminClient, group: str) -> int:
    """How many members `group` has; one that never was has none. Raises Unavailable("kafka")."""
    responses = await _patient(lambda: client.describe_consumer_groups([group]))
    return sum(len(described[5]) for response in responses for described in response.groups)


async def _patient(ask: Callable[[], Awaitable[T]]) -> T:
    for _ in range(TRIES):
        try:
            return await ask()
        except KafkaError as error:
            if not error.retriable:
                raise Unavailable("kafka") from error
            await asyncio.sleep(PAUSE_SECONDS)
    raise Unavailable("kafka")
