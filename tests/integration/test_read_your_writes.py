"""A client reads what it wrote (design §11.3), and an event-time tenant lives by its own clock (§11.2)."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from connectors.kafka.topics import CHANGES
from tables.policy import Clock
from tests.integration.kit import Site, contents, fresh, headers_of, now_ms, until

pytestmark = pytest.mark.real

DAY_MS = 86_400_000
T0 = 1_772_355_600_000  # 1 March 2026, 09:00 UTC


@pytest.fixture
def stopped(site: Site) -> Iterator[None]:
    """The worker holds its breath, shorter than its group waits for it."""
    site.engine.kill(site.worker, signal.SIGSTOP)
    yield
    site.engine.kill(site.worker, signal.SIGCONT)


def test_after_a_token_every_read_sees_the_write(site: Site) -> None:
    tenant = site.tenant("mine")
    for number in range(5):
        user = site.client(tenant, f"user-{number}")
        token = user.say(f"I love drink{number}.", id=f"t-{number}")
        answer = user.recall(f"what about drink{number}", after=token)
        listed = user.memories(after=token)

        assert (answer["stale"], answer["degraded"]) == (False, False)
        assert contents(answer, "window") == [f"I love drink{number}."]
        assert [memory["content"] for memory in listed] == [f"I love drink{number}."]


def test_a_list_of_turns_is_seen_as_a_whole(site: Site) -> None:
    user = site.client(site.tenant("mine"))
    turns = [{"session_id": "s", "role": "user", "content": f"I love dish{n}."} for n in range(40)]

    token = user.ok("POST", "/v1/turns", json=turns)["token"]

    assert {memory["content"] for memory in user.memories(after=token)} == {turn["content"] for turn in turns}


def test_a_refused_turn_counts_as_done(site: Site) -> None:
    """Small talk leaves no memory, and nobody waits for one."""
    user = site.client(site.tenant("mine"))
    token = user.say("thanks")

    assert user.memories(after=token) == []
    assert contents(user.recall("hm", after=token), "window") == ["thanks"]


def test_without_a_worker_reads_say_that_they_are_stale(site: Site, stopped: None) -> None:
    user = site.client(site.tenant("mine"))
    token = user.say("I love figs.")
    began = time.monotonic()
    answer = user.recall("figs", after=token)
    listed = user.ok("GET", "/v1/memories", params={"after": token})
    asked = user.ok("GET", "/v1/questions", params={"after": token})

    assert (answer["stale"], listed["stale"], asked["stale"]) == (True, True, True)
    assert (listed["memories"], contents(answer)) == ([], [])
    assert time.monotonic() - began < 3 * 3.5


def test_without_a_worker_a_command_is_accepted_and_done_later(site: Site) -> None:
    user = site.client(site.tenant("mine"))
    (memory,) = user.memories(after=user.say("I love figs."))
    site.engine.kill(site.worker, signal.SIGSTOP)
    try:
        body = {"kind": "pin", "memory_ids": [memory["id"]], "pin": "core", "request_id": "later"}
        answer = user.request("POST", "/v1/commands", json=body)
        asked = user.request("GET", "/v1/commands/later")
    finally:
        site.engine.kill(site.worker, signal.SIGCONT)

    assert (answer.status_code, asked.status_code) == (202, 404)
    assert "outcome" not in answer.json()
    until(lambda: user.request("GET", "/v1/commands/later").status_code == 200, "the outcome")
    assert [held["pin"] for held in user.memories(after=answer.json()["token"])] == ["core"]


def test_a_token_of_another_tenant_or_of_nobody_is_refused(site: Site) -> None:
    mine, other = site.client(site.tenant("mine")), site.client(site.tenant("other"))
    token = other.say("hello")

    for bad in (token, token[:-2], "AAAA", "%", "ü"):
        body = {"query": "x", "session_id": "s", "after": bad}
        answers = [
            mine.request("POST", "/v1/recall", json=body),
            mine.request("GET", "/v1/memories", params={"after": bad}),
            mine.request("GET", "/v1/questions", params={"after": bad}),
        ]
        assert [answer.status_code for answer in answers] == [422, 422, 422]


def test_only_an_event_clock_lets_the_client_name_the_time(site: Site) -> None:
    wall = site.client(site.tenant("wall"))
    event = site.client(site.tenant("event", clock=Clock.EVENT))
    recall = {"query": "x", "session_id": "s", "at": T0}

    assert wall.request("POST", "/v1/recall", json=recall).status_code == 422
    assert wall.request("GET", "/v1/memories", params={"at": T0}).status_code == 422
    assert wall.request("POST", "/v1/commands", json={"kind": "tick", "at": T0}).status_code in (403, 422)
    assert wall.request("DELETE", "/v1/user", params={"at": T0}).status_code == 422
    assert event.request("POST", "/v1/recall", json=recall).status_code == 200
    assert event.request("GET", "/v1/memories", params={"at": T0}).status_code == 200


def test_an_event_time_tenant_reads_at_the_time_that_it_names(site: Site) -> None:
    user = site.client(site.tenant("event", clock=Clock.EVENT))
    token = user.say("I have an exam tomorrow.", at=T0)

    assert [m["content"] for m in user.memories(after=token)] == ["I have an exam tomorrow."]
    assert [m["content"] for m in user.memories(at=T0 + DAY_MS)] == ["I have an exam tomorrow."]
    assert user.memories(at=T0 + 3 * DAY_MS) == []
    assert contents(user.recall("exam", session="other", at=T0 + 3 * DAY_MS)) == []
    assert contents(user.recall("exam", session="other", at=T0)) == ["I have an exam tomorrow."]


def test_a_tick_lets_fall_due_what_has_ended(site: Site) -> None:
    tenant = site.tenant("event", clock=Clock.EVENT)
    user = site.client(tenant)
    (memory,) = user.memories(after=user.say("I have an exam tomorrow.", at=T0))
    user.say("I love figs.", at=T0)

    service = site.client(tenant, "clock", "service")
    service.ok("POST", "/v1/commands", json={"kind": "tick", "at": T0 + 3 * DAY_MS})

    until(lambda: user.memories(status="expired"), "the exam has expired")
    assert [m["id"] for m in user.memories(status="expired")] == [memory["id"]]
    assert [m["content"] for m in user.memories()] == ["I love figs."]
    until(lambda: memory["id"] in _expired(site), "the change is known")
    site.equal(tenant.id)


def test_a_wall_clock_tenant_lives_by_the_servers_time(site: Site) -> None:
    """A commitment of the day before yesterday is over, whatever the sweeper has done by then."""
    user = site.client(site.tenant("wall"))
    token = user.say("I have an exam tomorrow.", at=now_ms() - 3 * DAY_MS)

    assert contents(user.recall("exam", session=fresh("other"), after=token)) == []
    assert user.memories(after=token) == []
    until(lambda: user.memories(status="expired"), "the exam has expired")


def _expired(site: Site) -> set[str]:
    """Ids of memories whose end by time was announced."""
    changes = [record for record in site.wire.read(CHANGES) if b'"rule":"expired"' in (record.value or b"")]
    return {headers_of(record)["ce_subject"].decode() for record in changes}
