"""Reading a topic outside the consumer group: from the start to its present end, or on and on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError

from connectors.kafka import lenient
from connectors.kafka.config import KafkaConfig
from tables.errors import Misconfigured, Unavailable

POLL_MS = 500  # how long a poll waits for records; a fetch within it is at most 100 ms old


@asynccontextmanager
async def opened(config: KafkaConfig, topic: str) -> AsyncIterator[tuple[AIOKafkaConsumer, list[TopicPartition]]]:
    """A consumer without a group over every partition of `topic`, at its beginning.

    Raises Unavailable("kafka"), Misconfigured when the topic does not exist.
    """
    lenient.install()
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=config.brokers,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=100,
    )
    try:
        await consumer.start()
        parts = sorted(consumer.assignment())
        await consumer.seek_to_beginning(*parts)
        yield consumer, parts
    except UnknownTopicOrPartitionError as error:
        raise Misconfigured(f"{topic}: missing; run `python -m streams topics --create`") from error
    except (KafkaError, OSError) as error:
        raise Unavailable("kafka") from error
    finally:
        await consumer.stop()


async def read_to_end(config: KafkaConfig, topic: str) -> AsyncIterator[ConsumerRecord[bytes | None, bytes | None]]:
    """Every record of `topic` from its start to the end it had when the reading began, partition by partition order."""
    async with opened(config, topic) as (consumer, parts):
        ends = await consumer.end_offsets(parts)
        starts = await consumer.beginning_offsets(parts)
        left = {tp for tp in parts if ends[tp] > starts[tp]}
        while left:
            for tp, records in (await consumer.getmany(*left, timeout_ms=500)).items():
                for record in records:
                    if record.offset < ends[tp]:
                        yield record
            left = {tp for tp in left if await consumer.position(tp) < ends[tp]}


async def follow(config: KafkaConfig, topic: str) -> AsyncIterator[ConsumerRecord[bytes | None, bytes | None] | None]:
    """Every record of `topic` from its start, for ever; None after each poll that left nothing unread (about twice a
    second when nothing comes)."""
    async with opened(config, topic) as (consumer, parts):
        ends = await consumer.end_offsets(parts)
        while True:
            if all([await consumer.position(tp) >= ends[tp] for tp in parts]):
                yield None
            for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                for record in records:
                    yield record
