"""What can never be right is answered 4xx with a problem that says what is wrong and repeats nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from connectors.codec import to_json
from tests.integration.kit import Site, contents, now_ms, turn, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

CANARY = "quetzalcanary"
SAID = f"I love {CANARY} and nothing else."
JSON = {"content-type": "application/json"}
TURN: Mapping[str, Any] = {"session_id": "s", "role": "user", "content": SAID}
RECALL: Mapping[str, Any] = {"session_id": "s", "query": SAID}
PIN: Mapping[str, Any] = {"kind": "pin", "memory_ids": ["a" * 32]}
ERASE: Mapping[str, Any] = {"selector": {"reach": "session", "values": ["s"]}}


@dataclass(frozen=True)
class Case:
    method: str
    path: str
    status: int
    more: Mapping[str, Any] = field(default_factory=dict)


def post(path: str, status: int, base: Mapping[str, Any], **fields: Any) -> Case:
    """A good body with these fields changed."""
    return Case("POST", path, status, {"content": to_json({**base, **fields}), "headers": JSON})


def sent(path: str, status: int, content: bytes, kind: str = "application/json") -> Case:
    return Case("POST", path, status, {"content": content, "headers": {"content-type": kind}})


BODIES = ("/v1/turns", "/v1/recall", "/v1/commands", "/v1/erasures")
BAD_IDS = ("a\nb", "\x00", "\x7f", "\x85", "x" * 129, "汉" * 43)

CASES = [
    *(sent(path, 400, b"") for path in BODIES),
    *(sent(path, 400, b'{"content": "' + SAID.encode()) for path in BODIES),
    *(sent(path, 400, b'{"content": "\xff"}') for path in BODIES),
    *(sent(path, 400, b"[" * 100_000) for path in BODIES),
    *(sent(path, 415, to_json(TURN), kind) for path in BODIES for kind in ("text/plain", "", "application/x-json")),
    *(sent(path, 422, value) for path in BODIES for value in (b"7", b'"text"', b"null", b"{}", b"[7]", b"[[]]")),
    *(sent(path, 413, b'{"content":"' + b"x" * 5_000_000 + b'"}') for path in BODIES),
    sent("/v1/turns", 422, b"[]"),
    sent("/v1/turns", 422, b'{"session_id":"s","role":"user","content":"' + SAID.encode() + b'\\ud800"}'),
    sent("/v1/recall", 422, b'{"session_id":"s","query":"' + SAID.encode() + b'\\udfff"}'),
    post("/v1/turns", 422, TURN, v=2),
    post("/v1/turns", 422, TURN, content=7),
    post("/v1/turns", 422, TURN, content={"text": SAID}),
    post("/v1/turns", 422, TURN, content="\u3000 \n"),
    post("/v1/turns", 422, TURN, content=f"{SAID}\x00"),
    post("/v1/turns", 422, TURN, content=f"{SAID} " * 1000),
    post("/v1/turns", 422, TURN, role=CANARY),
    post("/v1/turns", 422, TURN, consent="yes"),
    post("/v1/turns", 422, TURN, at=0),
    post("/v1/turns", 422, TURN, at="1970-01-01T00:00:00Z"),
    post("/v1/turns", 422, TURN, at="2026-03-01T09:00:00"),
    post("/v1/turns", 422, TURN, at=CANARY),
    post("/v1/turns", 422, TURN, at=1.5),
    post("/v1/turns", 422, TURN, at=True),
    post("/v1/turns", 422, TURN, at=now_ms() + 86_400_000),
    *(post("/v1/turns", 422, TURN, **{name: one}) for name in ("session_id", "id", "task_id") for one in BAD_IDS),
    *(post("/v1/recall", 422, RECALL, session_id=one) for one in BAD_IDS),
    *(post("/v1/commands", 422, PIN, request_id=one) for one in BAD_IDS),
    *(post("/v1/erasures", 422, ERASE, request_id=one) for one in BAD_IDS),
    *(post("/v1/erasures", 422, ERASE, selector={"reach": "session", "values": [one]}) for one in BAD_IDS),
    *(post(path, 403, base, tenant_id=CANARY) for path, base in zip(BODIES, (TURN, RECALL, PIN, ERASE), strict=True)),
    *(post(path, 403, base, user_id=CANARY) for path, base in zip(BODIES, (TURN, RECALL, PIN, ERASE), strict=True)),
    post("/v1/recall", 422, RECALL, query="  "),
    post("/v1/recall", 422, RECALL, at=now_ms()),
    post("/v1/recall", 422, RECALL, as_of=now_ms()),
    post("/v1/recall", 422, RECALL, max_tokens=-1),
    post("/v1/recall", 422, RECALL, after=CANARY),
    post("/v1/recall", 422, RECALL, knowledge=[f"{SAID}\x00"]),
    post("/v1/recall", 422, RECALL, messages=[{"role": "user", "content": f"{SAID}\x00"}]),
    post("/v1/commands", 422, PIN, kind=CANARY),
    post("/v1/commands", 422, PIN, memory_ids=None),
    post("/v1/commands", 422, PIN, memory_ids="abc"),
    post("/v1/commands", 422, PIN, memory_ids=["a"] * 301),
    post("/v1/commands", 422, PIN, pin=CANARY),
    post("/v1/commands", 422, PIN, expected_version=-1),
    post("/v1/commands", 422, PIN, kind="correct", text=f"{SAID}\x00"),
    post("/v1/commands", 403, PIN, kind="review"),
    post("/v1/commands", 403, PIN, kind="system_update", text=SAID),
    post("/v1/commands", 403, PIN, kind="tick"),
    post("/v1/erasures", 422, ERASE, selector={"reach": "everything"}),
    post("/v1/erasures", 422, ERASE, selector={"reach": "user", "values": [CANARY]}),
    post("/v1/erasures", 422, ERASE, selector={"reach": "session"}),
    post("/v1/erasures", 422, ERASE, selector={"reach": "kind", "values": [CANARY]}),
    post("/v1/erasures", 403, ERASE, selector={"reach": "tenant"}),
    *(Case("DELETE", f"/v1/sessions/{one}", 422) for one in ("%00", "%7F", "%FF", "%ED%A0%80", "x" * 129)),
    *(Case("GET", f"/v1/erasures/{one}", 422) for one in ("%00", "%C3", "x" * 129)),
    *(Case(method, path, 404) for method, path in (("DELETE", "/v1/sessions/a%0Ab"), ("GET", "/v1/erasures/a%0Ab"))),
    *(Case("GET", f"/v1/memories/{one}", 404) for one in ("%00", "nothing", "%FF", "a%2Fb", "x" * 1000)),
    *(Case("DELETE", f"/v1/memories/{one}", 404) for one in ("nothing", "a" * 32, "")),
    Case("DELETE", "/v1/sessions/", 422),
    Case("GET", "/v1/memories", 422, {"params": {"status": CANARY}}),
    Case("GET", "/v1/memories", 422, {"params": {"limit": "301"}}),
    Case("GET", "/v1/memories", 422, {"params": {"limit": "many"}}),
    Case("GET", "/v1/memories", 422, {"params": {"cursor": CANARY}}),
    Case("GET", "/v1/memories", 422, {"params": {"type": CANARY}}),
    Case("GET", "/v1/memories", 422, {"params": {"user_id": "a\nb"}}),
    Case("GET", "/v1/memories", 403, {"params": {"user_id": CANARY}}),
    Case("GET", "/v1/nothing", 404),
    Case("PUT", "/v1/turns", 405),
    Case("GET", "/v1/turns", 405),
]


def test_every_bad_request_is_answered_with_a_problem_that_repeats_nothing(site: Site) -> None:
    tenant = site.tenant("bad")
    user = site.client(tenant)
    wrong: list[str] = []
    for case in CASES:
        answer = user.request(case.method, case.path, **case.more)
        body = answer.json() if answer.headers.get("content-type") == "application/problem+json" else {}
        well = (answer.status_code, body.get("status")) == (case.status, case.status)
        if not well or not body["type"].startswith("/problems/") or CANARY in answer.text:
            asked = f"{case.method} {case.path[:40]} {str(case.more.get('content', case.more))[:120]}"
            wrong.append(f"{asked}: {answer.status_code}, not {case.status}: {answer.text[:120]}")

    assert wrong == []
    assert contents(user.recall("hm")) == []
    assert user.memories() == []


def test_of_a_list_with_a_bad_turn_none_is_taken(site: Site) -> None:
    user = site.client(site.tenant("bad"))
    good = {"session_id": "s", "role": "user", "content": "I love figs."}

    answer = user.request("POST", "/v1/turns", json=[good, {**good, "content": " "}, good])

    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": "turns.1.content", "reason": "blank_content"}]
    assert user.memories(after=user.say("thanks")) == []


def test_a_tenant_in_a_token_that_nobody_registered_is_refused(site: Site) -> None:
    stranger = site.client(f"nobody {CANARY}")
    for method, path in (("GET", "/v1/memories"), ("DELETE", "/v1/user"), ("GET", "/v1/questions")):
        answer = stranger.request(method, path)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/unknown-tenant")
        assert CANARY not in answer.text


def test_bad_requests_leave_no_words_in_log_or_metric(site: Site) -> None:
    """Whatever came before, in this file or another: also a good turn that says it."""
    tenant = site.tenant("bad")
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID)))
    until(site.client(tenant).memories, "the memory")

    assert CANARY.encode() not in site.logs()
    assert CANARY.encode() not in site.metrics()
