"""Commands and deletes as the bus wants them: signed, under the route's key, one record a shard where all are meant.

Slow to import: only from inside a command.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from connectors.codec import to_json
from connectors.kafka.producer import Outgoing
from connectors.signing import RequestIds, Signer
from streams.commands import engines
from streams.settings import Settings, require_signing
from tables.keys import Position, Scope, route, tenant_routes
from tables.policy import Tenant

T = TypeVar("T")

KID: Final = "k1"
PAUSE_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Published:
    """Where the records of one request landed; `request_id` as the bus and the API know it."""

    tenant: Tenant
    request_id: str
    positions: tuple[Position, ...]


def request_id(settings: Settings, scope: Scope, given: str | None) -> str:
    """The id on the bus, bound to the scope as the API binds it, so that the API answers for it too."""
    ids = RequestIds(require_signing(settings).encode())
    return ids.bound(scope, given or uuid.uuid4().hex)


async def publish(
    settings: Settings, topic: str, scope: Scope, data: Mapping[str, object], *, whole: bool
) -> Published:
    """Sign and send `data`; `whole`: to every shard of the tenant. Raises Misconfigured, Unavailable("kafka")."""
    signer = Signer({KID: require_signing(settings).encode()}, KID)
    tenant = await engines.tenant_named(settings, scope.tenant)
    keys = tenant_routes(tenant.id, tenant.shards) if whole else (route(scope, tenant.shards),)
    value = to_json(data)
    records = [Outgoing(topic, key, value, signer.sign(key, value, tenant.id)) for key in keys]
    async with engines.bus(settings) as bus:
        return Published(tenant, str(data["request_id"]), tuple(await bus.send_all(records)))


async def waited(ask: Callable[[], Awaitable[T | None]], seconds: float) -> T | None:
    """The first answer within `seconds`, else None. Raises what `ask` raises."""
    end = time.monotonic() + seconds
    while (answer := await ask()) is None and time.monotonic() < end:  # noqa: ASYNC110 - nobody here could set an event
        await asyncio.sleep(PAUSE_SECONDS)
    return answer
