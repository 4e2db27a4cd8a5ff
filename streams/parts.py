"""The engines a process talks to, opened together and closed together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog
from redis.asyncio import Redis

from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import KafkaBus
from connectors.kafka.registry import TenantRegistry
from connectors.milvus.config import MilvusConfig
from connectors.milvus.index import MilvusIndex
from connectors.model.embedder import NanoEmbedder
from connectors.model.fake import FakeEmbedder
from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.copies import RedisCopies
from connectors.redis.reader import RedisReader
from connectors.signing import Signer
from streams.ports import Embedder
from streams.settings import Settings, kafka_config, require_signing
from tables.errors import Unavailable

T = TypeVar("T")

log = structlog.get_logger()

KID: Final = "k1"
START_PAUSE_SECONDS_MAX: Final = 2.0  # an engine that comes up is noticed within this


@dataclass(slots=True)
class Parts:
    """Everything real that a worker or the API stands on."""

    settings: Settings
    kafka: KafkaConfig
    bus: KafkaBus
    tenants: TenantRegistry
    index: MilvusIndex
    redis: Redis
    copies: RedisCopies
    reader: RedisReader
    embedder: Embedder
    signer: Signer

    @classmethod
    def make(cls, settings: Settings) -> Parts:
        """Everything built, nothing connected. Raises Misconfigured when there is no signing secret."""
        signer = Signer({KID: require_signing(settings).encode()}, KID)
        kafka = kafka_config(settings)
        redis_config = RedisConfig(settings.redis)
        redis = connect(redis_config)
        return cls(
            settings=settings,
            kafka=kafka,
            bus=KafkaBus(kafka),
            tenants=TenantRegistry(kafka),
            index=MilvusIndex(MilvusConfig(settings.milvus)),
            redis=redis,
            copies=RedisCopies(redis, redis_config),
            reader=RedisReader(redis, redis_config),
            embedder=FakeEmbedder() if settings.embedder == "hash" else NanoEmbedder(),
            signer=signer,
        )

    async def connect(self) -> None:
        """Reach the bus and read the tenants to the end; Redis and Milvus are waited for when they are used.

        May be called again after a failure. Raises Misconfigured (a topic is missing), Unavailable("kafka").
        """
        if not self.bus.started:
            await self.bus.start()
        await self.tenants.start()

    async def close(self) -> None:
        await self.tenants.stop()
        await self.bus.stop()
        await self.index.close()
        await self.redis.aclose()


async def until_there(call: Callable[[], Awaitable[T]]) -> T:
    """The result of `call`, repeated while its engine is away: a process may start before its engines."""
    seconds = 0.1
    while True:
        try:
            return await call()
        except Unavailable as error:
            log.warning("waiting", step="start", engine=error.engine)
            await asyncio.sleep(seconds)
            seconds = min(seconds * 2, START_PAUSE_SECONDS_MAX)


def wall_clock() -> int:
    """Epoch milliseconds: the only place where the engine reads the wall clock for its laws."""
    return int(time.time() * 1000)
