"""Back-queries: after an erasure, look for what should be gone along roads that do not share their mistakes.

All at Strong consistency. What an engine says it deleted is no evidence; only these are.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.milvus.config import NEIGHBOURS, MilvusConfig
from connectors.milvus.engine import Engine
from connectors.milvus.filters import ids_in, known_ids, of_scope
from connectors.milvus.rows import CLEAR_FIELDS, checked_vector
from tables.keys import Scope, scope_digest, tenant_digest
from tables.receipt import Query

PROBES_PER_CALL = 50


class BackQueries:
    """The evidence for one scope: a user, or a whole tenant where the scope names no user."""

    def __init__(self, engine: Engine, config: MilvusConfig, partition: str, scope: Scope) -> None:
        self._engine = engine
        self._config = config
        self._partition = partition
        self._scope = scope
        self._own = of_scope(scope)

    def of_ids(self, memory_ids: Sequence[str], probes: Sequence[Sequence[float]]) -> tuple[Query, ...]:
        """How many of `memory_ids` each road still finds; ids of other scopes are never counted."""
        ids = known_ids(memory_ids)
        size = self._config.ids_per_query
        parts = [ids[start : start + size] for start in range(0, len(ids), size)]
        return (
            Query("by_id", sum(self._rows(part, self._partition) for part in parts)),
            Query("by_id_anywhere", sum(self._rows(part, None) for part in parts)),
            Query("by_scope", len(set(ids) & self._all_ids(self._partition))),
            Query("count", sum(self._count(part) for part in parts)),
            Query("own_vector", len(set(ids) & self._near(probes))),
            Query("point_lookup", sum(self._points(part) for part in parts)),
        )

    def of_all(self, probes: Sequence[Sequence[float]]) -> tuple[Query, ...]:
        """How many rows of the scope each road still finds."""
        return (
            Query("by_scope", len(self._all_ids(self._partition))),
            Query("by_scope_anywhere", len(self._all_ids(None))),
            Query("count", self._engine.count(self._own, self._partition)),
            Query("own_vector", len(self._near(probes))),
        )

    def _rows(self, ids: list[str], partition: str | None) -> int:
        return len(self._engine.query(f"{ids_in(ids)} and {self._own}", ["memory_id"], partition, len(ids) * 2))

    def _count(self, ids: list[str]) -> int:
        return self._engine.count(f"{ids_in(ids)} and {self._own}", self._partition)

    def _points(self, ids: list[str]) -> int:
        """The point lookup takes no other condition, so whose row it is gets checked here."""
        rows = self._engine.query(ids_in(ids), CLEAR_FIELDS, None, len(ids) * 2)
        return sum(self._is_ours(row["tenant"], row["owner"]) for row in rows)

    def _is_ours(self, tenant: str, owner: str) -> bool:
        mine = not self._scope.user or owner == scope_digest(self._scope)
        return mine and tenant == tenant_digest(self._scope.tenant)

    def _all_ids(self, partition: str | None) -> set[str]:
        page, fields = self._config.page_ids, ["memory_id"]
        rows, spans = self._engine.first(self._own, fields, partition, page)
        for span in spans:
            rows += self._engine.page(self._own, fields, partition, span, page)
        return {str(row["memory_id"]) for row in rows}

    def _near(self, probes: Sequence[Sequence[float]]) -> set[str]:
        vectors = [checked_vector(probe) for probe in probes]
        found: set[str] = set()
        for start in range(0, len(vectors), PROBES_PER_CALL):
            part = vectors[start : start + PROBES_PER_CALL]
            for hits in self._engine.search(self._own, part, ["memory_id"], self._partition, NEIGHBOURS):
                found.update(str(hit["memory_id"]) for hit in hits)
        return found
