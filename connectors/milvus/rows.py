"""Memories to rows of the collection and back. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from connectors.codec import decode, encode
from connectors.milvus.config import BODY_BYTES_MAX, DIMENSIONS
from connectors.milvus.filters import is_row_id
from tables.copies import IndexRow
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Scope, scope_digest, session_digest, task_digest, tenant_digest
from tables.memory import Memory
from tables.policy import Tenant

CLEAR_FIELDS = ("memory_id", "tenant", "owner")
READ_FIELDS = (*CLEAR_FIELDS, "body")


class Scanned(NamedTuple):
    """A row as an audit sees it. `owner` is the digest of the scope."""

    memory_id: str
    owner: str
    status: str
    version: int


def body_of(memory: Memory) -> str:
    """The body as the index holds it. Raises InvalidRecord(TOO_LARGE) when its bytes do not fit the field."""
    raw = encode(memory)
    if len(raw) > BODY_BYTES_MAX:
        raise InvalidRecord(BadRecord.TOO_LARGE, "memory")
    return raw.decode("utf-8")


def checked_vector(vector: Sequence[float]) -> list[float]:
    """Raises ValueError for a vector that a server refuses and Milvus Lite silently keeps."""
    if len(vector) != DIMENSIONS:
        raise ValueError("vector: dimensions")
    size = math.fsum(value * value for value in vector)
    if not math.isfinite(size) or size <= 0.0:
        raise ValueError("vector: not finite or zero")
    return list(vector)


def row_of(tenant: Tenant, row: IndexRow) -> dict[str, Any]:
    """The row to write. Raises ValueError for a memory of another tenant, a foreign id or one whose content is gone."""
    memory = row.memory
    if memory.scope.tenant != tenant.id or not memory.scope.user:
        raise ValueError("a memory of another tenant, or of no user")
    if not is_row_id(memory.id):
        raise ValueError("a memory id that is not ours")
    if memory.closed:
        raise ValueError("an evicted or deleted memory has no place in the index")
    return {
        "memory_id": memory.id,
        "tenant": tenant_digest(tenant.id),
        "owner": scope_digest(memory.scope),
        "session": session_digest(memory.scope, memory.session),
        "task": task_digest(memory.scope, memory.task),
        "kind": memory.kind.value,
        "status": memory.status.value,
        "state": memory.state.value,
        "sensitivity": memory.sensitivity.value,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "last_mentioned_at": memory.last_mentioned_at,
        "version": memory.version,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "body": body_of(memory),
        "vec": checked_vector(row.vector),
    }


def memory_of(entity: Mapping[str, Any], scope: Scope) -> Memory | None:
    """The memory in a row that was read, or None when row or body belong to anyone but `scope`."""
    if entity["tenant"] != tenant_digest(scope.tenant) or entity["owner"] != scope_digest(scope):
        return None
    memory = decode(Memory, str(entity["body"]).encode("utf-8"))
    return memory if memory.scope == scope else None
