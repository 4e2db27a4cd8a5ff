"""The door out to the bus: every delivery is awaited before the caller goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from connectors.kafka.config import KafkaConfig
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position

Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One record to send. `partition` None = by murmur2 of the key. `value` None = a tombstone."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None


class KafkaBus:
    """A producer with acks=all and idempotence; one per process."""

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect. Raises Unavailable("kafka") when no broker answers."""
        producer = AIOKafkaProducer(
            bootstrap_servers=self._config.brokers,
            acks="all",
            enable_idempotence=True,
            linger_ms=self._config.linger_ms,
            max_request_size=self._config.request_bytes_max,
            request_timeout_ms=self._config.request_timeout_ms,
        )
        try:
            await producer.start()
        except (KafkaError, OSError) as error:
            await producer.stop()
            raise Unavailable("kafka") from error
        self._producer = producer

    @property
    def started(self) -> bool:
        return self._producer is not None

    async def healthy(self) -> bool:
        """Whether a broker answers; never raises, answers within the health timeout."""
        if self._producer is None:
            return False
        try:
            async with asyncio.timeout(self._config.health_timeout_seconds):
                await self._producer.client.fetch_all_metadata()
        except (KafkaError, OSError, TimeoutError):
            return False
        return True

    async def stop(self) -> None:
        if self._producer is not None:
            await self._producer.stop()
            self._producer = None

    async def send_all(self, records: Sequence[Outgoing]) -> list[Position]:
        """Send in order and return where each landed, once every one is acknowledged by all in-sync replicas.

        Raises Unavailable("kafka") when any delivery failed (some may have landed: the caller repeats, effects are
        idempotent), InvalidRecord(TOO_LARGE) for a record that the broker will never take.
        """
        producer = self._producer
        if producer is None:
            raise Unavailable("kafka")
        try:
            sent = [
                await producer.send(
                    record.topic,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    partition=record.partition,
                )
                for record in records
            ]
            done = await asyncio.gather(*sent)
        except MessageSizeTooLargeError as error:
            raise InvalidRecord(BadRecord.TOO_LARGE, "record") from error
        except KafkaError as error:
            raise Unavailable("kafka") from error
        return [Position(meta.topic, meta.partition, meta.offset) for meta in done]

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Headers = ()) -> Position:
        """Send one record and return where it landed."""
        return (await self.send_all([Outgoing(topic, key, value, headers)]))[0]
