"""The index in memory: the same checks and answers as `MilvusIndex`, held to the same contract tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from connectors.milvus import filters
from connectors.milvus.config import NEIGHBOURS
from connectors.milvus.placement import is_dedicated, partition_of
from connectors.milvus.rows import Scanned, checked_vector, memory_of, row_of
from tables.copies import Hit, IndexRow
from tables.errors import Unavailable
from tables.keys import Scope, scope_digest, task_digest, tenant_digest
from tables.memory import Memory, State, Status
from tables.policy import Tenant
from tables.receipt import Query

ID_QUERIES = ("by_id", "by_id_anywhere", "by_scope", "count", "own_vector", "point_lookup")
ALL_QUERIES = ("by_scope", "by_scope_anywhere", "count", "own_vector")


class FakeIndex:
    """Set `away` to make every call fail as if the engine were gone. `partitions` may be looked into by tests."""

    def __init__(self) -> None:
        self.away = False
        self.partitions: dict[str, dict[str, dict[str, Any]]] = {}

    async def ensure(self) -> None:
        self._check()

    async def healthy(self) -> bool:
        return not self.away

    async def close(self) -> None:
        """Nothing to close."""

    async def upsert(self, tenant: Tenant, rows: Sequence[IndexRow]) -> None:
        partition = partition_of(tenant)
        ready = {row.memory.id: row_of(tenant, row) for row in rows}
        self._check()
        if ready:
            self.partitions.setdefault(partition, {}).update(ready)

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        self._check()
        held = self.partitions.get(partition_of(tenant), {})
        for memory_id in filters.known_ids(memory_ids):
            if memory_id in held and held[memory_id]["tenant"] == tenant_digest(tenant.id):
                del held[memory_id]

    async def search(
        self, tenant: Tenant, scope: Scope, vector: Sequence[float], *, tasks: Sequence[str], now: int, limit: int
    ) -> list[Hit]:
        _checked_scope(tenant, scope, user=True)
        wanted = {"", *(task_digest(scope, task) for task in tasks)}
        probe = checked_vector(vector)
        hits = [
            Hit(memory, _cosine(probe, row["vec"]))
            for row in self._of(tenant, scope)
            if _recallable(row, wanted, now) and (memory := memory_of(row, scope)) is not None
        ]
        return sorted(hits, key=lambda hit: -hit.similarity)[: max(0, limit)]

    async def owned(self, tenant: Tenant, scope: Scope) -> list[Memory]:
        _checked_scope(tenant, scope, user=True)
        memories = [memory for row in self._of(tenant, scope) if (memory := memory_of(row, scope)) is not None]
        return sorted(memories, key=lambda memory: memory.id)

    async def residue(
        self, tenant: Tenant, scope: Scope, memory_ids: Sequence[str], probes: Sequence[Sequence[float]]
    ) -> tuple[Query, ...]:
        _checked_scope(tenant, scope, user=False)
        vectors = [checked_vector(probe) for probe in probes]
        rows = self._of(tenant, scope)
        held = {row["memory_id"] for row in rows}
        near = {key for vector in vectors for key in _nearest(vector, rows)}
        if not memory_ids:
            return tuple(Query(name, len(near if name == "own_vector" else held)) for name in ALL_QUERIES)
        ids = set(filters.known_ids(memory_ids))
        return tuple(Query(name, len(ids & (near if name == "own_vector" else held))) for name in ID_QUERIES)

    async def count(self, tenant: Tenant, scope: Scope) -> int:
        _checked_scope(tenant, scope, user=False)
        return len(self._of(tenant, scope))

    async def scan(self, tenant: Tenant) -> AsyncIterator[Scanned]:
        for row in sorted(self._of(tenant, Scope(tenant.id, "")), key=lambda row: str(row["memory_id"])):
            yield Scanned(row["memory_id"], row["owner"], row["status"], row["version"])

    async def drop_tenant(self, tenant: Tenant) -> None:
        self._check()
        partition = partition_of(tenant)
        if is_dedicated(partition):
            self.partitions.pop(partition, None)
            return
        mine = tenant_digest(tenant.id)
        held = self.partitions.get(partition, {})
        self.partitions[partition] = {key: row for key, row in held.items() if row["tenant"] != mine}

    def _of(self, tenant: Tenant, scope: Scope) -> list[dict[str, Any]]:
        self._check()
        owner = scope_digest(scope) if scope.user else ""
        return [
            row
            for row in self.partitions.get(partition_of(tenant), {}).values()
            if row["tenant"] == tenant_digest(tenant.id) and owner in ("", row["owner"])
        ]

    def _check(self) -> None:
        if self.away:
            raise Unavailable("milvus")


def _recallable(row: dict[str, Any], tasks: set[str], now: int) -> bool:
    alive = row["expires_at"] == 0 or row["expires_at"] > now
    shown = row["status"] == Status.ACTIVE.value and row["state"] != State.DRAFT.value
    return alive and shown and row["task"] in tasks


def _nearest(vector: Sequence[float], rows: Sequence[dict[str, Any]]) -> list[str]:
    ranked = sorted(rows, key=lambda row: -_cosine(vector, row["vec"]))
    return [row["memory_id"] for row in ranked[:NEIGHBOURS]]


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    a, b = np.asarray(left, np.float32), np.asarray(right, np.float32)
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


def _checked_scope(tenant: Tenant, scope: Scope, *, user: bool) -> None:
    if scope.tenant != tenant.id or (user and not scope.user):
        raise ValueError("a scope of another tenant, or of no user")
