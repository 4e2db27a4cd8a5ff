"""Redrive: dead letters go back to where they came from, byte for byte, and are not sent twice.

What went back is remembered as committed offsets of the consumer group `twinsluice-redrive` on the dead-letter topic:
the offset is the first letter that did not go back, the commit's metadata names those beyond it that did. A letter is
sent, awaited, then remembered: a crash in between sends it again, which the steps know by its ids. Kafka forgets a
group's offsets some days after its last commit (`offsets.retention.minutes`).

A letter passes the fences and guards of its topic like any other record: what was erased meanwhile stays erased.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from connectors.kafka.admin import connect, describe
from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import Outgoing
from connectors.kafka.reader import read_to_end
from connectors.kafka.topics import DEAD_LETTERED, dead_letter
from streams.deadletter import HEADER
from streams.groups import committed
from streams.ports import Bus
from tables.errors import Misconfigured, Unavailable

GROUP: Final = "twinsluice-redrive"
BATCH: Final = 100  # letters between two commits: so many at most go back twice after a crash
BATCH_BYTES: Final = 16 * 1024 * 1024
METADATA_CHARS_MAX: Final = 4000  # the broker's own bound is 4096 bytes
ATTEMPTS: Final = f"{HEADER}attempts"

Record: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter. `facts` are its `dlq.*` headers; `sent_back`: a redrive has sent it already."""

    record: Record
    facts: Mapping[str, str]
    sent_back: bool

    @property
    def origin(self) -> str:
        return self.facts.get("original-topic", "")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters are meant: "" and None mean any."""

    topic: str = ""
    reason: str = ""
    partition: int | None = None
    offset: int | None = None

    def topics(self) -> tuple[str, ...]:
        """The dead-letter topics. Raises Misconfigured for a topic that has none."""
        if not self.topic:
            return tuple(dead_letter(name) for name in DEAD_LETTERED)
        name = self.topic.removesuffix(".dlq")
        if name not in DEAD_LETTERED:
            raise Misconfigured(f"{self.topic}: has no dead letters; there are {', '.join(DEAD_LETTERED)}")
        return (dead_letter(name),)

    def holds(self, letter: Letter) -> bool:
        return (
            (not self.reason or letter.facts.get("reason") == self.reason)
            and self.partition in (None, letter.record.partition)
            and self.offset in (None, letter.record.offset)
        )


@dataclass(slots=True)
class Done:
    """The letters of one partition that went back: all below `below`, and `beyond`.

    `pass_by` is told every letter that the topic still holds, in order from the first: a gap between two hides none.
    """

    below: int = 0
    beyond: set[int] = field(default_factory=set)
    hole: bool = False

    @classmethod
    def read(cls, below: int, metadata: str) -> Done:
        beyond: set[int] = set()
        for part in filter(None, metadata.split(",")):
            low, _, high = part.partition("-")
            beyond.update(range(int(low), int(high or low) + 1))
        return cls(max(below, 0), beyond)

    def __contains__(self, offset: int) -> bool:
        return offset < self.below or offset in self.beyond

    def pass_by(self, offset: int, went_back: bool) -> None:
        self.hole = self.hole or not went_back
        if not self.hole:
            self.below = max(self.below, offset + 1)
            self.beyond.discard(offset)
        elif went_back and offset >= self.below:
            self.beyond.add(offset)

    def metadata(self) -> str:
        """`beyond` as ranges. Raises Misconfigured when it is too long for the broker."""
        ranges: list[list[int]] = []
        for offset in sorted(self.beyond):
            if ranges and ranges[-1][1] == offset - 1:
                ranges[-1][1] = offset
            else:
                ranges.append([offset, offset])
        text = ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in ranges)
        if len(text) > METADATA_CHARS_MAX:
            raise Misconfigured("too many gaps between the letters sent back: send the older ones back first")
        return text


class Redrive:
    """Lists dead letters and sends them back. Raises Unavailable("kafka"), Misconfigured for a missing topic."""

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config
        self._done: dict[TopicPartition, Done] = {}

    async def letters(self, wanted: Wanted) -> AsyncIterator[Letter]:
        """The letters that are meant, oldest first within a partition."""
        for topic in wanted.topics():
            async for letter in self._all(topic):
                if wanted.holds(letter):
                    yield letter

    async def send_back(self, bus: Bus, wanted: Wanted, *, again: bool = False) -> int:
        """Send the letters that are meant back, in order, and remember them; how many went. `again`: also those that
        went already. Raises Misconfigured for a letter that does not say where it came from."""
        sent = 0
        async with self._group(wanted.topics()) as consumer:
            for topic in wanted.topics():
                async for batch in self._batches(topic):
                    going = [one for one in batch if wanted.holds(one) and (again or not one.sent_back)]
                    remembered = self._remembered(batch, going)
                    if going:
                        await bus.send_all([original(letter) for letter in going])
                        await consumer.commit(remembered)
                    sent += len(going)
        return sent

    async def _all(self, topic: str) -> AsyncIterator[Letter]:
        client = await connect(self._config)
        try:
            held = await committed(client, GROUP)
        finally:
            await client.close()
        for part, offset in held.items():
            if part.topic == topic:
                self._done[part] = Done.read(offset.offset, offset.metadata)
        async for record in read_to_end(self._config, topic):
            done = self._done.setdefault(TopicPartition(record.topic, record.partition), Done())
            yield Letter(record, _facts(record), record.offset in done)

    async def _batches(self, topic: str) -> AsyncIterator[list[Letter]]:
        batch: list[Letter] = []
        size = 0
        async for letter in self._all(topic):
            batch.append(letter)
            size += len(letter.record.value or b"")
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _remembered(self, batch: Sequence[Letter], going: Sequence[Letter]) -> dict[TopicPartition, tuple[int, str]]:
        """What to commit once `going` went back. Raises Misconfigured before anything is sent."""
        back = {(one.record.partition, one.record.offset) for one in going}
        for one in batch:
            place = (one.record.partition, one.record.offset)
            done = self._done[TopicPartition(one.record.topic, one.record.partition)]
            done.pass_by(one.record.offset, one.sent_back or place in back)
        parts = {TopicPartition(one.record.topic, one.record.partition) for one in going}
        return {part: (self._done[part].below, self._done[part].metadata()) for part in parts}

    @asynccontextmanager
    async def _group(self, topics: Sequence[str]) -> AsyncIterator[AIOKafkaConsumer]:
        """A member of the group that only commits: it takes no part in assignment and fetches nothing."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._config.brokers, group_id=GROUP, enable_auto_commit=False, auto_offset_reset="latest"
        )
        try:
            await consumer.start()
            parts = await _partitions(self._config, topics)
            consumer.assign(parts)
            consumer.pause(*parts)
            yield consumer
        except (KafkaError, OSError) as error:
            raise Unavailable("kafka") from error
        finally:
            await consumer.stop()


def original(letter: Letter) -> Outgoing:
    """The record as it was, on its old partition. Of our headers only the number of attempts stays.

    Raises Misconfigured for a letter that does not say where it came from.
    """
    record, facts = letter.record, letter.facts
    where = f"{record.topic}/{record.partition}@{record.offset}"
    if letter.origin not in DEAD_LETTERED or dead_letter(letter.origin) != record.topic:
        raise Misconfigured(f"{where}: does not name the topic it came from")
    partition = facts.get("original-partition", "")
    if not (partition.isascii() and partition.isdigit()):
        raise Misconfigured(f"{where}: does not name the partition it came from")
    headers = tuple((name, value) for name, value in record.headers if name == ATTEMPTS or not name.startswith(HEADER))
    return Outgoing(letter.origin, record.key, record.value, headers, int(partition))


def _facts(record: Record) -> dict[str, str]:
    named = ((name, value) for name, value in record.headers if name.startswith(HEADER))
    return {name.removeprefix(HEADER): (value or b"").decode("utf-8", "replace") for name, value in named}


async def _partitions(config: KafkaConfig, topics: Sequence[str]) -> list[TopicPartition]:
    client = await connect(config)
    try:
        found = await describe(client)
    finally:
        await client.close()
    return [TopicPartition(topic, n) for topic in topics if topic in found for n in range(found[topic].partitions)]
