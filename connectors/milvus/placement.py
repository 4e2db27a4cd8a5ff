"""Which partition a tenant lives in: its own while there is room, else a bucket shared by hash.

The choice is made once, recorded with the tenant and never changed in place: a row that moved between partitions
would exist twice on a server.
"""

from __future__ import annotations

import re

from tables.keys import tenant_digest
from tables.policy import Tenant

DEDICATED_LIMIT = 256  # one partition costs 17–40 ms to create on Milvus Lite; a server holds 1,024 in all
BUCKETS = 64
BUCKETS_MAX = 10_000

_NAME = re.compile(r"t_[0-9a-f]{32}|b_[0-9]{4}")


def choose(tenant: str, dedicated_count: int, limit: int = DEDICATED_LIMIT, buckets: int = BUCKETS) -> str:
    """The partition for a new `tenant` when `dedicated_count` tenants have one of their own already."""
    if not 1 <= buckets <= BUCKETS_MAX:
        raise ValueError("buckets")
    if dedicated_count < limit:
        return dedicated_name(tenant)
    return f"b_{int(tenant_digest(tenant)[:16], 16) % buckets:04d}"


def dedicated_name(tenant: str) -> str:
    return f"t_{tenant_digest(tenant)}"


def is_dedicated(placement: str) -> bool:
    return placement.startswith("t_")


def partition_of(tenant: Tenant) -> str:
    """The recorded partition of `tenant`.

    Raises ValueError when there is none, when it is not one of our names, or when it is another tenant's own: each
    would be a bug of the registrar, and reading or dropping that partition would touch somebody else.
    """
    name = tenant.placement
    if not _NAME.fullmatch(name):
        raise ValueError("the tenant has no valid placement")
    if is_dedicated(name) and name != dedicated_name(tenant.id):
        raise ValueError("the placement belongs to another tenant")
    return name
