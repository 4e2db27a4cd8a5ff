"""The engines a process talks to, opened together and closed together."""

from __future__ import annotations

import time
from dataclasses import dataclass

from redis.asyncio import Redis

from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import KafkaBus
from connectors.kafka.registry import TenantRegistry
from connectors.milvus.config import MilvusConfig
from connectors.milvus.index import MilvusIndex
from connectors.model.embedder import E5Embedder
from connectors.model.fake import HashEmbedder
from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.copies import RedisCopies
from connectors.redis.reader import RedisReader
from connectors.signing import Signer
from streams.ports import Embedder
from streams.settings import Settings, kafka_config, require_signing

KID = "k1"


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
    async def open(cls, settings: Settings) -> Parts:
        """Connect to the bus and read the tenants; Redis and Milvus may be away, they are waited for when used.

        Raises Misconfigured (a topic is missing, no signing secret), Unavailable("kafka").
        """
        signer = Signer({KID: require_signing(settings).encode()}, KID)
        kafka = kafka_config(settings)
        bus = KafkaBus(kafka)
        await bus.start()
        tenants = TenantRegistry(kafka)
        await tenants.start()
        redis_config = RedisConfig(settings.redis)
        redis = connect(redis_config)
        return cls(
            settings=settings,
            kafka=kafka,
            bus=bus,
            tenants=tenants,
            index=MilvusIndex(MilvusConfig(settings.milvus)),
            redis=redis,
            copies=RedisCopies(redis, redis_config),
            reader=RedisReader(redis, redis_config),
            embedder=HashEmbedder() if settings.embedder == "hash" else E5Embedder(),
            signer=signer,
        )

    async def close(self) -> None:
        await self.tenants.stop()
        await self.bus.stop()
        await self.index.close()
        await self.redis.aclose()


def wall_clock() -> int:
    """Epoch milliseconds: the only place where the engine reads the wall clock for its laws."""
    return int(time.time() * 1000)
