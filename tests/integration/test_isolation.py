"""One user's canary is never shown to any other identity, through any route the API documents (A8, A12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from connectors.kafka.topics import TURNS
from tables.policy import Tenant
from tests.integration.kit import Caller, Json, Site, contents, fresh, segment, spellings, turn

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

CANARY = "翡翠鸟k7q"
SAID = (
    "我对{}过敏", "I like {}", "我的地址是{}路8号", "今天想听{}", "{}？", "My name is {}", "My cat is called {}",
    "Please never mention {} to me", "I have to finish the {} report by Friday", "我下周要去{}旅游",
    "My monthly {} budget is 8000", "Keep your answers about {} short this time",
)  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")


class Victim:
    """A user of whom everything that can be remembered is remembered, each with the canary in it."""

    def __init__(self, site: Site) -> None:
        self.tenant = site.tenant("victim")
        self.neighbour_tenant = site.tenant("foreign")
        said = [turn(self.tenant, text.format(CANARY), session="s", task_id="task") for text in SAID]
        site.settled(*site.wire.turns(self.tenant, *said))
        site.settled(*site.wire.turns(self.tenant, turn(self.tenant, f"我现在可以吃{CANARY}了", session="t")))
        self.own = site.client(self.tenant)
        held = self.own.memories(drafts=True)
        self.kinds = {m["type"] for m in held if CANARY in m["content"]}
        self.memories = [m["id"] for m in held]
        self.questions = [q["id"] for q in self.own.questions()]
        command = {"kind": "pin", "memory_ids": self.memories[:1], "pin": "intern", "request_id": "pinned"}
        self.command = str(self.own.ok("POST", "/v1/commands", json=command)["request_id"])
        erased = self.own.erase("source", fresh("nothing"), request_id="erased")
        self.erasure = str(erased["request_id"])

    @property
    def ids(self) -> dict[str, list[str]]:
        """What a stranger may put into a path."""
        some = (*self.memories[:4], *self.questions)  # each more costs a hundred requests
        every = [*some, "s", "t", "task", self.command, self.erasure, "u", self.tenant.id]
        return {"": every}


@pytest.fixture(scope="module")
def victim(site: Site) -> Victim:
    made = Victim(site)
    assert {"health", "preference", "identity", "boundary", "fact", "commitment", "plan", "task"} <= made.kinds
    assert made.questions
    return made


def _strangers(site: Site, victim: Victim) -> Iterator[tuple[str, Caller]]:
    tenant, foreign = victim.tenant.id, victim.neighbour_tenant.id
    yield "another user of the tenant", site.client(tenant, "u2")
    yield "a user whose id begins alike", site.client(tenant, "u ")
    yield "the same user id in another tenant", site.client(foreign, "u")
    yield "a service of another tenant", site.client(foreign, "svc", "service")
    yield "a service that names no user", site.client(foreign, "u", "service")
    yield "an admin of another tenant", site.client(foreign, "adm", "admin")
    yield "nobody", site.nobody()
    yield "an expired token", site.nobody(site.token(tenant, "u", seconds=-10))
    yield "a foreign signature", site.nobody(site.token(tenant, "u", secret="x" * 40))
    yield "no signature", site.nobody("eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJ2Iiwic3ViIjoidSJ9.")


def _bodies(victim: Victim) -> dict[str, list[Json]]:
    """Bodies that try to reach the victim, by route."""
    tenant = victim.tenant.id
    named: list[Json] = [{}, {"user_id": "u"}, {"user_id": "u", "tenant_id": tenant}]
    recalls = [{"query": f"我对{CANARY[:2]}什么过敏", "session_id": "s", **more} for more in named]
    pins = [{"kind": "pin", "memory_ids": victim.memories[:1], "pin": "core", **more} for more in named]
    pins += [{"kind": "confirm", "question_ids": victim.questions, **more} for more in named]
    pins += [{"kind": "reset", "scope": "context", "session_id": "s", **more} for more in named]
    pins = [{**pin, "request_id": victim.command} for pin in pins]
    said = [{"session_id": "s", "role": "user", "content": "ok", **more} for more in named]
    erased = [{"selector": {"reach": "memory", "values": victim.memories[:1]}, **more} for more in named]
    return {"/v1/recall": recalls, "/v1/commands": pins, "/v1/turns": said, "/v1/erasures": erased}


def _requests(site: Site, victim: Victim) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation of the OpenAPI document, its path filled with every id of the victim's."""
    document = site.http.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method not in operations:
                continue
            for filled in _filled(path, victim):
                for query in ({}, {"user_id": "u"}):
                    for body in _bodies(victim).get(path, [None]):
                        yield method.upper(), filled, {"params": query, **({"json": body} if body else {})}


def _filled(path: str, victim: Victim) -> list[str]:
    if "{" not in path:
        return [path]
    head, _, rest = path.partition("{")
    tail = rest.partition("}")[2]
    return [f"{head}{segment(one)}{tail}" for one in victim.ids[""]]


def test_no_other_identity_ever_sees_the_canary(site: Site, victim: Victim) -> None:
    asked = 0
    for who, caller in _strangers(site, victim):
        for method, path, more in _requests(site, victim):
            answer = caller.request(method, path, **more)
            asked += 1
            shown = any(needle in answer.content for needle in spellings(CANARY))
            assert not shown, f"{who}: {method} {path} {sorted(more)}"
            assert not any(
                victim_id.encode() in answer.content for victim_id in victim.memories if victim_id not in path
            )
    print(f"\n{asked} requests")
    assert asked > 300


def test_a_strangers_requests_changed_nothing_of_the_victims(site: Site, victim: Victim) -> None:
    assert {m["id"] for m in victim.own.memories()} == set(victim.memories)
    assert {q["id"] for q in victim.own.questions()} == set(victim.questions)
    window = victim.own.recall("hm", "s", max_tokens=20_000)
    assert contents(window, "window") == [text.format(CANARY) for text in SAID]
    assert victim.own.ok("GET", "/v1/erasures/erased")["request_id"] == "erased"
    assert victim.own.ok("GET", f"/v1/commands/{victim.command}")["memory_ids"] == victim.memories[:1]
    assert {m["pin"] for m in victim.own.memories()} == {"none", "intern"}  # the victim's own pin, not a stranger's


def test_what_is_not_yours_is_answered_like_what_does_not_exist(site: Site, victim: Victim) -> None:
    stranger = site.client(victim.tenant, "u3")  # who has not asked for anything under these ids
    for path in ("/v1/memories/{}", "/v1/erasures/{}", "/v1/commands/{}"):
        for one in (victim.memories[0], victim.erasure, victim.command):
            theirs, none = stranger.request("GET", path.format(one)), stranger.request("GET", path.format("0" * 32))
            assert (theirs.status_code, theirs.content) == (none.status_code, none.content) or theirs.status_code == 404


def test_a_dead_letters_headers_name_the_field_and_never_what_it_holds(site: Site, victim: Victim) -> None:
    bad = (
        turn(victim.tenant, f"{CANARY}\x00"),
        turn(victim.tenant, CANARY, session=f"{CANARY}\n"),
        turn(victim.tenant, CANARY, role=CANARY),
        turn(victim.tenant, CANARY, at=CANARY),
    )
    site.settled(*site.wire.turns(victim.tenant, *bad))
    letters = [r for r in site.letters(TURNS) if r.key == victim.tenant.id.encode()]
    assert len(letters) == len(bad)
    added = b"".join(value or b"" for r in letters for name, value in r.headers)
    assert not any(needle in added for needle in spellings(CANARY))


def test_the_canary_is_in_no_log_and_no_metric(site: Site, victim: Victim) -> None:
    for needle in spellings(CANARY):
        assert needle not in site.logs()
        assert needle not in site.metrics()


def test_the_owner_sees_it_which_shows_that_the_test_looks(site: Site, victim: Victim) -> None:
    assert isinstance(victim.tenant, Tenant)
    assert any(CANARY in m["content"] for m in victim.own.memories())
