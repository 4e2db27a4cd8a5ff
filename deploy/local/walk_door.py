"""How the walk talks to the running engine: the bus as a platform would, the API as an assistant would."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import httpx
import jwt

from connectors.codec import parse_json, to_json
from connectors.http.positions import PositionTokens
from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.reader import read_to_end
from connectors.kafka.registry import register
from connectors.kafka.topics import CHANGES, COMMANDS, TURNS, dead_letter
from connectors.milvus.placement import choose
from deploy.local.engine import LocalEngine
from deploy.local.walk_script import Said
from streams.settings import kafka_config, load
from tables.keys import Position, Scope, route
from tables.policy import Tenant

TOKEN_SECONDS = 900
Json = dict[str, Any]


class Door:
    """An open connection to the engine of this folder; close it."""

    def __init__(self, engine: LocalEngine) -> None:
        settings = load(engine.settings())
        self._config: KafkaConfig = kafka_config(settings)
        self._bus = KafkaBus(self._config)
        self._secret = settings.jwt_secret
        self._tokens = PositionTokens(settings.signing_secret.encode())
        self.address = f"http://{settings.api_host}:{settings.api_port}"
        self._client = httpx.AsyncClient(base_url=self.address, timeout=15)
        self._after: dict[Scope, str] = {}

    async def open(self, tenants: Sequence[str]) -> None:
        await self._bus.start()
        for tenant in tenants:
            await register(self._config, self._bus, Tenant(tenant, placement=choose(tenant, 0)))

    async def close(self) -> None:
        await self._bus.stop()
        await self._client.aclose()

    async def say(self, turns: Sequence[Said], run: str) -> None:
        """Stream turns through the topic; later reads of each user wait for them."""
        now = int(time.time() * 1000)
        records = [Outgoing(TURNS, route(t.scope), to_json(_turn(t, now, f"{run}-{n}"))) for n, t in enumerate(turns)]
        landed = await self._bus.send_all(records)
        last: dict[Scope, Position] = {t.scope: place for t, place in zip(turns, landed, strict=True)}
        for scope, place in last.items():
            self._after[scope] = self._tokens.mint(scope.tenant, (place,))

    async def send_bad(self, scope: Scope) -> None:
        """Three records that can never be right."""
        misplaced = _turn(Said(scope, "s-1", 1, "hello there"), int(time.time() * 1000), "misplaced")
        await self._bus.send_all(
            [
                Outgoing(TURNS, route(scope), b"not json at all"),
                Outgoing(TURNS, b"another-key", to_json(misplaced)),
                Outgoing(COMMANDS, route(scope), to_json(_unsigned(scope))),
            ]
        )

    async def get(self, scope: Scope, path: str, **query: Any) -> Json:
        return await self.call(scope, "GET", path, params={**self._waits(scope), **query})

    async def recall(self, scope: Scope, query: str, session: str) -> Json:
        body = {"query": query, "session_id": session, **self._waits(scope)}
        return await self.call(scope, "POST", "/v1/recall", json=body)

    async def call(self, scope: Scope, method: str, path: str, **more: Any) -> Json:
        """The JSON answer; `status` holds the HTTP status of a refusal."""
        answer = await self._client.request(method, path, headers=self._bearer(scope), **more)
        body: Json = answer.json()
        return body if answer.is_success else {"status": answer.status_code}

    async def letters(self, count: int) -> list[tuple[str, str]]:
        """(topic, reason) of the dead letters, once there are `count` of them or 5 s have passed."""
        end = time.monotonic() + 5
        while True:
            found: list[tuple[str, str]] = []
            for topic in (TURNS, COMMANDS):
                letters = [record async for record in read_to_end(self._config, dead_letter(topic))]
                found += [(topic, dict(record.headers)["dlq.reason"].decode()) for record in letters]
            if len(found) >= count or time.monotonic() > end:
                return found

    async def rules(self) -> dict[str, list[str]]:
        """Memory id → the rules of its change events, in order."""
        rules: dict[str, list[str]] = {}
        async for record in read_to_end(self._config, CHANGES):
            event = parse_json(record.value)
            if isinstance(event, dict):
                rules.setdefault(event["memory_id"], []).append(event["source"]["rule"])
        return rules

    def _bearer(self, scope: Scope) -> dict[str, str]:
        claims = {"tenant": scope.tenant, "sub": scope.user, "role": "user", "exp": int(time.time()) + TOKEN_SECONDS}
        return {"authorization": f"Bearer {jwt.encode(claims, self._secret, algorithm='HS256')}"}

    def _waits(self, scope: Scope) -> dict[str, str]:
        return {"after": self._after[scope]} if scope in self._after else {}


def _turn(said: Said, now: int, turn_id: str) -> Json:
    return {
        "id": turn_id,
        "tenant_id": said.scope.tenant,
        "user_id": said.scope.user,
        "session_id": said.session,
        "role": said.role,
        "content": said.content,
        "at": now - said.minutes * 60_000,
    }


def _unsigned(scope: Scope) -> Json:
    return {
        "request_id": "unsigned",
        "kind": "reset",
        "scope": "all",
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "actor": {"sub": scope.user, "role": "user"},
        "at": int(time.time() * 1000),
    }
