"""The running engine as the walk uses it: the bus with the real producer, the API over HTTP, topics read to their end.

Nothing here decides anything. A claim of the walk that does not hold is `StepFailed`, with words for the terminal.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import httpx

from connectors.codec import parse_json, to_json
from connectors.http.positions import PositionTokens
from connectors.kafka.config import KafkaConfig
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.reader import read_to_end
from connectors.kafka.registry import register, registered
from connectors.kafka.topics import CHANGES, TURNS, dead_letter
from connectors.milvus.placement import choose, is_dedicated
from deploy.local.walk_story import Person, Record
from streams.commands.token import minted
from streams.settings import Settings, kafka_config, load
from tables.command import ActorRole
from tables.keys import Position, Scope, route
from tables.policy import Clock, Tenant

T = TypeVar("T")
Json = dict[str, Any]

PATIENCE_SECONDS: Final = 30.0  # nothing that the walk waits for takes a tenth of it
PAUSE_SECONDS: Final = 0.05
TOKEN_SECONDS: Final = 3600
HTTP_SECONDS: Final = 15.0


class StepFailed(Exception):
    """Something that the walk claims was not so; the message says what."""


class WalkEngine:
    """One engine under the walk's eyes. Tokens of writes are kept, so that every read sees them."""

    def __init__(self, settings: Settings, config: KafkaConfig, bus: KafkaBus, client: httpx.AsyncClient) -> None:
        self._settings = settings
        self._config = config
        self._bus = bus
        self._client = client
        self._positions = PositionTokens(settings.signing_secret.encode())
        self._after: dict[str, tuple[Position, ...]] = defaultdict(tuple)

    async def add_tenants(self, *names: str) -> list[str]:
        """Registers a tenant for each name, under a name that is still free; returns when the API knows them."""
        known = await registered(self._config)
        free = [_free(name, known) for name in names]
        dedicated = sum(is_dedicated(tenant.placement) for tenant in known.values())
        for number, name in enumerate(free):
            await register(self._config, self._bus, Tenant(name, 1, Clock.WALL, choose(name, dedicated + number)))
        for name in free:
            await until(lambda name=name: self._is_known(name), f"tenant {name} in the API")  # type: ignore[misc]  # bound now
        return free

    async def _is_known(self, tenant: str) -> bool | None:
        response = await self.ask(Scope(tenant, "nobody"), "GET", "/v1/questions")
        return None if response.status_code == httpx.codes.FORBIDDEN else True

    async def say(self, scope: Scope, records: Sequence[Record]) -> tuple[Position, ...]:
        """Sends turns; returns where they lie. Reads of their tenant wait for them from now on."""
        return await self.send(scope, [Outgoing(TURNS, route(scope), to_json(record)) for record in records])

    async def send(self, scope: Scope, records: Sequence[Outgoing]) -> tuple[Position, ...]:
        """Sends records of any kind, as `say` does."""
        positions = tuple(await self._bus.send_all(records))
        last = {(held.topic, held.partition): held for held in (*self._after[scope.tenant], *positions)}
        self._after[scope.tenant] = tuple(last.values())
        return positions

    async def ask(self, scope: Scope, method: str, path: str, **more: Any) -> httpx.Response:
        """One request of this user's."""
        token = minted(self._settings.jwt_secret, *scope, ActorRole.USER, now=int(time.time()), seconds=TOKEN_SECONDS)
        headers = {"Authorization": f"Bearer {token}"}
        return await self._client.request(method, path, headers=headers, **more)

    async def answer(self, scope: Scope, method: str, path: str, **more: Any) -> Json:
        """The body of an answer that must be a good one."""
        response = await self.ask(scope, method, path, **more)
        if not response.is_success:
            raise StepFailed(f"{method} {path} was answered {response.status_code}: {response.text[:300]}")
        body: Json = response.json()
        return body

    async def memories(self, scope: Scope, status: str = "active") -> list[Json]:
        """What the user's list shows, drafts too, once every write is in it."""
        return (await self._read(scope, "/v1/memories", {"status": status, "drafts": "true"}))["memories"]  # type: ignore[no-any-return]

    async def questions(self, scope: Scope) -> list[Json]:
        """The user's open questions, once every write has taken effect."""
        return (await self._read(scope, "/v1/questions", {}))["questions"]  # type: ignore[no-any-return]

    async def recall(self, person: Person, query: str) -> Json:
        """The context for a question in the user's latest session, once every write has taken effect.

        One that says `degraded` (on a busy machine a first search can be too slow) is asked for again.
        """
        body: Json = {"query": query, "session_id": person.latest_session}

        async def fresh() -> Json | None:
            body["after"] = self._token(person.scope)
            context = await self.answer(person.scope, "POST", "/v1/recall", json=body)
            return None if context["stale"] or context["degraded"] else context

        return await until(fresh, "whole recall that has seen every write")

    async def command(self, scope: Scope, **body: Any) -> Json:
        """The outcome of a command."""
        accepted = await self.answer(scope, "POST", "/v1/commands", json=body)
        path = f"/v1/commands/{accepted['request_id']}"
        return await self._later(scope, path, accepted.get("outcome"), lambda _: True)

    async def erase(self, scope: Scope, path: str) -> Json:
        """The final receipt of a DELETE."""
        accepted = await self.answer(scope, "DELETE", path)
        path = f"/v1/erasures/{accepted['request_id']}"
        return await self._later(scope, path, accepted.get("receipt"), lambda held: held["state"] != "pending")

    async def rules(self, tenant: str) -> Mapping[str, Sequence[str]]:
        """The verdicts over each memory of this tenant, in order, as `memory.changes.v1` announces them."""
        rules: dict[str, list[str]] = defaultdict(list)
        async for record in read_to_end(self._config, CHANGES):
            event: Any = parse_json(record.value)
            if event["tenant_id"] == tenant:
                rules[event["memory_id"]].append(event["source"]["rule"])
        return rules

    async def letters(self, topic: str, positions: Sequence[Position]) -> list[Mapping[str, str]]:
        """The facts of the dead letters of these records, in the order of `positions`."""

        async def all_there() -> list[Mapping[str, str]] | None:
            found: dict[tuple[str | None, str | None], Mapping[str, str]] = {}
            async for record in read_to_end(self._config, dead_letter(topic)):
                facts = {name.removeprefix("dlq."): value.decode() for name, value in record.headers}
                found[facts.get("original-partition"), facts.get("original-offset")] = facts
            wanted = [(str(position.partition), str(position.offset)) for position in positions]
            return [found[place] for place in wanted] if all(place in found for place in wanted) else None

        return await until(all_there, f"dead letter of each bad record of {topic}")

    async def _read(self, scope: Scope, path: str, params: Mapping[str, str]) -> Json:
        async def fresh() -> Json | None:
            body = await self.answer(scope, "GET", path, params={**params, "after": self._token(scope)})
            return None if body["stale"] else body

        return await until(fresh, f"answer of {path} with every write in it")

    async def _later(self, scope: Scope, path: str, held: Json | None, good: Callable[[Json], bool]) -> Json:
        async def ready() -> Json | None:
            if held is not None and good(held):
                return held
            response = await self.ask(scope, "GET", path)
            return response.json() if response.is_success and good(response.json()) else None

        return await until(ready, f"answer at {path}")

    def _token(self, scope: Scope) -> str:
        return self._positions.mint(scope.tenant, self._after[scope.tenant])


@asynccontextmanager
async def opened(variables: Mapping[str, str], address: str) -> AsyncIterator[WalkEngine]:
    """The engine that these variables reach. Raises Unavailable("kafka")."""
    settings = load(variables)
    config = kafka_config(settings)
    bus = KafkaBus(config)
    await bus.start()
    try:
        async with httpx.AsyncClient(base_url=address, timeout=HTTP_SECONDS, trust_env=False) as client:
            yield WalkEngine(settings, config, bus, client)
    finally:
        await bus.stop()


async def until(ask: Callable[[], Awaitable[T | None]], what: str) -> T:
    """The first answer. Raises StepFailed when there is none in time."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (answer := await ask()) is None:
        if time.monotonic() > end:
            raise StepFailed(f"there was no {what} within {PATIENCE_SECONDS:.0f} s")
        await asyncio.sleep(PAUSE_SECONDS)
    return answer


def holds(claim: bool, what: str) -> None:
    """Raises StepFailed unless the claim is so."""
    if not claim:
        raise StepFailed(what)


def _free(name: str, known: Mapping[str, Tenant]) -> str:
    number, candidate = 1, name
    while candidate in known:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
