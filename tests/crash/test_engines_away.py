"""An engine that is away costs time, never a turn; what lost its data is not believed until it is filled again."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from connectors.kafka.topics import TURNS
from tables.errors import Unavailable
from tables.keys import Position, Scope
from tables.policy import Tenant
from tests.integration.kit import Caller, Json, Site, contents, fresh, now_ms, own_site, turn, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

SAID = "我对花生过敏"
USERS = 5


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An engine of its own: what is killed here is nobody else's."""
    with own_site(tmp_path_factory.mktemp("away")) as made:
        yield made


def _ready(site: Site) -> tuple[list[str], dict[str, bool]]:
    """Why the worker is not ready, and which parts the API reaches."""
    port = site.engine.worker_settings(site.worker)["TWINSLUICE_WORKER_PORT"]
    worker: Json = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=10).json()
    return worker["reasons"], site.http.get("/readyz").json()["parts"]


def _away(site: Site, name: str) -> None:
    """Kill a part; returns when worker and API say that it is away."""
    site.engine.kill(name)
    until(lambda: f"{name} is unavailable" in _ready(site)[0], "the worker says why it is not ready")
    until(lambda: _ready(site)[1][name] is False, "the API says what it cannot reach")
    assert site.http.get("/readyz").status_code == 503
    assert site.http.get("/healthz").status_code == 200


def _all_ready(site: Site) -> None:
    until(lambda: _ready(site)[0] == [] and all(_ready(site)[1].values()), "everything is ready again")


class Life:
    """A user with a window, a wish, a frozen memory, an open question, and something erased."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.tenant: Tenant = site.tenant("life")
        self.user = site.client(self.tenant)
        for session in ("s1", "s2"):
            self.user.say(SAID, session)
        self.user.say("I live in Leeds", "s1", id="moved")
        self.user.say("I moved to Oslo", "s2")
        self.user.say("Keep your answers short this time", "s2")
        self.user.memories(after=self.user.say("我现在可以吃花生了", "s3"))
        self.old = turn(self.tenant, "I love figs.", session="gone", at=now_ms())
        site.settled(*site.wire.turns(self.tenant, self.old))
        self.user.ok("DELETE", "/v1/sessions/gone", params={"request_id": "erased"})

    def seen(self) -> dict[str, Any]:
        recall = self.user.recall("what can I eat?", "s2")
        return {
            "memories": {s: self.user.memories(status=s, drafts=True) for s in ("active", "superseded", "expired")},
            "questions": self.user.questions(),
            "sections": {name: items for name, items in recall["sections"].items() if name != "reference"},
            "windows": [contents(self.user.recall("?", s), "window") for s in ("s1", "s2", "s3", "gone")],
            "receipt": self.user.ok("GET", "/v1/erasures/erased"),
            "profile": recall["profile_version"],
        }


def test_a_redis_that_comes_back_empty_serves_nothing_until_everything_is_back(site: Site) -> None:
    life = Life(site)
    before = life.seen()
    assert before["questions"]
    assert before["sections"]["state"]

    _away(site, "redis")
    _nothing_of_the_user_is_served(life.user)
    assert life.user.request("DELETE", "/v1/user").status_code == 503  # its mark could not be kept
    late = life.user.request("POST", "/v1/turns", json={"session_id": "s9", "role": "user", "content": "I love tea."})
    assert late.status_code == 202
    shutil.rmtree(site.engine.folder / "redis")
    site.engine.kill(site.worker, signal.SIGSTOP)
    try:
        site.engine.restart("redis")
        _nothing_of_the_user_is_served(life.user)
    finally:
        site.engine.kill(site.worker, signal.SIGCONT)
    while (answer := life.user.recall("hm", "s2"))["degraded"]:
        assert contents(answer) == []

    _all_ready(site)
    life.user.recall("hm", after=late.json()["token"])
    (tea,) = [m for m in life.user.memories() if m["content"] == "I love tea."]
    after = life.seen()
    after["memories"]["active"] = [m for m in after["memories"]["active"] if m["id"] != tea["id"]]
    after["profile"] = before["profile"]
    assert after == before
    with site.redis() as client:
        assert client.exists(site.layout.user_marks(Scope(life.tenant.id, "u")))
    site.settled(*site.wire.turns(life.tenant, life.old))  # the fence is where it was
    assert contents(life.user.recall("figs", "gone"), "window") == []
    assert "figs" not in str(life.user.memories())
    site.equal()


def _nothing_of_the_user_is_served(user: Caller) -> None:
    given = {"messages": [{"role": "user", "content": "as I said"}], "knowledge": ["Nuts are in aisle 5."]}
    answer = user.recall("what can I eat?", "s2", **given)
    assert (answer["degraded"], answer["degraded_parts"]) == (True, ["copies"])
    assert contents(answer) == ["Nuts are in aisle 5.", "as I said"]
    assert (answer["questions"], answer["profile_version"]) == ([], 0)
    for path in ("/v1/memories", "/v1/questions", "/v1/memories/" + "a" * 32, "/v1/erasures/erased"):
        refused = user.request("GET", path)
        assert (refused.status_code, refused.headers["content-type"]) in (
            (503, "application/problem+json"),
            (404, "application/problem+json"),  # an empty Redis has no receipt yet
        )
        assert "花生" not in refused.text


def test_turns_wait_for_a_milvus_that_is_away_and_none_is_lost(site: Site) -> None:
    tenant = site.tenant("vectors")
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID, user="before")))
    _away(site, "milvus")
    places = site.wire.turns(tenant, *(turn(tenant, SAID, user=f"u{n}") for n in range(20)))
    time.sleep(2)
    assert site.progress(TURNS, places[-1].partition) < places[-1].offset

    reader = site.client(tenant, "before")
    answer = reader.recall("花生", "other")
    assert (answer["degraded_parts"], contents(answer)) == (["index"], [SAID])  # by keyword, and it says so
    assert [memory["content"] for memory in reader.memories()] == [SAID]

    site.engine.restart("milvus")
    site.settled(*places)
    _all_ready(site)
    assert reader.recall("花生", "other")["degraded"] is False
    for number in range(20):
        assert [m["content"] for m in site.client(tenant, f"u{number}").memories()] == [SAID]
    site.equal(tenant.id)


def test_a_broker_killed_under_load_loses_and_doubles_nothing(site: Site) -> None:
    tenant = site.tenant("broker")
    turns = [turn(tenant, f"I like dish{n}", user=f"u{n % USERS}", at=now_ms() + n) for n in range(600)]
    places: list[Position] = []
    sender = threading.Thread(target=lambda: places.extend(_send_stubbornly(site, tenant, turns)))
    sender.start()
    until(lambda: site.client(tenant, "u1").memories(), "the load has begun")
    _away(site, "kafka")
    time.sleep(1)
    site.engine.restart("kafka")
    sender.join(90)
    assert not sender.is_alive()

    site.settled(max(places, key=lambda place: place.offset), seconds=60)
    _all_ready(site)
    kept = [m["content"] for n in range(USERS) for m in site.client(tenant, f"u{n}").memories()]
    assert sorted(kept) == sorted(one["content"] for one in turns)
    for number in range(USERS):
        said = [one["content"] for one in turns if one["user_id"] == f"u{number}"]
        assert contents(site.client(tenant, f"u{number}").recall("?", max_tokens=20_000), "window") == said[-20:]
    assert site.letters(TURNS) == []
    site.equal(tenant.id)


def _send_stubbornly(site: Site, tenant: Tenant, turns: list[Json]) -> list[Position]:
    """A producer that sends a few at a time, and the same again until the broker has acknowledged them."""
    places: list[Position] = []
    for start in range(0, len(turns), 10):
        while True:
            try:
                places += site.wire.turns(tenant, *turns[start : start + 10])
                break
            except Unavailable:
                time.sleep(0.2)
        time.sleep(0.02)
    return places


def test_a_worker_that_starts_before_its_engines_waits_for_them(site: Site) -> None:
    tenant = site.tenant("early")
    places = site.wire.turns(tenant, turn(tenant, SAID))
    site.settled(*places)
    for name in ("redis", "milvus", site.worker):
        site.engine.kill(name)
    starting = threading.Thread(target=site.engine.restart, args=(site.worker,))
    starting.start()
    time.sleep(3)
    assert starting.is_alive()
    for name in ("redis", "milvus"):
        site.engine.restart(name)
    starting.join(60)
    assert not starting.is_alive()

    until(lambda: not site.client(tenant).recall("?", fresh("s"))["degraded"], "it is served again")
    assert [m["content"] for m in site.client(tenant).memories()] == [SAID]
    site.equal()
