"""The collection: hashed scope, status, times and numbers in clear, everything said in `body`, one vector."""

from __future__ import annotations

from typing import Any, Final

from connectors.milvus.client import DataType, MilvusClient
from connectors.milvus.config import BODY_BYTES_MAX, DIMENSIONS

COLLECTION: Final = "memories_v1"

_TEXT: Final = {
    "tenant": 32,
    "owner": 32,
    "session": 32,
    "task": 32,
    "kind": 32,
    "status": 16,
    "state": 16,
    "sensitivity": 32,
    "body": BODY_BYTES_MAX,
}
_WHOLE: Final = ("created_at", "updated_at", "expires_at", "last_mentioned_at", "version")
_REAL: Final = ("confidence", "importance")
FIELDS: Final = frozenset({"memory_id", "vec", *_TEXT, *_WHOLE, *_REAL})


def collection_schema() -> Any:
    """No nullable, default or dynamic fields: they differ between engines, and old dynamic values outlive upserts."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("memory_id", DataType.VARCHAR, max_length=32, is_primary=True)
    for name, length in _TEXT.items():
        schema.add_field(name, DataType.VARCHAR, max_length=length)
    for name in _WHOLE:
        schema.add_field(name, DataType.INT64)
    for name in _REAL:
        schema.add_field(name, DataType.FLOAT)
    schema.add_field("vec", DataType.FLOAT_VECTOR, dim=DIMENSIONS)
    return schema


def index_params() -> Any:
    """Exact search: partitions are small, and on Milvus Lite a graph index is not faster and takes long to build."""
    params = MilvusClient.prepare_index_params()
    params.add_index("vec", index_type="FLAT", metric_type="COSINE")
    return params
