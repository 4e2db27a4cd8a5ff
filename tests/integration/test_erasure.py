"""What was erased is gone: from every read path, at once, for good; its neighbours stay (A11, N2)."""

from __future__ import annotations

import time

import pytest

from connectors.kafka.topics import CHANGES, DELETE, RECEIPTS, TURNS
from tables.policy import Tenant
from tests.integration.kit import Caller, Json, Site, contents, fresh, headers_of, now_ms, spellings, turn

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SECRET = "我对开心果过敏"
VALUE = "开心果"
OTHER = "我住在杭州"


def _told(site: Site, user: str = "u", session: str = "s") -> tuple[Tenant, Caller]:
    """A tenant whose user said two things in two sessions, and a neighbour who said the same secret."""
    tenant = site.tenant("erase")
    site.settled(
        *site.wire.turns(
            tenant,
            turn(tenant, SECRET, user=user, session=session, id="said-1"),
            turn(tenant, OTHER, user=user, session="another", id="said-2"),
            turn(tenant, SECRET, user="neighbour", session=session, id="said-1"),
        )
    )
    caller = site.client(tenant, user)
    assert {m["content"] for m in caller.memories()} == {SECRET, OTHER}
    return tenant, caller


def _seen(caller: Caller) -> list[str]:
    """Everything that any read path shows of the secret."""
    shown: list[str] = []
    for session in ("s", "another", "third"):
        for query in (SECRET, "我对什么坚果过敏？", "any food allergies?"):
            shown += contents(caller.recall(query, session))
    for status in ("active", "superseded", "expired"):
        shown += [m["content"] for m in caller.memories(status=status, drafts=True)]
    shown += [q["text"] for q in caller.questions()]
    return [text for text in shown if VALUE in text]


def _nothing_is_left(site: Site, tenant: Tenant, caller: Caller) -> None:
    assert _seen(caller) == []
    assert site.in_index(tenant, VALUE) == 1, "the neighbour's row, and no other"
    neighbour = site.client(tenant, "neighbour")
    assert [m["content"] for m in neighbour.memories()] == [SECRET]


def _of(site: Site, topic: str, tenant: Tenant) -> list[Json]:
    import orjson

    values = [orjson.loads(record.value) for record in site.wire.read(topic) if record.value]
    return [v for v in values if v.get("tenant_id") == tenant.id and v.get("user_id") == "u"]


def test_a_memory_erased_by_id_is_shown_by_no_read_path_from_the_answer_on(site: Site) -> None:
    tenant, caller = _told(site)
    (named,) = [m["id"] for m in caller.memories() if m["content"] == SECRET]
    answer = caller.ok("DELETE", f"/v1/memories/{named}")
    _nothing_is_left(site, tenant, caller)
    assert answer["receipt"]["state"] == "verified"
    assert [m["content"] for m in caller.memories()] == [OTHER]
    assert caller.request("GET", f"/v1/memories/{named}").status_code == 404
    site.equal(tenant.id)


def test_a_session_erased_takes_what_was_said_in_it_and_nothing_else(site: Site) -> None:
    tenant, caller = _told(site)
    assert caller.ok("DELETE", "/v1/sessions/s")["receipt"]["state"] == "verified"
    _nothing_is_left(site, tenant, caller)
    assert contents(caller.recall("?", "s"), "window") == []
    assert [m["content"] for m in caller.memories()] == [OTHER]


def test_a_user_erased_leaves_nothing_and_may_come_back_under_the_same_names(site: Site) -> None:
    tenant, caller = _told(site)
    assert caller.ok("DELETE", "/v1/user")["receipt"]["state"] == "verified"
    _nothing_is_left(site, tenant, caller)
    assert caller.memories() == []
    time.sleep(0.01)
    after = caller.say("I live in Leeds", "s")
    assert [m["content"] for m in caller.memories(after=after)] == ["I live in Leeds"]


def test_a_redelivered_or_late_turn_does_not_bring_back_what_was_erased(site: Site) -> None:
    tenant, caller = _told(site)
    caller.ok("DELETE", "/v1/user")
    late = now_ms() - 60_000
    site.settled(
        *site.wire.turns(
            tenant,
            turn(tenant, SECRET, id="said-1", at=late),
            turn(tenant, SECRET, id="never-seen", at=late),
        )
    )
    _nothing_is_left(site, tenant, caller)


def test_a_delete_by_topic_is_unreadable_within_a_second_of_its_ack(site: Site) -> None:
    tenant, caller = _told(site)
    data = {
        "request_id": fresh("topic"),
        "tenant_id": tenant.id,
        "user_id": "u",
        "selector": {"reach": "user"},
        "reason": "asked",
        "actor": {"sub": "u", "role": "service"},
        "at": now_ms(),
    }
    position = site.wire.signed(DELETE, tenant, data)
    time.sleep(1.0)
    assert _seen(caller) == []
    site.settled(position)
    _nothing_is_left(site, tenant, caller)


def test_the_same_request_again_gives_the_same_receipt_and_does_nothing_twice(site: Site) -> None:
    tenant, caller = _told(site)
    first = caller.erase("session", "s", request_id="once")
    told = len(_of(site, CHANGES, tenant))
    again = caller.erase("session", "s", request_id="once")
    assert again["receipt"] == first["receipt"] == caller.ok("GET", "/v1/erasures/once")
    assert len(_of(site, CHANGES, tenant)) == told


def test_a_receipt_and_the_events_of_an_erasure_hold_no_content(site: Site) -> None:
    tenant, caller = _told(site)
    caller.ok("DELETE", "/v1/user")
    receipts = b"".join(record.value for record in site.wire.read(RECEIPTS))
    erased = [v for v in _of(site, CHANGES, tenant) if v["op"] == "d"]
    assert len(erased) == 2
    assert not any(needle in receipts for needle in spellings(VALUE))
    assert not any(VALUE in repr(event) for event in erased)
    assert not any(needle in site.logs() for needle in spellings(VALUE))
    assert not any(VALUE.encode() in v for r in site.letters(TURNS) for v in headers_of(r).values() if v)
