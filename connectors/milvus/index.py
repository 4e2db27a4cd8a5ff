"""The vector index on Milvus: every call names the tenant, goes to its partition, filters and checks again.

Fits `streams.ports.Index`. Any error of the client or of gRPC leaves here as Unavailable("milvus") with its cause
kept; the outcome of a write that failed so is unknown, and every write may be repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from connectors.milvus import filters
from connectors.milvus.config import MilvusConfig
from connectors.milvus.engine import AWAY, Engine, Row
from connectors.milvus.placement import is_dedicated, partition_of
from connectors.milvus.residue import BackQueries
from connectors.milvus.rows import CLEAR_FIELDS, READ_FIELDS, Scanned, checked_vector, memory_of, row_of
from tables.copies import Hit, IndexRow
from tables.errors import Unavailable
from tables.keys import Scope
from tables.memory import Memory
from tables.policy import Tenant
from tables.receipt import Query

T = TypeVar("T")

SCAN_FIELDS = (*CLEAR_FIELDS, "status", "version")


class MilvusIndex:
    """Call `ensure` once before use and `close` at the end. Safe to share between tasks of one event loop."""

    def __init__(self, config: MilvusConfig) -> None:
        self._config = config
        self._engine = Engine(config)
        self._pool = ThreadPoolExecutor(config.threads, thread_name_prefix="milvus")

    async def ensure(self) -> None:
        """Collection created, checked and loaded. Raises Misconfigured when it has other fields than ours."""
        await self._run(self._engine.ensure)

    async def healthy(self) -> bool:
        """Whether the engine answers and holds the collection; never raises, answers within the health timeout."""
        return await self._run(self._engine.healthy)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, self._engine.close)
        self._pool.shutdown(wait=False)

    async def upsert(self, tenant: Tenant, rows: Sequence[IndexRow]) -> None:
        """Write the rows; of two with one id the last counts. They are findable when this returns.

        Checked before anything is written: InvalidRecord(TOO_LARGE) for a body that does not fit, ValueError for a
        row that is not this tenant's, an id or vector that is not ours, or a memory whose content is gone.
        """
        partition = partition_of(tenant)
        ready = {row.memory.id: row_of(tenant, row) for row in rows}
        if ready:
            await self._run(lambda: self._engine.upsert(partition, list(ready.values())))

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        """Delete those of `memory_ids` that are this tenant's; others stay. Proof is `residue`, not this return."""
        partition = partition_of(tenant)
        ids = filters.known_ids(memory_ids)
        size = self._config.ids_per_call
        for start in range(0, len(ids), size):
            await self._run(self._delete_own, tenant.id, partition, ids[start : start + size])

    async def search(
        self, tenant: Tenant, scope: Scope, vector: Sequence[float], *, tasks: Sequence[str], now: int, limit: int
    ) -> list[Hit]:
        """At most `limit` recallable memories of the scope, nearest first, of no task or of one of `tasks`."""
        partition = _partition_for(tenant, scope)
        expression = filters.recallable(scope, tasks, now)
        if limit < 1:
            return []
        probe = checked_vector(vector)
        found = await self._run(self._engine.search, expression, [probe], READ_FIELDS, partition, limit)
        hits = [(memory_of(hit["entity"], scope), float(hit["distance"])) for hit in (found[0] if found else [])]
        return [Hit(memory, similarity) for memory, similarity in hits if memory is not None]

    async def owned(self, tenant: Tenant, scope: Scope) -> list[Memory]:
        """Every memory of the scope that the index holds, whatever its status, by id."""
        partition = _partition_for(tenant, scope)
        expression = filters.of_owner(scope)
        page = self._config.page_rows
        memories: list[Memory] = []
        async for rows in self._pages(expression, READ_FIELDS, partition, page):
            memories += [memory for row in rows if (memory := memory_of(row, scope)) is not None]
        return sorted(memories, key=lambda memory: memory.id)

    async def residue(
        self, tenant: Tenant, scope: Scope, memory_ids: Sequence[str], probes: Sequence[Sequence[float]]
    ) -> tuple[Query, ...]:
        """What is left of `memory_ids`, or of the whole scope when there are none, by independent Strong reads.

        A scope without a user means the whole tenant. Nothing of another scope is ever counted.
        """
        partition = partition_of(tenant)
        if scope.tenant != tenant.id:
            raise ValueError("a scope of another tenant")
        queries = BackQueries(self._engine, self._config, partition, scope)
        if memory_ids:
            return await self._run(queries.of_ids, memory_ids, probes)
        return await self._run(queries.of_all, probes)

    async def count(self, tenant: Tenant, scope: Scope) -> int:
        """Rows of the user, or of the whole tenant for a scope without a user; any status, Strong."""
        partition = partition_of(tenant)
        if scope.tenant != tenant.id:
            raise ValueError("a scope of another tenant")
        return await self._run(self._engine.count, filters.of_scope(scope), partition)

    async def scan(self, tenant: Tenant) -> AsyncIterator[Scanned]:
        """Every row of the tenant, by ranges of ids; rows written meanwhile may or may not be among them."""
        partition = partition_of(tenant)
        expression = filters.of_tenant(tenant.id)
        page = self._config.page_ids
        async for rows in self._pages(expression, SCAN_FIELDS, partition, page):
            for row in sorted(rows, key=lambda row: str(row["memory_id"])):
                yield Scanned(str(row["memory_id"]), str(row["owner"]), str(row["status"]), int(row["version"]))

    async def drop_tenant(self, tenant: Tenant) -> None:
        """Delete everything of the tenant: its own partition at once, out of a shared one page by page.

        Dropping a partition also takes the bytes away; deleted rows of a shared one stay in files until compaction.
        """
        partition = partition_of(tenant)
        if is_dedicated(partition):
            await self._run(self._engine.drop_partition, partition)
            return
        expression = filters.of_tenant(tenant.id)
        size = self._config.ids_per_call
        for _ in range(await self._run(self._engine.count, expression, partition) // size + 2):
            rows = await self._run(self._engine.query, expression, CLEAR_FIELDS, partition, size)
            if not rows:
                return
            ids = [str(row["memory_id"]) for row in rows]
            await self._run(self._engine.delete, partition, ids)
        if await self.count(tenant, Scope(tenant.id, "")):
            raise Unavailable("milvus")  # rows keep coming: the fence is not yet held everywhere

    async def _pages(
        self, expression: str, fields: Sequence[str], partition: str, page: int
    ) -> AsyncIterator[list[Row]]:
        rows, spans = await self._run(self._engine.first, expression, fields, partition, page)
        yield rows
        for span in spans:
            yield await self._run(self._engine.page, expression, fields, partition, span, page)

    def _delete_own(self, tenant: str, partition: str, ids: list[str]) -> None:
        expression = f"{filters.ids_in(ids)} and {filters.of_tenant(tenant)}"
        mine = [str(row["memory_id"]) for row in self._engine.query(expression, CLEAR_FIELDS, partition, len(ids))]
        if mine:
            self._engine.delete(partition, mine)

    async def _run(self, call: Callable[..., T], *arguments: object) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)
        except AWAY as error:
            raise Unavailable("milvus") from error


def _partition_for(tenant: Tenant, scope: Scope) -> str:
    if scope.tenant != tenant.id or not scope.user:
        raise ValueError("a scope of another tenant, or of no user")
    return partition_of(tenant)
