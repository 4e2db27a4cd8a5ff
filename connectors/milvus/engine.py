"""The synchronous client behind one wall: a deadline on every call, no message of its errors ever logged.

Two states mend themselves here: a collection that is not loaded after the engine was restarted (code 101), and a
partition that another process made or dropped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar

import grpc

from connectors.milvus.client import MilvusClient, MilvusException
from connectors.milvus.config import MilvusConfig
from connectors.milvus.filters import RANGE_END, ids_in, in_range
from connectors.milvus.schema import COLLECTION, FIELDS, collection_schema, index_params
from tables.errors import Misconfigured

T = TypeVar("T")
Row = dict[str, Any]
Span = tuple[int, int]

AWAY: Final = (MilvusException, grpc.RpcError)
NOT_LOADED: Final = 101
FILL: Final = 0.7  # ids are hashes: ranges planned 70 % full rarely overflow a page
STRONG: Final = "Strong"
RECONNECT: Final = {
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.min_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 500,
}

# The client logs every failing call with its filter, and a traceback for each while the engine is away. Nothing of
# that belongs in a log: who calls gets Unavailable, and says it once.
for _name in ("pymilvus.decorators", "pymilvus.client.connection_manager"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class Engine:
    """One connection, safe for several threads. Raises the client's own errors: `MilvusIndex` is the wall."""

    def __init__(self, config: MilvusConfig) -> None:
        self._config = config
        self._client: Any = None
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._timeout = config.timeout_seconds

    def ensure(self) -> None:
        """Create the collection where it is missing, check its fields, load it. Safe to repeat and to race."""
        client = self._connected()
        if not client.has_collection(COLLECTION, timeout=self._timeout):
            self._create(client)
        described = client.describe_collection(COLLECTION, timeout=self._timeout)
        if {field["name"] for field in described["fields"]} != FIELDS:
            raise Misconfigured(f"the collection {COLLECTION} has other fields: drop it and rebuild the index")
        client.load_collection(COLLECTION, timeout=self._timeout)
        self._known = set(client.list_partitions(COLLECTION, timeout=self._timeout))

    def healthy(self) -> bool:
        try:
            client = self._connected()
            return bool(client.has_collection(COLLECTION, timeout=self._config.health_timeout_seconds))
        except AWAY:
            return False

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def has_partition(self, name: str) -> bool:
        """Whether the partition exists; only a yes is remembered, since other processes make partitions too."""
        if name in self._known:
            return True
        if self._connected().has_partition(COLLECTION, name, timeout=self._timeout):
            self._known.add(name)
        return name in self._known

    def upsert(self, partition: str, rows: Sequence[Row]) -> None:
        for start in range(0, len(rows), self._config.rows_per_upsert):
            part = list(rows[start : start + self._config.rows_per_upsert])
            self._in_partition(partition, part)

    def delete(self, partition: str, memory_ids: Sequence[str]) -> None:
        """Delete ids that are known to lie in `partition`. The count that the engine answers means nothing."""
        expression = ids_in(memory_ids)
        self._loaded(
            lambda client: client.delete(COLLECTION, filter=expression, partition_name=partition, timeout=self._timeout)
        )

    def query(self, expression: str, fields: Sequence[str], partition: str | None, limit: int) -> list[Row]:
        """At most `limit` rows at Strong consistency; `partition` None looks through the whole collection."""
        scope = {"partition_names": [partition]} if partition else {}
        found = self._reading(
            partition,
            lambda client: client.query(
                COLLECTION,
                filter=expression,
                output_fields=list(fields),
                limit=limit,
                consistency_level=STRONG,
                timeout=self._timeout,
                **scope,
            ),
        )
        return [dict(row) for row in found]

    def count(self, expression: str, partition: str | None) -> int:
        """Strong count. Without a filter Milvus Lite counts every partition, so one is always given."""
        scope = {"partition_names": [partition]} if partition else {}
        found = self._reading(
            partition,
            lambda client: client.query(
                COLLECTION,
                filter=expression,
                output_fields=["count(*)"],
                consistency_level=STRONG,
                timeout=self._timeout,
                **scope,
            ),
        )
        return int(found[0]["count(*)"]) if found else 0

    def search(
        self, expression: str, vectors: Sequence[list[float]], fields: Sequence[str], partition: str, limit: int
    ) -> list[list[Any]]:
        """Hits of each vector, best first, at Strong consistency."""
        found = self._reading(
            partition,
            lambda client: client.search(
                COLLECTION,
                data=list(vectors),
                anns_field="vec",
                filter=expression,
                limit=limit,
                output_fields=list(fields),
                partition_names=[partition],
                consistency_level=STRONG,
                timeout=self._timeout,
            ),
        )
        return [list(hits) for hits in found]

    def first(
        self, expression: str, fields: Sequence[str], partition: str | None, page: int
    ) -> tuple[list[Row], list[Span]]:
        """All rows when one page holds them, else none and the ranges of ids to ask `page` for, one after the other.

        The client's own iterator describes the collection without a deadline, and plain limits promise no order.
        """
        rows = self.query(expression, fields, partition, page + 1)
        if len(rows) <= page:
            return rows, []
        pieces = max(2, -(-self.count(expression, partition) // max(1, int(page * FILL))))
        return [], list(pairwise(RANGE_END * n // pieces for n in range(pieces + 1)))

    def page(self, expression: str, fields: Sequence[str], partition: str | None, span: Span, page: int) -> list[Row]:
        """All rows of a range. One that is fuller than a page is halved."""
        low, high = span
        rows = self.query(f"{expression} and {in_range(low, high)}", fields, partition, page + 1)
        if len(rows) <= page or high - low < 2:
            return rows
        middle = (low + high) // 2
        left = self.page(expression, fields, partition, (low, middle), page)
        return left + self.page(expression, fields, partition, (middle, high), page)

    def drop_partition(self, name: str) -> None:
        """Drop a partition with all its rows; none of that name is fine. A server wants it released first."""
        client = self._connected()
        self._known.discard(name)
        if not client.has_partition(COLLECTION, name, timeout=self._timeout):
            return
        try:
            client.release_partitions(COLLECTION, name, timeout=self._timeout)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:  # Milvus Lite drops directly
                raise
        client.drop_partition(COLLECTION, name, timeout=self._timeout)

    def _in_partition(self, partition: str, rows: list[Row]) -> None:
        try:
            self._open(partition)
            self._loaded(lambda client: self._write(client, partition, rows))
        except MilvusException:
            if self._still_has(partition):
                raise
            self._open(partition)
            self._loaded(lambda client: self._write(client, partition, rows))

    def _write(self, client: Any, partition: str, rows: list[Row]) -> None:
        client.upsert(COLLECTION, rows, partition_name=partition, timeout=self._timeout)

    def _open(self, name: str) -> None:
        if self.has_partition(name):
            return
        client = self._connected()
        try:
            client.create_partition(COLLECTION, name, timeout=self._timeout)
        except MilvusException:
            if not client.has_partition(COLLECTION, name, timeout=self._timeout):  # else another process was first
                raise
        self._known.add(name)

    def _create(self, client: Any) -> None:
        try:
            client.create_collection(
                COLLECTION,
                schema=collection_schema(),
                index_params=index_params(),
                consistency_level=STRONG,
                timeout=self._timeout,
            )
        except MilvusException:
            if not client.has_collection(COLLECTION, timeout=self._timeout):  # else another process was first
                raise

    def _reading(self, partition: str | None, call: Callable[[Any], Any]) -> Any:
        """The answer, or nothing when the partition does not exist (yet, or any more)."""
        if partition is not None and not self.has_partition(partition):
            return []
        try:
            return self._loaded(call)
        except MilvusException:
            if partition is None or self._still_has(partition):
                raise
            return []

    def _still_has(self, partition: str) -> bool:
        """Ask again: a missing partition has another error code on every engine (200, 65535)."""
        self._known.discard(partition)
        return self.has_partition(partition)

    def _loaded(self, call: Callable[[Any], T]) -> T:
        client = self._connected()
        try:
            return call(client)
        except MilvusException as error:
            if error.code != NOT_LOADED:
                raise
            client.load_collection(COLLECTION, timeout=self._timeout)
            return call(client)

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = MilvusClient(
                    self._config.uri,
                    token=self._config.token,
                    timeout=self._config.connect_timeout_seconds,
                    grpc_options=RECONNECT,
                    dedicated=True,
                )
            return self._client
