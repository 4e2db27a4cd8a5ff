"""The real engine under a player: the bus with the real producer, the API over HTTP, the worker's progress.

Nothing here decides or sleeps blindly: a read carries the token of the writes before it, and what is not yet done is
looked at again until it is.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final, TypeVar

import httpx
import jwt

from connectors.codec import encode
from connectors.http.positions import PositionTokens
from connectors.kafka.producer import Headers, KafkaBus, Outgoing
from connectors.kafka.topics import COMMANDS, DELETE, TENANTS, TURNS
from connectors.redis.reader import RedisReader
from connectors.signing import RequestIds, Signer
from streams.commands import engines
from streams.evaluation.ports import Answer, Json
from streams.evaluation.progress import Progress
from streams.parts import KID
from streams.settings import PREFIX, Settings, require_signing
from tables.command import ActorRole
from tables.erase import due_at
from tables.errors import Misconfigured, Unavailable
from tables.keys import Position, Scope, route
from tables.policy import Policy, Tenant

T = TypeVar("T")

PATIENCE_SECONDS: Final = 60.0  # an answer that is stale or degraded for so long will not get better
PAUSE_SECONDS: Final = 0.05
TOKEN_SECONDS: Final = 6 * 3600
RECALLS_AT_ONCE: Final = 2  # what is measured is a recall, not the queue of this command's own requests
PAGE: Final = "300"
ACTOR: Final = "evaluation"


class RunningEngine:
    """Fits `streams.evaluation.ports.Ground`."""

    def __init__(self, settings: Settings, bus: KafkaBus, reader: RedisReader, client: httpx.AsyncClient) -> None:
        if not settings.jwt_secret:
            raise Misconfigured(f"{PREFIX}JWT_SECRET is not set: no token for the API could be made")
        secret = require_signing(settings).encode()
        self._bus = bus
        self._reader = reader
        self._client = client
        self._signer = Signer({KID: secret}, KID)
        self._ids = RequestIds(secret)
        self._positions = PositionTokens(secret)
        self._progress = Progress(reader.progress)
        self._recalling = asyncio.Semaphore(RECALLS_AT_ONCE)
        self._policies: dict[str, Policy] = {}
        self._bearer: Callable[[Scope, ActorRole], str] = cache(
            lambda scope, role: bearer(settings.jwt_secret, scope, role)
        )

    async def register(self, tenants: Sequence[Tenant]) -> None:
        """Record tenants that nobody has yet; returns when the API knows them. Raises Unavailable, Misconfigured."""
        self._policies |= {tenant.id: tenant.policies[0] for tenant in tenants}
        await self._bus.send_all([Outgoing(TENANTS, tenant.id.encode(), encode(tenant)) for tenant in tenants])
        for tenant in tenants:
            await self._until_known(tenant.id)
        if tenants:  # the first recall of an engine loads what later ones find loaded: it is not measured
            await self.recall(Scope(tenants[0].id, "nobody"), {"query": "hello", "session_id": "first"}, ())

    async def _until_known(self, tenant: str) -> None:
        async def known() -> bool | None:
            response = await self._ask(Scope(tenant, "nobody"), "GET", "/v1/questions")
            if response.status_code == httpx.codes.UNAUTHORIZED:
                raise Misconfigured(f"the API does not take tokens made with {PREFIX}JWT_SECRET")
            return None if response.status_code == httpx.codes.FORBIDDEN else True

        await _until(known, "api", patient=False)

    async def turn(self, scope: Scope, body: Json) -> Position | None:
        return await self._send(TURNS, scope, {**body, "tenant_id": scope.tenant, "user_id": scope.user})

    async def command(self, scope: Scope, body: Json, role: ActorRole) -> Position | None:
        return await self._signed(COMMANDS, scope, body, role)

    async def erase(self, scope: Scope, body: Json) -> Position | None:
        return await self._signed(DELETE, scope, body, ActorRole.USER)

    async def _signed(self, topic: str, scope: Scope, body: Json, role: ActorRole) -> Position | None:
        sub = scope.user if role is ActorRole.USER else ACTOR
        stamped = {
            **body,
            "tenant_id": scope.tenant,
            **({"user_id": scope.user} if scope.user else {}),
            "actor": {"sub": sub, "role": role.value},
            "request_id": self._ids.bound(scope, uuid.uuid4().hex),
        }
        return await self._send(topic, scope, stamped, signed=True)

    async def _send(self, topic: str, scope: Scope, body: Json, *, signed: bool = False) -> Position | None:
        try:
            key = route(scope)
        except UnicodeEncodeError:
            return None
        value = json.dumps(body).encode()  # ASCII: a lone surrogate travels as it would from a careless client
        headers: Headers = self._signer.sign(key, value, scope.tenant) if signed else ()
        (position,) = await self._bus.send_all([Outgoing(topic, key, value, headers)])
        return position

    async def settled(self, positions: Sequence[Position]) -> None:
        await asyncio.gather(*(self._progress.reached(position) for position in positions))

    async def recall(self, scope: Scope, body: Json, after: Sequence[Position]) -> Answer:
        async def asked() -> Answer | None:
            sent = {**body, "after": self._token(scope, after), "render": "none"}
            async with self._recalling:
                begun = time.perf_counter()
                response = await self._ask(scope, "POST", "/v1/recall", content=json.dumps(sent).encode())
                return _answer(response, (time.perf_counter() - begun) * 1000)

        return await _until(asked, "api")

    async def memories(self, scope: Scope, params: Mapping[str, str], after: Sequence[Position]) -> Answer:
        found: list[Any] = []
        cursor = ""
        while True:
            page = await self._read(scope, "/v1/memories", {**params, "limit": PAGE, "cursor": cursor}, after)
            if page.refused:
                return page
            found += page.body["memories"]
            cursor = page.body["cursor"] or ""
            if not cursor:
                return Answer({"memories": found})

    async def questions(self, scope: Scope, after: Sequence[Position]) -> Answer:
        return await self._read(scope, "/v1/questions", {}, after)

    async def next_due(self, scope: Scope) -> int:
        policy = self._policies.get(scope.tenant, Policy())
        view = await self._reader.view(scope, "")
        return min((at for memory in view.memories if (at := due_at(memory, policy))), default=0)

    async def _read(self, scope: Scope, path: str, params: Mapping[str, str], after: Sequence[Position]) -> Answer:
        async def asked() -> Answer | None:
            sent = {**params, "after": self._token(scope, after)}
            return _answer(await self._ask(scope, "GET", path, params=sent), 0.0)

        return await _until(asked, "api")

    async def _ask(self, scope: Scope, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": self._bearer(scope, ActorRole.USER), "content-type": "application/json"}
        try:
            return await self._client.request(method, path, headers=headers, **more)
        except httpx.TransportError as error:
            raise Unavailable("api") from error

    def _token(self, scope: Scope, after: Sequence[Position]) -> str:
        return self._positions.mint(scope.tenant, tuple(after)) if after else ""


def bearer(secret: str, scope: Scope, role: ActorRole) -> str:
    """The header of this caller. An id that no identity can have is written all the same: the API refuses it."""
    now = int(time.time())
    claims = {"tenant": scope.tenant, "sub": scope.user, "role": role.value, "iat": now, "exp": now + TOKEN_SECONDS}
    return f"Bearer {jwt.encode(claims, secret, algorithm='HS256')}"


def _answer(response: httpx.Response, millis: float) -> Answer | None:
    """The answer, or None for one that will be better later: stale, degraded, or an engine away."""
    if response.is_server_error or response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return None
    body = response.json()
    if response.is_success:
        return None if body.get("stale") or body.get("degraded") else Answer(body, millis=millis)
    reasons = " ".join(f"{error.get('field')} {error.get('reason')}" for error in body.get("errors") or ())
    return Answer({}, f"refused with {response.status_code} {reasons or body.get('title', '')}".strip(), millis)


async def _until(ask: Callable[[], Awaitable[T | None]], engine: str, *, patient: bool = True) -> T:
    """The first answer. Raises Unavailable(engine) when there is none in time; not `patient`: at once when away."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            answer = await ask()
        except Unavailable:
            if not patient:
                raise
            answer = None
        if answer is not None:
            return answer
        if time.monotonic() > end:
            raise Unavailable(engine)
        await asyncio.sleep(PAUSE_SECONDS)


@asynccontextmanager
async def connected(settings: Settings, address: str, at_once: int) -> AsyncIterator[RunningEngine]:
    """The engine of these settings, its API at `address`. Raises Unavailable("kafka")."""
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with (
        engines.bus(settings) as bus,
        engines.reader(settings) as reader,
        httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS, trust_env=False, limits=limits) as client,
    ):
        yield RunningEngine(settings, bus, reader, client)
