"""The ledger: table rows in RocksDB with a changelog on the bus, written once per micro-batch.

Faust restores the tables (it replays a changelog into RocksDB when a partition comes to this worker); the writing is
ours, because one `table[key] = value` of Faust costs twenty times what the producer beneath needs. A write is:

1. every changelog record is sent and awaited: from here on the row survives this machine;
2. the rows and the changelog offset they stand for go into RocksDB in one atomic batch.

A crash between 1 and 2 is healed by the restore, which starts at the offset that RocksDB holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rocksdict import WriteBatch

from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.topics import changelog
from tables.errors import Unavailable


class Store(Protocol):
    """What we use of Faust's RocksDB store (pinned to faust-streaming 0.15.3)."""

    offset_key: bytes
    _dbs: dict[int, Any]


class Row(NamedTuple):
    """One row to write; `value` None deletes it."""

    table: str
    partition: int
    key: bytes
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every table by name. Reads see what was written; all calls name the partition that owns the row."""

    stores: dict[str, Store]
    bus: KafkaBus

    def get(self, table: str, partition: int, key: bytes) -> bytes | None:
        value: bytes | None = self._open(table, partition).get(key)
        return value

    def scan(self, table: str, partition: int, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Rows whose key starts with `prefix`, in key order."""
        store = self.stores[table]
        for key, value in self._open(table, partition).items(from_key=prefix or None):
            if not key.startswith(prefix):
                return
            if key != store.offset_key:
                yield key, value

    async def write(self, rows: Sequence[Row]) -> None:
        """Make the rows durable, in order. Raises Unavailable("kafka"); a repeat leaves the same rows."""
        if not rows:
            return
        for row in rows:
            self._open(row.table, row.partition)  # nothing goes into the changelog of a partition that left
        sent = [Outgoing(changelog(row.table), row.key, row.value, (), row.partition) for row in rows]
        places = await self.bus.send_all(sent)
        batches: dict[tuple[str, int], WriteBatch] = defaultdict(lambda: WriteBatch(raw_mode=True))
        ends: dict[tuple[str, int], int] = {}
        for row, place in zip(rows, places, strict=True):
            batch = batches[row.table, row.partition]
            if row.value is None:
                batch.delete(row.key)
            else:
                batch.put(row.key, row.value)
            ends[row.table, row.partition] = place.offset
        for (table, partition), batch in batches.items():
            batch.put(self.stores[table].offset_key, str(ends[table, partition]).encode())
            self._open(table, partition).write(batch)

    def _open(self, table: str, partition: int) -> Any:
        """The open database. Raises Unavailable once the partition went to another worker: nothing is opened anew."""
        database = self.stores[table]._dbs.get(partition)
        if database is None:
            raise Unavailable("partition")
        return database
