"""A worker that lost its disk, beside a Redis that lost its data: everything comes back from the changelogs."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import redis

from connectors.codec import to_json
from connectors.kafka.producer import KafkaBus
from connectors.kafka.registry import register
from connectors.kafka.topics import TURNS
from connectors.milvus.placement import choose
from deploy.local.engine import LocalEngine
from streams.settings import kafka_config, load
from tables.keys import Scope, route
from tables.policy import Tenant

TENANT = Tenant("restored", placement=choose("restored", 0))
SCOPE = Scope("restored", "用户-1")
SAID = "我对花生过敏"

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def own_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path_factory.mktemp("restore")) as engine:
        engine.start_parts()
        engine.provision()
        engine.start_worker()
        engine.start_api()
        yield engine


def test_everything_comes_back_from_the_changelogs_after_disk_and_redis_are_lost(own_engine: LocalEngine) -> None:
    settings = load(own_engine.settings())
    asyncio.run(_send(own_engine))
    before = _until_listed(own_engine)
    own_engine.kill("worker-1")
    shutil.rmtree(Path(own_engine.worker_settings("worker-1")["TWINSLUICE_DATA"]))
    with redis.Redis.from_url(settings.redis) as client:
        client.flushall()
    assert _recall(own_engine)["degraded"] is True
    own_engine.restart("worker-1")
    assert _until_listed(own_engine) == before
    asyncio.run(_send(own_engine))  # a redelivery: the restored session row knows the turn
    answer = _recall(own_engine)
    assert [item["content"] for item in answer["sections"]["window"]] == [SAID]
    assert [item["content"] for item in answer["sections"]["reference"]] == [SAID]
    assert _listed(own_engine) == before


async def _send(engine: LocalEngine) -> None:
    config = kafka_config(load(engine.settings()))
    bus = KafkaBus(config)
    await bus.start()
    await register(config, bus, TENANT)
    turn = {
        "id": "t-1",
        "tenant_id": SCOPE.tenant,
        "user_id": SCOPE.user,
        "session_id": "s",
        "role": "user",
        "content": SAID,
        "at": int(time.time() * 1000),
    }
    await bus.publish(TURNS, route(SCOPE), to_json(turn))
    await bus.stop()


def _call(engine: LocalEngine, method: str, path: str, **more: Any) -> dict[str, Any]:
    settings = engine.settings()
    claims = {"tenant": SCOPE.tenant, "sub": SCOPE.user, "role": "user", "exp": int(time.time()) + 600}
    token = jwt.encode(claims, settings["TWINSLUICE_JWT_SECRET"], algorithm="HS256")
    url = f"http://127.0.0.1:{settings['TWINSLUICE_API_PORT']}{path}"
    answer = httpx.request(method, url, headers={"authorization": f"Bearer {token}"}, timeout=10, **more)
    answer.raise_for_status()
    body: dict[str, Any] = answer.json()
    return body


def _recall(engine: LocalEngine) -> dict[str, Any]:
    return _call(engine, "POST", "/v1/recall", json={"query": "晚饭吃什么", "session_id": "s"})


def _listed(engine: LocalEngine) -> list[tuple[object, ...]]:
    memories = _call(engine, "GET", "/v1/memories")["memories"]
    assert isinstance(memories, list)
    return [(m["id"], m["content"], m["version"], m["state"]) for m in memories]


def _until_listed(engine: LocalEngine) -> list[tuple[object, ...]]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if listed := _listed(engine):
                return listed
        except httpx.HTTPStatusError as error:  # the tenant or the copies are not there yet
            if error.response.status_code not in (403, 503):
                raise
        time.sleep(0.2)
    raise AssertionError("nothing was listed in 30 s")
