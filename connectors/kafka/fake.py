"""The bus in memory: fits `streams.ports.Bus`; every topic a list a partition, in the order sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from connectors.kafka.producer import Headers, Outgoing
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import TOPICS
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position

_SPECS: Final = {spec.name: spec for spec in TOPICS}
_BATCH_BYTES: Final = 61 + 21  # what the broker counts beside a record: the header of its batch, lengths and deltas
_MESSAGE_BYTES_MAX: Final = 1_048_588  # the broker's default


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it lies in the log."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def position(self) -> Position:
        return Position(self.topic, self.partition, self.offset)


class FakeBus:
    """Set `away` to make every send fail as if no broker answered. `logs` may be looked into by tests."""

    def __init__(self, partitions: int = 4) -> None:
        self.away = False
        self.partitions = partitions
        self.logs: dict[tuple[str, int], list[Record]] = {}

    async def send_all(self, records: Sequence[Outgoing]) -> list[Position]:
        """Append in order and say where each landed. Like the real one it may fail with a part of them landed.

        Raises Unavailable("kafka") for a topic that is not provisioned, InvalidRecord(TOO_LARGE).
        """
        return [self.append(record).position for record in records]

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Headers = ()) -> Position:
        return (await self.send_all([Outgoing(topic, key, value, headers)]))[0]

    def append(self, record: Outgoing) -> Record:
        """One record at once, as a producer elsewhere would send it."""
        spec = _SPECS.get(record.topic)
        if self.away or spec is None:
            raise Unavailable("kafka")
        if _size(record) > int(spec.config.get("max.message.bytes", _MESSAGE_BYTES_MAX)):
            raise InvalidRecord(BadRecord.TOO_LARGE, "record")
        partition = record.partition
        if partition is None:
            partition = partition_of_key(record.key or b"", spec.partitions(self.partitions))
        if not 0 <= partition < spec.partitions(self.partitions):
            raise Unavailable("kafka")
        log = self.logs.setdefault((record.topic, partition), [])
        log.append(Record(record.topic, partition, len(log), record.key, record.value, record.headers))
        return log[-1]

    def records(self, topic: str, partition: int | None = None) -> list[Record]:
        """What lies on `topic`, or on one partition of it."""
        if partition is not None:
            return list(self.logs.get((topic, partition), ()))
        return [record for (name, _), log in sorted(self.logs.items()) if name == topic for record in log]


def _size(record: Outgoing) -> int:
    headers = sum(len(name.encode()) + len(value or b"") for name, value in record.headers)
    return _BATCH_BYTES + len(record.key or b"") + len(record.value or b"") + headers
