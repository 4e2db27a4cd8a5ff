"""A small world to read from: two tenants, fakes of every engine, and the API over them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import jwt
import numpy as np
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from connectors.http.app import build
from connectors.http.ports import ServiceSet
from connectors.http.positions import PositionTokens
from connectors.http.tokens import JwtVerifier, TokenSettings
from connectors.kafka.routing import partition_of
from connectors.milvus.fake import FakeIndex
from connectors.milvus.placement import dedicated_name
from connectors.model.fake import FakeEmbedder
from connectors.redis.fake import Drawer, FakeReader, Shelf
from connectors.signing import RequestIds, Signer
from streams.doors import Doors
from streams.memories import Memories
from streams.reading import Reading
from streams.recall import Recall
from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.copies import IndexRow, UserCopy
from tables.keys import Position, Scope, digest, turn_key
from tables.memory import Freeze, Memory, Pin, Source, State, Status
from tables.policy import Clock, Tenant
from tables.question import Question, QuestionKind
from tables.ranking import Calibration
from tables.session import Session, WindowTurn, Wish
from tables.text import tokens

NOW = 1_772_355_600_000  # 2026-03-01T09:00:00Z
HOUR = 3_600_000
DAY = 24 * HOUR
PARTITIONS = 4
OWNER = Scope("t1", "u1")
OTHER_USER = Scope("t1", "u2")
FAR = Scope("t2", "u1")  # the same user id in another tenant
SECRET = "jwt-secret-for-tests-only-32-bytes"
SIGNING = b"signing-secret-for-tests-only-32-bytes"


def memory(content: str, scope: Scope = OWNER, **fields: Any) -> Memory:
    """A committed, stated memory that was said an hour ago in session s0 under the turn id `t-<content>`."""
    at = fields.pop("at", NOW - HOUR)
    session = fields.pop("session", "s0")
    turn_id = fields.pop("turn_id", f"t-{content}"[:40])
    key = turn_key(scope, session, turn_id)
    base = Memory(
        id=digest("test-memory", scope.tenant, scope.user, content),
        scope=scope,
        session=session,
        task="",
        topic="",
        kind=Kind.FACT,
        subject=SELF,
        slot="fact.about",
        single=False,
        value=content,
        polarity=Polarity.POSITIVE,
        content=content,
        span=(0, len(content)),
        sources=(Source(key, turn_id, session, at, 0.9, True),),
        status=Status.ACTIVE,
        state=State.COMMITTED,
        freeze=Freeze.NONE,
        created_at=at,
        updated_at=at,
        expires_at=0,
        last_mentioned_at=at,
        last_access_at=0,
        hits=0,
        pin=Pin.NONE,
        review=None,
        sensitivity=Sensitivity.NONE,
        version=1,
        confidence=0.9,
        importance=0.5,
        confirmation=Confirmation.STATED,
        lang="en",
        tokens=tokens(content),
        supersedes="",
        superseded_by="",
    )
    return replace(base, **fields)


def question(held: Memory, proposed: str, **fields: Any) -> Question:
    """An open contradiction of `held`, said ten minutes ago in session s0."""
    new = Candidate(
        id=digest("proposed", proposed), scope=held.scope, session="s0", task=held.task, topic="", kind=held.kind,
        subject=held.subject, slot=held.slot, single=held.single, value=proposed, polarity=Polarity.NEGATIVE,
        content=proposed, span=(0, len(proposed)), expires_at=0, confidence=0.9, explicit=True, importance=0.5,
        confirmation=Confirmation.STATED, sensitivity=Sensitivity.NONE, lang="en",
        turn=turn_key(held.scope, "s0", "q-turn"), turn_id="q-turn", at=NOW - 600_000, position=Position("t", 0, 1),
    )  # fmt: skip
    base = Question(
        digest("question", held.id), QuestionKind.CONTRADICTION, held.id, held.content, new, f"{held.content}?", "en",
        NOW - 600_000,
    )  # fmt: skip
    return replace(base, **fields)


def turn(content: str, scope: Scope = OWNER, session: str = "s1", **fields: Any) -> WindowTurn:
    name = fields.pop("id", f"w-{content}"[:40])
    base = WindowTurn(turn_key(scope, session, name), name, "user", content, NOW - 60_000, tokens(content))
    return replace(base, **fields)


def window(*turns: WindowTurn, wishes: tuple[Wish, ...] = ()) -> Session:
    return Session(turns, wishes, turns[0].at if turns else NOW, max((t.at for t in turns), default=NOW - 60_000))


class World:
    """Everything is in memory; the clock stands still but for what `sleep` adds; `published` is the bus."""

    def __init__(self) -> None:
        self.now = NOW
        self.slept = 0.0
        self.tenants: dict[str, Tenant] = {name: _tenant(name) for name in ("t1", "t2")}
        self.tenants["te"] = replace(_tenant("te"), clock=Clock.EVENT)
        self.shelf = Shelf()
        self.shelf.served = set(range(PARTITIONS))
        self.reader = FakeReader(self.shelf)
        self.index = FakeIndex()
        self.embedder = FakeEmbedder()
        self.published: list[tuple[str, bytes, bytes, dict[str, bytes]]] = []
        self.parts = {"redis": True, "milvus": True}
        self.registry = CollectorRegistry()
        reading = Reading(
            reader=self.reader,
            index=self.index,
            tenants=self,
            partition_of=lambda tenant, scope: partition_of(tenant, scope, PARTITIONS),
            clock=lambda: self.now,
            sleep=self.sleep,
        )
        self.recalls = Recall(reading, self.index, self.embedder, traces=self.reader, calibration=Calibration(0.0, 0.8))
        self.memories = Memories(reading)
        self.doors = Doors(
            reading, self.reader, self.publish, Signer({"k1": SIGNING}), RequestIds(SIGNING), sleep=self.sleep
        )

    def get(self, tenant: str) -> Tenant | None:
        return self.tenants.get(tenant)

    async def ready(self) -> Mapping[str, bool]:
        return self.parts

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await asyncio.sleep(0)

    async def publish(
        self, topic: str, key: bytes, value: bytes, headers: tuple[tuple[str, bytes], ...] = ()
    ) -> Position:
        self.published.append((topic, key, value, dict(headers)))
        return Position(topic, 1, len(self.published) - 1)

    async def remember(self, *memories: Memory) -> None:
        """Into both copies, as the worker leaves them."""
        for one in memories:
            tenant = self.tenants[one.scope.tenant]
            if one.recallable:
                (vector,) = await self.embedder.passages([one.content])
                await self.index.upsert(tenant, [IndexRow(one, _unit(vector))])
            self.user(UserCopy(one.scope, memories=(one,)))

    def user(self, row: UserCopy) -> None:
        drawer = self.shelf.users.setdefault(row.scope, Drawer())
        drawer.present = True
        drawer.memories.update({m.id: m for m in row.memories})
        drawer.questions.update({q.id: q for q in row.questions})

    def app(self) -> FastAPI:
        services = ServiceSet(self, self.recalls, self.memories, self.doors, self)
        verifier = JwtVerifier(TokenSettings(secret=SECRET))
        return build(services, verifier, PositionTokens(SIGNING), self.registry)

    def client(self, scope: Scope | None = OWNER, role: str = "user", sub: str = "") -> httpx.AsyncClient:
        """A client with a token of this scope; a service or reviewer names its user in `user_id`."""
        headers = {} if scope is None else {"Authorization": f"Bearer {token(scope, role=role, sub=sub)}"}
        transport = httpx.ASGITransport(self.app(), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


def token(scope: Scope, secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """A bearer token of this scope; a claim given as None is left out."""
    sub = claims.pop("sub", "") or scope.user
    body = {"tenant": scope.tenant, "sub": sub, "role": "user", "exp": int(time.time()) + 600, **claims}
    return jwt.encode({k: v for k, v in body.items() if v is not None}, secret, algorithm)


def _tenant(name: str) -> Tenant:
    return Tenant(name, placement=dedicated_name(name))


def _unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    row = np.asarray(vector, dtype=np.float32)
    return tuple((row / np.linalg.norm(row)).tolist())
