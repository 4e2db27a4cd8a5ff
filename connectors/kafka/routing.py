"""Which partition a key belongs to: murmur2, as the Java client and aiokafka do it by default."""

from __future__ import annotations

from functools import lru_cache

from aiokafka.partitioner import murmur2

from tables.keys import Scope, route
from tables.policy import Tenant


@lru_cache(maxsize=65_536)
def partition_of_key(key: bytes, partitions: int) -> int:
    """The partition of `key` among `partitions`."""
    return int((murmur2(key) & 0x7FFFFFFF) % partitions)


def partition_of(tenant: Tenant, scope: Scope, partitions: int) -> int:
    """The partition on which everything of this user meets."""
    return partition_of_key(route(scope, tenant.shards), partitions)
