"""The HTTP API over fakes: identity, isolation, problems, bodies, doors (A8, A11, A12, §9, §11.3, §11.5)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from connectors.http import models
from connectors.signing import RequestIds, Signer
from tables.command import Outcome, Result
from tables.copies import UserCopy
from tables.erasure import Reach
from tables.errors import Unavailable
from tables.keys import Scope, scope_digest
from tables.memory import Memory, State, Status
from tables.receipt import CopyEvidence, Physical, Query, Receipt, ReceiptState
from tests.unit.recall_world import (
    FAR,
    NOW,
    OTHER_USER,
    OWNER,
    SECRET,
    SIGNING,
    World,
    memory,
    question,
    token,
    turn,
    window,
)

CANARY = "canary-4711"


async def furnished() -> World:
    """Alice has a memory, a superseded one, a window, a question; everybody else has nothing."""
    world = World()
    held = memory(f"my secret is {CANARY}")
    await world.remember(held, memory(f"old {CANARY}", status=Status.SUPERSEDED))
    world.user(UserCopy(OWNER, questions=(question(held, f"not {CANARY}"),)))
    world.shelf.sessions[OWNER, "s1"] = window(turn(f"window {CANARY}"))
    return world


@pytest.fixture
async def world() -> World:
    return await furnished()


def recall_body(**fields: Any) -> dict[str, Any]:
    return {"query": f"my secret is {CANARY}", "session_id": "s1", **fields}


def is_problem(response: httpx.Response, status: int, slug: str) -> bool:
    body = response.json()
    models.ProblemAnswer.model_validate(body)
    return (
        response.status_code == status
        and response.headers["content-type"] == "application/problem+json"
        and body["type"] == f"/problems/{slug}"
        and body["status"] == status
    )


# Identity


async def test_a_recall_shows_the_owner_what_is_the_owners(world: World) -> None:
    async with world.client() as client:
        response = await client.post("/v1/recall", json=recall_body())
    body = response.json()
    models.RecallAnswer.model_validate(body)
    assert response.status_code == 200
    assert [item["content"] for item in body["sections"]["reference"]] == [f"my secret is {CANARY}"]
    assert [item["content"] for item in body["sections"]["window"]] == [f"window {CANARY}"]
    assert list(body["sections"]) == ["question", "knowledge", "state", "stable", "reference", "window", "summary"]
    assert body["questions"][0]["proposed"] == f"not {CANARY}"
    assert response.headers["cache-control"] == "no-store"


READS = [
    ("POST", "/v1/recall", {"query": CANARY[:6], "session_id": "s1"}),
    ("GET", "/v1/memories", None),
    ("GET", "/v1/memories?status=superseded&drafts=true", None),
    ("GET", f"/v1/memories/{memory(f'my secret is {CANARY}').id}", None),
    ("GET", f"/v1/memories/{memory(f'old {CANARY}').id}", None),
    ("GET", "/v1/questions", None),
    ("DELETE", f"/v1/memories/{memory(f'my secret is {CANARY}').id}", None),
]
STRANGERS = [
    (OTHER_USER, "user", ""),
    (FAR, "user", ""),
    (OTHER_USER, "service", "bot"),
    (FAR, "service", "bot"),
    (FAR, "admin", "root"),
    (FAR, "reviewer", "rev"),
]


@pytest.mark.parametrize(("method", "path", "body"), READS, ids=lambda v: str(v)[:30])
@pytest.mark.parametrize(("who", "role", "sub"), STRANGERS, ids=str)
async def test_a_canary_reaches_no_other_identity_through_any_route(
    world: World, method: str, path: str, body: Any, who: Scope, role: str, sub: str
) -> None:
    params = {} if role == "user" else {"user_id": who.user}
    async with world.client(who, role, sub) as client:
        response = await client.request(method, path, json=body, params={**_query(path), **params})
    assert CANARY not in response.text
    assert response.status_code in (200, 404)
    assert not world.published


@pytest.mark.parametrize("place", ["query", "body"])
async def test_a_user_may_not_name_another_user(world: World, place: str) -> None:
    async with world.client(OTHER_USER) as client:
        params = {"user_id": "u1"} if place == "query" else {}
        body = recall_body(user_id="u1") if place == "body" else recall_body()
        assert is_problem(await client.post("/v1/recall", json=body, params=params), 403, "other-user")
        own = await client.post("/v1/recall", json=recall_body(user_id="u2"))
        assert own.status_code == 200


async def test_a_service_names_its_user_and_only_in_its_own_tenant(world: World) -> None:
    async with world.client(OWNER, "service", "bot") as client:
        assert is_problem(await client.get("/v1/memories"), 422, "no-user")
        listed = await client.get("/v1/memories", params={"user_id": "u1"})
        by_body = await client.post("/v1/recall", json=recall_body(user_id="u1"))
        foreign = await client.post("/v1/recall", json=recall_body(user_id="u1", tenant_id="t2"))
        two = await client.post("/v1/recall", json=recall_body(user_id="u1"), params={"user_id": "u2"})
    assert CANARY in listed.text
    assert CANARY in by_body.text
    assert is_problem(foreign, 403, "other-tenant")
    assert is_problem(two, 422, "invalid")


def _bad_tokens() -> list[tuple[str, str]]:
    now = int(time.time())
    none = token(OWNER, secret="", algorithm="none")
    good = token(OWNER)
    return [
        ("", "missing"),
        ("Bearer", "missing"),
        ("Basic dTpw", "missing"),
        ("Bearer not-a-token", "malformed"),
        ("Bearer " + "a" * 10_000, "malformed"),
        (f"Bearer {token(OWNER, exp=now)}", "expired"),
        (f"Bearer {token(OWNER, exp=None)}", "invalid"),
        (f"Bearer {token(OWNER, nbf=now + 3600)}", "invalid"),
        (f"Bearer {token(OWNER, secret='another-secret-for-tests-of-32-bytes')}", "invalid"),
        (f"Bearer {token(OWNER, algorithm='HS512', secret=SECRET * 2)}", "algorithm"),
        (f"Bearer {none}", "algorithm"),
        (f"Bearer {good[:-4]}AAAA", "invalid"),
        (f"Bearer {token(OWNER, role='root')}", "claims"),
        (f"Bearer {token(OWNER, role=None)}", "claims"),
        (f"Bearer {token(OWNER, tenant=None)}", "claims"),
        ("Bearer " + token(OWNER, tenant="t\x001"), "claims"),
        (f"Bearer {token(OWNER, sub='x' * 129)}", "claims"),
    ]


@pytest.mark.parametrize(("header", "reason"), _bad_tokens(), ids=lambda v: str(v)[:24])
async def test_a_token_that_proves_nothing_is_401_with_a_challenge(world: World, header: str, reason: str) -> None:
    async with world.client(None) as client:
        response = await client.get("/v1/memories", headers={"Authorization": header} if header else {})
    assert is_problem(response, 401, "unauthenticated")
    assert response.json()["reason"] == reason
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_tenant_that_is_not_registered_is_refused(world: World) -> None:
    async with world.client(Scope("nobody", "u1")) as client:
        assert is_problem(await client.post("/v1/recall", json=recall_body()), 403, "unknown-tenant")


HOSTILE_IDS = [
    "a/b",
    "a//b",
    "/a",
    "a/",
    "..",
    "*",
    "%",
    "%2F",
    "a%2Fb",
    "#",
    "a?b=c",
    'q"\\',
    "' or 1=1",
    "会话",
    "🙂",
    "+",
]


@pytest.mark.parametrize("name", HOSTILE_IDS)
async def test_hostile_but_legal_ids_are_byte_exact(name: str) -> None:
    world = World()
    scope = Scope("t1", name)
    await world.remember(memory("mine", scope, session=name))
    async with world.client(scope) as client:
        assert [m["content"] for m in (await client.get("/v1/memories")).json()["memories"]] == ["mine"]
        response = await client.delete(
            f"/v1/sessions/{quote(name, safe='').replace('.', '%2E')}", params={"wait": "false"}
        )
    assert response.status_code == 202
    published = json.loads(world.published[0][2])
    assert (published["user_id"], published["selector"]) == (name, {"reach": "session", "values": [name]})
    other = Scope("t1", f"{name}x")
    async with world.client(other) as client:
        assert (await client.get("/v1/memories")).json()["memories"] == []


@pytest.mark.parametrize("name", ["%00", "%0A", "%FF", "a%C3", "", "x" * 129])
async def test_illegal_ids_in_a_path_are_refused_and_nothing_is_erased(world: World, name: str) -> None:
    async with world.client() as client:
        assert is_problem(await client.delete(f"/v1/sessions/{name}"), 422, "invalid")
    assert not world.published
    assert not await world.reader.marks(OWNER)


# Problems


@pytest.mark.parametrize(
    ("method", "path", "status", "slug"),
    [
        ("GET", "/nowhere", 404, "not-found"),
        ("GET", "/v1/recall", 405, "method-not-allowed"),
        ("PUT", "/v1/user", 405, "method-not-allowed"),
        ("GET", "/v1/memories/nope", 404, "not-found"),
        ("GET", "/v1/memories/a/b", 404, "not-found"),
        ("GET", "/v1/erasures/nope", 404, "not-found"),
        ("GET", "/v1/commands/nope", 404, "not-found"),
        ("DELETE", "/v1/memories/nope", 404, "not-found"),
        ("GET", "/v1/memories?limit=0", 422, "invalid"),
        ("GET", "/v1/memories?limit=x", 422, "invalid"),
        ("GET", "/v1/memories?cursor=%25%25", 422, "invalid"),
        ("GET", "/v1/memories?status=deleted", 422, "invalid"),
        ("GET", "/v1/memories?at=2026-03-01T09:00:00Z", 422, "invalid"),
        ("GET", "/v1/memories?after=garbage", 422, "invalid"),
        ("DELETE", "/v1/sessions/", 422, "invalid"),
    ],
)
async def test_every_error_is_a_problem(world: World, method: str, path: str, status: int, slug: str) -> None:
    async with world.client() as client:
        assert is_problem(await client.request(method, path), status, slug)


@pytest.mark.parametrize(
    ("content", "kind", "status", "slug"),
    [
        (b"{", "application/json", 400, "not-json"),
        (b"", "application/json", 400, "not-json"),
        (b'{"query": NaN}', "application/json", 400, "not-json"),
        (b'{"query": "\\ud800", "session_id": "s"}', "application/json", 422, "invalid"),
        (b'{"query": "\xed\xa0\x80", "session_id": "s"}', "application/json", 422, "invalid"),
        (b'{"query": "a\\u0000b", "session_id": "s"}', "application/json", 422, "invalid"),
        (b'{"query": " ", "session_id": "s"}', "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": ""}', "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": "a\\u0007"}', "application/json", 422, "invalid"),
        (b'{"query": 5, "session_id": "s"}', "application/json", 422, "invalid"),
        (b'{"query": "q"}', "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": "s", "max_tokens": "9"}', "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": "s", "as_of": "2026-01-01T00:00:00Z"}', "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": "s", "after": "AAAA"}', "application/json", 422, "invalid"),
        (b'["query"]', "application/json", 422, "invalid"),
        (b"null", "application/json", 422, "invalid"),
        (b'{"query": "q", "session_id": "s"}', "text/plain", 415, "unsupported-media-type"),
        (b'{"query": "q", "session_id": "s"}', "", 415, "unsupported-media-type"),
    ],
)
async def test_a_bad_body_is_a_problem_that_echoes_nothing(
    world: World, content: bytes, kind: str, status: int, slug: str
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    async with world.client() as client:
        assert is_problem(await client.post("/v1/recall", content=content, headers=headers), status, slug)


async def test_a_problem_does_not_say_what_was_sent(world: World) -> None:
    body = {"query": CANARY, "session_id": 5, CANARY: CANARY, "max_tokens": CANARY, "purpose": CANARY}
    async with world.client() as client:
        response = await client.post("/v1/recall", json=body)
    assert response.status_code == 422
    assert CANARY not in response.text
    assert {"field": "session_id", "reason": "string_type"} in response.json()["errors"]


@pytest.mark.parametrize("declared", [True, False])
async def test_a_large_body_is_413_whether_or_not_its_length_is_declared(world: World, declared: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 65_536

    async with world.client() as client:
        content: Any = b"x" * (40 * 65_536) if declared else pieces()
        response = await client.post("/v1/recall", content=content, headers={"Content-Type": "application/json"})
    assert is_problem(response, 413, "too-large")


async def test_a_bug_is_a_500_problem_and_no_word_of_it_is_logged(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any) -> Any:
        raise RuntimeError(CANARY)

    world.memories.listed = broken  # type: ignore[method-assign, assignment]  # a bug
    async with world.client() as client:
        response = await client.get("/v1/memories")
    assert is_problem(response, 500, "internal")
    printed = "".join(capsys.readouterr())
    assert CANARY not in response.text + printed
    assert "RuntimeError" in printed


async def test_lists_fail_closed_when_redis_is_away_and_recall_says_degraded(world: World) -> None:
    world.shelf.away = True
    async with world.client() as client:
        for path in ("/v1/memories", "/v1/questions", f"/v1/memories/{memory('x').id}"):
            response = await client.get(path)
            assert is_problem(response, 503, "unavailable")
            assert response.headers["retry-after"] == "1"
        recalled = (await client.post("/v1/recall", json=recall_body(knowledge=["shop opens at 9"]))).json()
        erased = await client.delete("/v1/user")
    assert recalled["degraded"] is True
    assert recalled["degraded_parts"] == ["copies"]
    assert [i["content"] for i in recalled["sections"]["knowledge"]] == ["shop opens at 9"]
    assert is_problem(erased, 503, "unavailable")
    assert not world.published, "without a durable mark nothing is published"


# Memories


async def test_listing_pages_through_everything_once_and_filters() -> None:
    world = World()
    await world.remember(*(memory(f"note {n}", at=NOW - n * 1000) for n in range(7)))
    await world.remember(memory("a draft", state=State.DRAFT), memory("of a task", task="kitchen"))
    async with world.client() as client:
        seen: list[str] = []
        cursor = ""
        while True:
            page = (await client.get("/v1/memories", params={"limit": 3, "cursor": cursor})).json()
            models.PageAnswer.model_validate(page)
            seen += [m["content"] for m in page["memories"]]
            cursor = page["cursor"]
            if not cursor:
                break
        drafts = (await client.get("/v1/memories", params={"drafts": True})).json()["memories"]
        of_task = (await client.get("/v1/memories", params={"task_id": "kitchen"})).json()["memories"]
        of_kind = (await client.get("/v1/memories", params={"type": ["health"]})).json()["memories"]
    assert seen == [f"note {n}" for n in range(7)] + ["of a task"]
    assert "a draft" in {m["content"] for m in drafts}
    assert [m["content"] for m in of_task] == ["of a task"]
    assert of_kind == []


async def test_one_memory_by_id_and_the_same_404_for_unknown_and_foreign(world: World) -> None:
    own = memory(f"my secret is {CANARY}")
    async with world.client() as client:
        mine = await client.get(f"/v1/memories/{own.id}")
        unknown = await client.get(f"/v1/memories/{'0' * 32}")
    async with world.client(OTHER_USER) as client:
        foreign = await client.get(f"/v1/memories/{own.id}")
    models.MemoryAnswer.model_validate(mine.json())
    assert mine.json()["content"] == f"my secret is {CANARY}"
    assert foreign.content == unknown.content
    assert foreign.status_code == 404


# Erasure


ERASURES: list[tuple[str, str, Any]] = [
    ("DELETE", f"/v1/memories/{memory(f'my secret is {CANARY}').id}", None),
    ("DELETE", "/v1/user", None),
    ("POST", "/v1/erasures", {"selector": {"reach": "user"}}),
    ("POST", "/v1/erasures", {"selector": {"reach": "session", "values": ["s0"]}}),
    ("POST", "/v1/erasures", {"selector": {"reach": "kind", "values": ["fact"]}}),
    (
        "POST",
        "/v1/erasures",
        {"selector": {"reach": "source", "values": [memory(f"my secret is {CANARY}").sources[0].turn_id]}},
    ),
]


@pytest.mark.parametrize(("method", "path", "body"), ERASURES, ids=str)
async def test_what_is_being_erased_is_gone_from_every_route_at_once(
    world: World, method: str, path: str, body: Any
) -> None:
    own = memory(f"my secret is {CANARY}")
    async with world.client() as client:
        response = await client.request(method, path, json=body, params={"wait": "false"})
        assert response.status_code == 202
        listed = await client.get("/v1/memories")
        one = await client.get(f"/v1/memories/{own.id}")
        recalled = await client.post("/v1/recall", json=recall_body(session_id="s9"))
        asked = await client.get("/v1/questions")
        again = await client.delete(f"/v1/memories/{own.id}")
    assert f"my secret is {CANARY}" not in listed.text + one.text + asked.text
    assert not any(recalled.json()["sections"][name] for name in ("stable", "reference", "state"))
    assert one.status_code == again.status_code == 404


async def test_the_mark_is_written_before_the_signed_request_is_published(world: World) -> None:
    honest = world.publish
    marked: list[int] = []

    async def watching(*args: Any, **kwargs: Any) -> Any:
        marked.append(len(await world.reader.marks(OWNER)))
        return await honest(*args, **kwargs)

    world.doors._publish = watching
    async with world.client() as client:
        response = await client.delete("/v1/user", params={"wait": "false", "request_id": "r1"})
    assert marked == [1]
    topic, key, value, headers = world.published[0]
    body = json.loads(value)
    assert (topic, key) == ("memory.delete.v1", b"t1")
    assert body["actor"] == {"sub": "u1", "role": "user"}
    assert headers["ce_id"].decode() == body["request_id"] == response.json()["bus_id"]
    assert response.json()["request_id"] == "r1"
    Signer({"k1": SIGNING}).verify(key, value, headers, "t1")


async def test_an_erasure_that_cannot_be_published_is_503_and_stays_marked(world: World) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise Unavailable("kafka")

    world.doors._publish = away
    async with world.client() as client:
        assert is_problem(await client.delete("/v1/user"), 503, "unavailable")
    assert await world.reader.marks(OWNER)


async def test_the_chain_of_a_memory_is_marked_with_it() -> None:
    world = World()
    old = memory("lived in Lisbon", status=Status.SUPERSEDED)
    new = memory("lives in Porto", supersedes=old.id)
    await world.remember(replace(old, superseded_by=new.id), new, memory("likes rain"))
    async with world.client() as client:
        assert (await client.delete(f"/v1/memories/{new.id}", params={"wait": "false"})).status_code == 202
    assert {m.value for m in await world.reader.marks(OWNER)} == {old.id, new.id}
    assert all(m.reach is Reach.MEMORY for m in await world.reader.marks(OWNER))


async def test_what_was_said_slightly_ahead_of_the_clock_is_hidden_too() -> None:
    world = World()
    await world.remember(memory(CANARY, at=NOW + 120_000))
    async with world.client() as client:
        await client.delete("/v1/user", params={"wait": "false"})
        assert CANARY not in (await client.get("/v1/memories")).text


async def test_a_receipt_comes_with_the_answer_when_the_worker_is_quick(world: World) -> None:
    bound = RequestIds(SIGNING).bound(OWNER, "r1")
    world.shelf.receipts["t1", bound] = receipt(bound, OWNER)
    async with world.client() as client:
        done = await client.delete("/v1/user", params={"request_id": "r1"})
        later = await client.get("/v1/erasures/r1")
        by_bus_id = await client.get(f"/v1/erasures/{quote(bound)}")
        slow = await client.delete("/v1/user", params={"request_id": "r2"})
    models.AcceptedAnswer.model_validate(done.json())
    assert (done.status_code, done.json()["receipt"]["state"]) == (200, "verified")
    assert later.json() == by_bus_id.json()
    assert later.json()["request_id"] == "r1"
    assert slow.status_code == 202
    assert world.slept >= 2.0


async def test_receipts_and_outcomes_of_others_are_not_found(world: World) -> None:
    bound = RequestIds(SIGNING).bound(OWNER, "r1")
    world.shelf.receipts["t1", bound] = receipt(bound, OWNER)
    world.shelf.outcomes["t1", bound] = Outcome(bound, Result.APPLIED, "", (), 1, NOW)
    world.shelf.receipts["t1", "bus"] = receipt("bus", OWNER)
    world.shelf.outcomes["t1", "bus"] = Outcome("bus", Result.APPLIED, "", (), 1, NOW)
    async with world.client() as client:
        assert (await client.get("/v1/commands/r1")).status_code == 200
        assert (await client.get("/v1/erasures/bus")).status_code == 200
        assert (await client.get("/v1/commands/bus")).status_code == 404, "a bare bus id proves nothing"
    for stranger in (OTHER_USER, FAR):
        async with world.client(stranger) as client:
            for name in ("r1", bound, "bus"):
                for kind in ("commands", "erasures"):
                    assert is_problem(await client.get(f"/v1/{kind}/{quote(name)}"), 404, "not-found")


def receipt(request_id: str, scope: Scope) -> Receipt:
    clean = CopyEvidence("redis", 3, 0, (Query("scan", 0),), Physical.ERASED)
    return Receipt(request_id, scope_digest(scope), "user", ReceiptState.VERIFIED, NOW, NOW, 1, 3, (clean,))


async def test_only_an_admin_erases_a_tenant(world: World) -> None:
    body = {"selector": {"reach": "tenant"}}
    world.tenants["t1"] = replace(world.tenants["t1"], shards=2)
    async with world.client() as client:
        assert is_problem(await client.post("/v1/erasures", json=body), 403, "role")
    async with world.client(OWNER, "admin", "root") as client:
        response = await client.post("/v1/erasures", json=body, params={"wait": "false"})
    assert response.status_code == 202
    assert [key for _, key, _, _ in world.published] == [b"t1#0", b"t1#1"]
    async with world.client() as client:
        assert CANARY not in (await client.get("/v1/memories")).text


# Turns and commands


async def test_turns_are_published_under_the_tokens_scope_whatever_the_body_says(world: World) -> None:
    said = {"session_id": "s1", "role": "user", "content": "hello", "id": "x1", "position": [1], "key": "evil"}
    async with world.client() as client:
        response = await client.post("/v1/turns", json=said)
        for lie in ({"user_id": "u2"}, {"tenant_id": "t2"}):
            refused = await client.post("/v1/turns", json=[said, {**said, **lie}])
            assert refused.status_code == 403
    assert response.status_code == 202
    ((topic, key, value, _),) = world.published
    assert (topic, key) == ("conversation.turns.v1", b"t1")
    assert json.loads(value) == {
        "session_id": "s1", "role": "user", "content": "hello", "id": "x1", "tenant_id": "t1", "user_id": "u1",
        "at": NOW,
    }  # fmt: skip


async def test_a_turns_token_lets_a_recall_wait_for_it(world: World) -> None:
    async with world.client() as client:
        said = {"session_id": "s1", "role": "user", "content": "hello"}
        after = (await client.post("/v1/turns", json=said)).json()["token"]
        stale = await client.post("/v1/recall", json=recall_body(after=after))
        world.shelf.progress["conversation.turns.v1", 1] = 0
        fresh = await client.get("/v1/memories", params={"after": after})
    async with world.client(FAR) as client:
        foreign = await client.get("/v1/memories", params={"after": after})
    assert stale.json()["stale"] is True
    assert fresh.json()["stale"] is False
    assert is_problem(foreign, 422, "invalid")


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ({"content": " "}, "turns.1.content"),
        ({"content": "x" * 40_000}, "turns.1.content"),
        ({"role": "boss"}, "turns.1.role"),
        ({"at": NOW + 600_000}, "turns.1.at"),
        ({"at": 0}, "turns.1.at"),
        ({"session_id": "a\nb"}, "turns.1.session_id"),
    ],
)
async def test_one_bad_turn_and_none_is_published(world: World, fault: dict[str, Any], field: str) -> None:
    good = {"session_id": "s1", "role": "user", "content": "hello"}
    async with world.client() as client:
        response = await client.post("/v1/turns", json=[good, {**good, **fault}])
    assert is_problem(response, 422, "invalid")
    assert response.json()["errors"][0]["field"] == field
    assert not world.published


@pytest.mark.parametrize("turns", [[], [{"session_id": "s", "role": "user", "content": "x"}] * 501])
async def test_no_turns_and_too_many_are_refused(world: World, turns: list[Any]) -> None:
    async with world.client() as client:
        assert is_problem(await client.post("/v1/turns", json=turns), 422, "invalid")


async def test_many_turns_travel_in_order_in_records_of_bounded_size(world: World) -> None:
    turns = [{"session_id": "s1", "role": "user", "content": f"{n} " + "x" * 30_000} for n in range(30)]
    async with world.client() as client:
        assert (await client.post("/v1/turns", json=turns)).status_code == 202
    said = [one["content"].split()[0] for _, _, value, _ in world.published for one in json.loads(value)]
    assert said == [str(n) for n in range(30)]
    assert len(world.published) > 1
    assert all(len(value) < 600_000 for _, _, value, _ in world.published)


async def test_a_command_is_signed_in_the_callers_name_and_answers_with_its_outcome(world: World) -> None:
    bound = RequestIds(SIGNING).bound(OWNER, "r1")
    world.shelf.outcomes["t1", bound] = Outcome(bound, Result.CONFLICT, "version", ("m",), 3, NOW)
    body = {
        "kind": "correct", "memory_ids": ["m"], "text": "I live in Porto", "request_id": "r1",
        "actor": {"sub": "root", "role": "admin"},
    }  # fmt: skip
    async with world.client() as client:
        response = await client.post("/v1/commands", json=body)
    assert response.status_code == 200
    assert response.json()["outcome"] == {
        "request_id": "r1", "result": "conflict", "reason": "version", "memory_ids": ["m"], "version": 3,
        "at": "2026-03-01T09:00:00.000Z",
    }  # fmt: skip
    topic, key, value, headers = world.published[0]
    assert topic == "memory.commands.v1"
    assert json.loads(value)["actor"] == {"sub": "u1", "role": "user"}
    Signer({"k1": SIGNING}).verify(key, value, headers, "t1")


@pytest.mark.parametrize(
    ("role", "kind", "allowed"),
    [
        ("user", "review", False),
        ("user", "system_update", False),
        ("user", "tick", False),
        ("user", "pin", True),
        ("service", "review", False),
        ("service", "system_update", True),
        ("reviewer", "review", True),
        ("reviewer", "consent", False),
        ("admin", "review", True),
    ],
)
async def test_a_role_sends_its_own_kinds_only(world: World, role: str, kind: str, allowed: bool) -> None:
    body = {"kind": kind, "memory_ids": ["m"], "text": "t", "allow": True, "user_id": "u1"}
    async with world.client(OWNER, role) as client:
        response = await client.post("/v1/commands", json=body, params={"wait": "false"})
    assert (response.status_code == 202) is allowed
    assert allowed or is_problem(response, 403, "role")
    assert bool(world.published) is allowed


async def test_resetting_everything_hides_everything_at_once_a_context_only_nothing(world: World) -> None:
    async with world.client() as client:
        await client.post(
            "/v1/commands", json={"kind": "reset", "scope": "context", "session_id": "s1"}, params={"wait": "false"}
        )
        assert CANARY in (await client.get("/v1/memories")).text
        await client.post("/v1/commands", json={"kind": "reset", "scope": "all"}, params={"wait": "false"})
        assert CANARY not in (await client.get("/v1/memories")).text


async def test_an_event_clock_tenant_names_the_time_of_a_command_and_else_gets_its_clock() -> None:
    world = World()
    world.shelf.clocks["te"] = NOW - 5000
    async with world.client(Scope("te", "u1")) as client:
        for at in ("2026-03-01T17:00:00+08:00", None):
            body = {"kind": "consent", "allow": False, "at": at}
            await client.post("/v1/commands", json=body, params={"wait": "false"})
    assert [json.loads(value)["at"] for _, _, value, _ in world.published] == ["2026-03-01T17:00:00+08:00", NOW - 5000]
    async with world.client() as client:
        wall = await client.post("/v1/commands", json={"kind": "consent", "allow": False, "at": NOW})
    assert is_problem(wall, 422, "invalid")


# Operations


async def test_health_readiness_and_metrics_without_a_token_and_without_ids(world: World) -> None:
    async with world.client() as client:
        await client.get(f"/v1/memories/{CANARY}")
        await client.get(f"/{CANARY}")
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).status_code == 200
        world.parts["milvus"] = False
        down = await client.get("/readyz")
        metrics = (await client.get("/metrics")).text
    assert is_problem(down, 503, "not-ready")
    assert down.json()["parts"] == {"redis": True, "milvus": False}
    assert CANARY not in metrics
    assert 'route="/v1/memories/{memory_id:path}",status="4xx"' in metrics
    assert 'route="unmatched"' in metrics


async def test_the_openapi_document_is_whole(world: World) -> None:
    async with world.client(None) as client:
        document = (await client.get("/openapi.json")).json()
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert refs <= set(document["components"]["schemas"])
    assert "HTTPBearer" in document["components"]["securitySchemes"]
    routes = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert routes == {
        ("POST", "/v1/recall"), ("GET", "/v1/memories"), ("GET", "/v1/memories/{memory_id}"),
        ("DELETE", "/v1/memories/{memory_id}"), ("DELETE", "/v1/sessions/{session_id}"), ("DELETE", "/v1/user"),
        ("POST", "/v1/erasures"), ("GET", "/v1/erasures/{request_id}"), ("GET", "/v1/questions"),
        ("POST", "/v1/commands"), ("GET", "/v1/commands/{request_id}"), ("POST", "/v1/turns"),
        ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"),
    }  # fmt: skip
    for path, item in document["paths"].items():
        for operation in item.values():
            assert operation["summary"]
            if path.startswith("/v1/"):
                assert operation["security"] == [{"HTTPBearer": []}]
                assert "application/problem+json" in operation["responses"]["401"]["content"]


def _query(path: str) -> dict[str, str]:
    return dict(httpx.URL(path).params)


def test_the_furniture_is_alices() -> None:
    held: Memory = memory(CANARY)
    assert held.scope == OWNER
