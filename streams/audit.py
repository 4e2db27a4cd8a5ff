"""Audit: does every memory exist exactly once in the ledger, the index and the copies, with one status and version?

The ledger is read from its changelog (the last value of a key counts), the index and Redis row by row. What is deleted
or evicted must be gone from both. Only ids, statuses and versions are looked at, and only they are reported.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from redis.asyncio import Redis

from connectors.codec import decode, decode_held
from connectors.kafka.config import KafkaConfig
from connectors.kafka.reader import read_to_end
from connectors.kafka.registry import registered
from connectors.kafka.topics import changelog
from connectors.milvus.index import MilvusIndex
from connectors.redis.client import wall
from connectors.redis.config import RedisConfig
from connectors.redis.layout import Layout
from tables.errors import Misconfigured
from tables.keys import Scope, key_parts, scope_digest
from tables.memory import Memory, Status
from tables.policy import Tenant

COPIES: Final = ("index", "redis")
PAUSE_SECONDS: Final = 0.5
SCAN_COUNT: Final = 1000


class Seen(NamedTuple):
    """A memory as one copy has it. `owner` is the digest of its scope."""

    owner: str
    status: str
    version: int


class Difference(NamedTuple):
    """`problem` of: missing, extra, twice, owner, status, version."""

    copy: str
    tenant: str
    memory_id: str
    problem: str
    ledger: str = ""
    found: str = ""


@dataclass(slots=True)
class Ledger:
    """What the ledger says of one tenant: what must be in every copy, and how many there are of each status."""

    held: dict[str, Seen] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Report:
    """`ledger`: tenant → how many memories of each status; `copies`: tenant → copy → how many."""

    ledger: Mapping[str, Mapping[str, int]]
    copies: Mapping[str, Mapping[str, int]]
    differences: tuple[Difference, ...]


class Audit:
    """Raises Unavailable for an engine that is away, Misconfigured for a missing topic or an unknown tenant."""

    def __init__(self, config: KafkaConfig, index: MilvusIndex, redis: Redis, redis_config: RedisConfig) -> None:
        self._config = config
        self._index = index
        self._redis = redis
        self._layout = Layout(redis_config.prefix)

    async def __call__(self, tenant: str = "", *, patience: float = 0.0) -> Report:
        """Compare all tenants, or one. Differences are looked at again for `patience` seconds: a worker may be about to
        mend them."""
        end = time.monotonic() + patience
        report = await self._once(tenant)
        while report.differences and time.monotonic() < end:
            await asyncio.sleep(PAUSE_SECONDS)
            report = await self._once(tenant)
        return report

    async def _once(self, only: str) -> Report:
        tenants = await registered(self._config)
        ledger = await self._ledger()
        redis = await self._copies()
        names = sorted({*tenants, *ledger, *redis})
        if only and only not in names:
            raise Misconfigured(f"the tenant {only!r} is neither registered nor anywhere in the copies")
        names = [only] if only else names
        differences: list[Difference] = []
        counts: dict[str, dict[str, int]] = {}
        for name in names:
            held = ledger.get(name, Ledger()).held
            found = {"index": await self._rows(tenants.get(name)), "redis": redis.get(name, [])}
            counts[name] = {copy: len(found[copy]) for copy in COPIES}
            for copy in COPIES:
                differences += compared(copy, name, held, found[copy])
        statuses = {name: dict(ledger.get(name, Ledger()).statuses) for name in names}
        return Report(statuses, counts, tuple(differences))

    async def _ledger(self) -> dict[str, Ledger]:
        """The last row of every key."""
        rows: dict[bytes, tuple[str, str, Seen] | None] = {}
        async for record in read_to_end(self._config, changelog("memories")):
            if record.key is not None:
                rows[record.key] = None if record.value is None else _row(record.key, record.value)
        found: dict[str, Ledger] = {}
        for row in rows.values():
            if row is None:
                continue
            tenant, memory_id, seen = row
            ledger = found.setdefault(tenant, Ledger())
            ledger.statuses[seen.status] += 1
            if Status(seen.status) not in (Status.DELETED, Status.EVICTED):
                ledger.held[memory_id] = seen
        return found

    async def _rows(self, tenant: Tenant | None) -> list[tuple[str, Seen]]:
        if tenant is None:
            return []
        return [(row.memory_id, Seen(row.owner, row.status, row.version)) async for row in self._index.scan(tenant)]

    async def _copies(self) -> dict[str, list[tuple[str, Seen]]]:
        """Every memory in Redis by tenant, whoever's key it lies under: the owner is the key's."""
        found: dict[str, list[tuple[str, Seen]]] = {}
        head, tail = self._layout.memories(Scope("", "")).split(scope_digest(Scope("", "")))
        with wall():
            async for key in self._redis.scan_iter(match=f"{head}*{tail}", count=SCAN_COUNT):
                owner = key.decode("ascii").removeprefix(head).removesuffix(tail)
                rows: dict[bytes, bytes] = await cast(Any, self._redis.hgetall(key))
                for field_name, raw in rows.items():
                    memory = decode(Memory, raw)
                    seen = Seen(owner, memory.status.value, memory.version)
                    found.setdefault(memory.scope.tenant, []).append((field_name.decode("ascii"), seen))
        return found


def compared(copy: str, tenant: str, ledger: Mapping[str, Seen], found: Iterable[tuple[str, Seen]]) -> list[Difference]:
    """Where a copy says something else than the ledger, by id."""
    differences: list[Difference] = []
    seen: set[str] = set()
    for memory_id, row in found:
        if memory_id in seen:
            differences.append(Difference(copy, tenant, memory_id, "twice"))
            continue
        seen.add(memory_id)
        held = ledger.get(memory_id)
        if held is None:
            differences.append(Difference(copy, tenant, memory_id, "extra", "", row.status))
            continue
        for problem in ("owner", "status", "version"):
            wanted, has = getattr(held, problem), getattr(row, problem)
            if wanted != has:
                differences.append(Difference(copy, tenant, memory_id, problem, str(wanted), str(has)))
    missing = sorted(ledger.keys() - seen)
    differences += [Difference(copy, tenant, one, "missing", ledger[one].status, "") for one in missing]
    return differences


def _row(key: bytes, value: bytes) -> tuple[str, str, Seen]:
    tenant, user, memory_id = key_parts(key)
    memory, _ = decode_held(value)
    return tenant, memory_id, Seen(scope_digest(Scope(tenant, user)), memory.status.value, memory.version)
