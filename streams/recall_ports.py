"""The doors of the API's verbs, beyond `streams.ports`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from tables.keys import Position, Scope
from tables.policy import Tenant

WallClock = Callable[[], int]
"""Epoch milliseconds of the server's clock."""

PartitionOf = Callable[[Tenant, Scope], int]
"""The partition of a scope: murmur2 of `tables.keys.route(scope, tenant.shards)` modulo the partition count."""

Sleep = Callable[[float], Awaitable[None]]
NewId = Callable[[], str]

Headers = tuple[tuple[str, bytes], ...]


class Tenants(Protocol):
    def get(self, tenant: str) -> Tenant | None: ...


class Publish(Protocol):
    """Send one record, return where it landed once every in-sync replica has it. Raises Unavailable."""

    async def __call__(self, topic: str, key: bytes, value: bytes, headers: Headers = ()) -> Position: ...


class Traces(Protocol):
    async def put_trace(self, tenant: str, trace_id: str, trace: bytes) -> None: ...
