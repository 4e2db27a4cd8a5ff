"""The tenants, read from `memory.tenants.v1` to the end before anything is served, and followed from then on."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from connectors.codec import decode, encode
from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import KafkaBus
from connectors.kafka.reader import follow, read_to_end
from connectors.kafka.topics import TENANTS
from tables.errors import InvalidRecord, Misconfigured, Unavailable
from tables.keys import checked_id
from tables.policy import Tenant

RETRY_SECONDS = 1.0  # between two attempts to reach the broker again
READ_SECONDS = 0.75  # a poll that ended so long after a moment has seen everything written before it


class TenantRegistry:
    """Every registered tenant. What is fixed for life (shards, clock, placement) comes from the first record seen."""

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config
        self._tenants: dict[str, Tenant] = {}
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._read_at = 0.0

    def read_since(self, moment: float) -> bool:
        """Whether everything registered before `moment` (`time.monotonic`) has been read by now."""
        return self._read_at >= moment + READ_SECONDS

    def get(self, tenant: str) -> Tenant | None:
        return self._tenants.get(tenant)

    def all(self) -> tuple[Tenant, ...]:
        return tuple(self._tenants.values())

    async def start(self) -> None:
        """Read the topic to its end, then keep following. Raises Misconfigured when the topic is missing."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow(), name="tenants")
        waiting = asyncio.create_task(self._ready.wait())
        await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self) -> None:
        while True:
            try:
                async for record in follow(self._config, TENANTS):
                    if record is None:
                        self._read_at = time.monotonic()
                        self._ready.set()
                    else:
                        self._take(record.value)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)

    def _take(self, value: bytes | None) -> None:
        if value is None:
            return
        with suppress(InvalidRecord):  # written by the registrar alone; a foreign record cannot unregister anybody
            tenant = decode(Tenant, value)
            self._tenants[tenant.id] = merged(self._tenants.get(tenant.id), tenant)


def merged(first: Tenant | None, later: Tenant) -> Tenant:
    """`later` with what never changes in place taken from `first`."""
    if first is None:
        return later
    return Tenant(first.id, first.shards, first.clock, first.placement, later.policies)


async def registered(config: KafkaConfig) -> dict[str, Tenant]:
    """The tenants as they are now. Raises Misconfigured when the topic is missing, Unavailable("kafka")."""
    tenants: dict[str, Tenant] = {}
    async for record in read_to_end(config, TENANTS):
        if record.value is not None:
            tenant = decode(Tenant, record.value)
            tenants[tenant.id] = merged(tenants.get(tenant.id), tenant)
    return tenants


async def register(config: KafkaConfig, bus: KafkaBus, tenant: Tenant) -> Tenant:
    """Record `tenant` and return it as it stands. A new policy joins the others, the rest must be as before.

    Raises Misconfigured when shards, clock or placement differ from what is registered.
    """
    checked_id(tenant.id, "tenant_id")
    held = (await registered(config)).get(tenant.id)
    if held is not None:
        _refuse_changes(held, tenant)
        known = {policy.version for policy in held.policies}
        fresh = tuple(policy for policy in tenant.policies if policy.version not in known)
        tenant = Tenant(held.id, held.shards, held.clock, held.placement, held.policies + fresh)
        if not fresh:
            return held
    await bus.publish(TENANTS, tenant.id.encode(), encode(tenant))
    return tenant


def _refuse_changes(held: Tenant, wanted: Tenant) -> None:
    for name in ("shards", "clock"):
        if getattr(held, name) != getattr(wanted, name):
            raise Misconfigured(
                f"{name} of a tenant is fixed for life: registered with {getattr(held, name)}, "
                f"asked for {getattr(wanted, name)}; register another tenant id instead"
            )
