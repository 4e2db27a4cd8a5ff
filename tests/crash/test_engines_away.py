"""An engine that is away costs time, never a turn; a Redis that lost its data answers degraded, then heals."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from connectors.kafka.topics import TURNS
from deploy.local.engine import LocalEngine
from tests.integration.kit import Json, Site, Wire, contents, embedder, turn, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

SAID = "我对花生过敏"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with embedder("hash"), LocalEngine(tmp_path_factory.mktemp("away")) as engine:
        engine.start_parts()
        engine.provision()
        (worker,) = engine.start_worker()
        wire = Wire(engine)
        made = Site(engine, wire, engine.start_api(), worker)
        yield made
        made.close()
        wire.close()


def _ready(site: Site) -> Json:
    port = site.engine.worker_settings(site.worker)["TWINSLUICE_WORKER_PORT"]
    answer: Json = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=10).json()
    return answer


def test_a_redis_that_lost_its_data_is_never_believed_and_is_filled_again(site: Site) -> None:
    tenant = site.tenant("lost")
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID), turn(tenant, "I live in Leeds", session="t")))
    caller = site.client(tenant)
    caller.ok("DELETE", "/v1/sessions/t")
    with site.redis() as client:
        client.flushall()
    degraded = caller.recall(SAID)
    assert (degraded["degraded"], contents(degraded)) == (True, [])
    until(lambda: not caller.recall(SAID)["degraded"], "the copies are back")
    assert contents(caller.recall(SAID), "window", "reference") == [SAID, SAID]
    assert [m["content"] for m in caller.memories()] == [SAID]
    site.equal(tenant.id)


def test_turns_wait_for_a_milvus_that_is_away_and_none_is_lost(site: Site) -> None:
    tenant = site.tenant("vectors")
    site.engine.kill("milvus")
    positions = site.wire.turns(tenant, *(turn(tenant, SAID, user=f"u{n}") for n in range(20)))
    until(lambda: "milvus is unavailable" in _ready(site)["reasons"], "the worker says why it is not ready")
    time.sleep(2)
    assert site.progress(TURNS, positions[-1].partition) < positions[-1].offset
    site.engine.restart("milvus")
    site.settled(*positions)
    site.equal(tenant.id)
    assert [m["content"] for m in site.client(tenant, "u7").memories()] == [SAID]


def test_turns_sent_around_a_killed_broker_are_each_there_once(site: Site) -> None:
    tenant = site.tenant("broker")
    before = site.wire.turns(tenant, *(turn(tenant, f"I like chess{n}", user=f"u{n % 5}") for n in range(200)))
    site.engine.kill("kafka")
    restarting = threading.Thread(target=site.engine.restart, args=("kafka",))
    restarting.start()
    restarting.join(60)
    after = site.wire.turns(tenant, *(turn(tenant, f"I like yoga{n}", user=f"u{n % 5}") for n in range(50)))
    site.settled(before[-1], after[-1], seconds=60)
    site.equal(tenant.id)
    kept = [m["content"] for n in range(5) for m in site.client(tenant, f"u{n}").memories()]
    assert len(kept) == len(set(kept)) == 250
