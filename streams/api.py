"""The wiring of the API process: doors over the same engines; it writes unreadable marks, traces and topics only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog
from fastapi import FastAPI

from connectors.http.app import build
from connectors.http.ports import ServiceSet
from connectors.http.positions import PositionTokens
from connectors.http.tokens import JwtVerifier, TokenSettings
from connectors.kafka.routing import partition_of
from connectors.metrics import REGISTRY
from connectors.signing import RequestIds
from streams.doors import Doors
from streams.memories import Memories
from streams.parts import Parts, until_there, wall_clock
from streams.reading import Reading
from streams.recall import Recall
from streams.settings import Settings, require_signing
from tables.keys import Scope
from tables.policy import Tenant
from tables.ranking import Calibration

log = structlog.get_logger()

E5: Final = Calibration()
HASHED: Final = Calibration(0.0, 0.8)  # the fast stand-in of tests: unrelated texts are at right angles
INDEX_CHECK_SECONDS: Final = 2.0  # an index that comes (back) up is served again within this


class Readiness:
    """Which parts can be reached now."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def ready(self) -> Mapping[str, bool]:
        parts = self._parts
        redis, milvus, kafka = await asyncio.gather(parts.reader.healthy(), parts.index.healthy(), parts.bus.healthy())
        return {"redis": redis, "milvus": milvus, "kafka": kafka}


def create(settings: Settings) -> FastAPI:
    """The ASGI application; it connects in its lifespan. Raises Misconfigured for settings that cannot work."""
    parts = Parts.make(settings)
    secret = require_signing(settings).encode()

    def placed(tenant: Tenant, scope: Scope) -> int:
        return partition_of(tenant, scope, settings.partitions)

    reading = Reading(
        reader=parts.reader, index=parts.index, tenants=parts.tenants, partition_of=placed, clock=wall_clock
    )
    calibration = HASHED if settings.embedder == "hash" else E5
    services = ServiceSet(
        parts.tenants,
        Recall(reading, parts.index, parts.embedder, traces=parts.reader, calibration=calibration),
        Memories(reading),
        Doors(reading, parts.reader, parts.bus.publish, parts.signer, RequestIds(secret), sleep=asyncio.sleep),
        Readiness(parts),
    )
    verifier = JwtVerifier(TokenSettings(secret=settings.jwt_secret, jwks=settings.jwks))
    return build(services, verifier, PositionTokens(secret), REGISTRY, lifespan=_lifespan(parts))


def _lifespan(parts: Parts):  # type: ignore[no-untyped-def]  # Starlette's lifespan type is a private union
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await until_there(parts.connect)
        index = asyncio.create_task(_keep_index(parts), name="index")
        await parts.embedder.query("hello")  # the model loads now, not in the first recall
        try:
            yield
        finally:
            index.cancel()
            with suppress(asyncio.CancelledError):
                await index
            await parts.close()

    return lifespan


async def _keep_index(parts: Parts) -> None:
    while True:
        if not await parts.index.healthy():
            await until_there(parts.index.ensure)
        await asyncio.sleep(INDEX_CHECK_SECONDS)
