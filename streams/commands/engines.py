"""The engines a command needs, opened for as long as it runs. Slow to import: only from inside a command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from connectors.kafka.producer import KafkaBus
from connectors.kafka.registry import registered
from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.reader import RedisReader
from streams.settings import Settings, kafka_config
from tables.errors import Misconfigured
from tables.policy import Tenant


@asynccontextmanager
async def bus(settings: Settings) -> AsyncIterator[KafkaBus]:
    """A started producer. Raises Unavailable("kafka")."""
    opened = KafkaBus(kafka_config(settings))
    await opened.start()
    try:
        yield opened
    finally:
        await opened.stop()


@asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[RedisReader]:
    """The reading side of Redis; it connects at its first call."""
    config = RedisConfig(settings.redis)
    client = connect(config)
    try:
        yield RedisReader(client, config)
    finally:
        await client.aclose()


async def tenant_named(settings: Settings, tenant_id: str) -> Tenant:
    """The registered tenant. Raises Misconfigured when there is none of that id, Unavailable("kafka")."""
    tenant = (await registered(kafka_config(settings))).get(tenant_id)
    if tenant is None:
        raise Misconfigured(
            f"the tenant {tenant_id!r} is not registered; `python -m streams tenant list` shows those that are, "
            f"`python -m streams tenant add` registers one"
        )
    return tenant
