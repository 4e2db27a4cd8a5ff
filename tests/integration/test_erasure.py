"""What was erased is gone: from every read path, at once, for good, with proof; its neighbours stay (A11, N2)."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from connectors.codec import parse_json
from connectors.kafka.topics import CHANGES, DELETE, RECEIPTS, STATE, TURNS, changelog
from tables.keys import Position, Scope, route
from tables.policy import Tenant
from tests.integration.kit import Json, Record, Site, contents, fresh, headers_of, now_ms, spellings, turn

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

REACHES = ("memory", "source", "session", "task", "user")
OF_A_TASK = "My monthly {} budget is 8000"  # what belongs to the user outlives the task that it was said in
FENCED_WITHIN_SECONDS = 1.0


class Told:
    """A user who said a secret in one session and something else in another, and a neighbour under the same names."""

    def __init__(self, site: Site, says: str = "I love {}, it is the best.") -> None:
        self.site = site
        self.word = fresh("hazel").replace("-", "")
        self.secret = says.format(self.word)
        self.other, self.neighbours = "I live in Leeds", "I love cashews."
        self.tenant: Tenant = site.tenant("erase")
        self.user, self.neighbour = site.client(self.tenant), site.client(self.tenant, "neighbour")
        self.turns = [
            turn(self.tenant, self.secret, id="said-1", task_id="task-1"),
            turn(self.tenant, self.other, session="another", id="said-2"),
            turn(self.tenant, self.neighbours, user="neighbour", id="said-1", task_id="task-1"),
        ]
        site.settled(*site.wire.turns(self.tenant, *self.turns))
        self.named = next(m["id"] for m in self.user.memories(drafts=True) if self.word in m["content"])
        assert self.shown(), "the test can see what it looks for"

    def selector(self, reach: str) -> list[str]:
        """The values that select the secret, and nothing of the rest unless the whole user goes."""
        return {"memory": [self.named], "source": ["said-1"], "session": ["s"], "task": ["task-1"]}.get(reach, [])

    def shown(self) -> list[str]:
        """Where any read path shows the secret."""
        found: list[str] = []
        for session in ("s", "another", "third"):
            for query in (self.secret, self.word, "what do I love?"):
                for more in ({}, {"task_id": "task-1"}, {"purpose": "rewrite"}):
                    answer = self.user.recall(query, session, **more)
                    found += [f"recall {text}" for text in contents(answer) if self.word in text]
                    if self.word not in query and self.word in (answer["prompt"] or ""):
                        found.append("prompt")
        for status in ("active", "superseded", "expired"):
            page = self.user.memories(status=status, drafts=True)
            found += [f"list {m['content']}" for m in page if self.word in str(m)]
        found += [f"question {q['text']}" for q in self.user.questions() if self.word in str(q)]
        by_id = self.user.request("GET", f"/v1/memories/{self.named}")
        found += [f"by id {by_id.text}"] if by_id.status_code != 404 else []
        return found

    def left(self) -> list[str]:
        """Where a copy still holds the word: Redis key by key, the index row by row, the last row of each table."""
        found = self.site.in_redis(self.word)
        found += [f"{self.site.in_index(self.tenant, self.word)} rows of the index"]
        for topic in (STATE, *(changelog(table) for table in ("memories", "sessions", "questions", "books"))):
            last: dict[bytes | None, bytes | None] = {record.key: record.value for record in self.site.wire.read(topic)}
            found += [f"{topic} {key!r}" for key, value in last.items() if self.word.encode() in (value or b"")]
        return [one for one in found if one != "0 rows of the index"]

    def rest(self) -> dict[str, Any]:
        """Everything of the neighbours: what must be the same afterwards."""
        return {
            "memories": [(m["id"], m["content"], m["version"]) for m in self.neighbour.memories()],
            "window": contents(self.neighbour.recall("hm"), "window"),
            "other session": contents(self.user.recall("hm", "another"), "window"),
            "other memories": [m["id"] for m in self.user.memories() if m["id"] != self.named],
        }

    def events(self, topic: str) -> list[Record]:
        """Every event about this tenant, again and again those that were sent again."""
        key = route(Scope(self.tenant.id, "u"))
        return [r for r in self.site.wire.read(topic) if r.key == key]

    def ask(self, reach: str, **more: Any) -> Json:
        return self.user.erase(reach, *self.selector(reach), **more)

    def by_topic(self, reach: str, request_id: str) -> Position:
        values = self.selector(reach)
        body = {
            "request_id": request_id,
            "tenant_id": self.tenant.id,
            "user_id": "u",
            "selector": {"reach": reach, **({"values": values} if values else {})},
            "actor": {"sub": "desk", "role": "service"},
            "at": now_ms(),
        }
        return self.site.wire.signed(DELETE, self.tenant, body)


@pytest.fixture
def told(site: Site) -> Told:
    return Told(site)


@pytest.fixture
def asleep(site: Site, told: Told) -> Iterator[None]:
    """The worker holds its breath, shorter than its group waits for it."""
    site.engine.kill(site.worker, signal.SIGSTOP)
    yield
    site.engine.kill(site.worker, signal.SIGCONT)


@pytest.mark.parametrize("reach", REACHES)
def test_after_the_answer_no_read_path_shows_it_and_no_copy_holds_it(site: Site, reach: str) -> None:
    told = Told(site, OF_A_TASK) if reach == "task" else Told(site)
    before = told.rest()

    answer = told.ask(reach)

    assert told.shown() == []
    assert (answer["receipt"]["state"], answer["receipt"]["memories"]) == ("verified", 2 if reach == "user" else 1)
    assert told.left() == []
    _neighbours_are_untouched(told, before, whole=reach == "user")


@pytest.mark.parametrize("reach", ["memory", "session", "user"])
def test_a_delete_by_topic_is_unreadable_within_a_second_of_its_ack(told: Told, reach: str) -> None:
    before = told.rest()

    position = told.by_topic(reach, "topic-1")
    time.sleep(FENCED_WITHIN_SECONDS)

    assert told.shown() == []
    told.site.settled(position)
    receipt = told.user.ok("GET", "/v1/erasures/topic-1")
    assert (receipt["state"], receipt["memories"]) == ("verified", 2 if reach == "user" else 1)
    assert told.left() == []
    _neighbours_are_untouched(told, before, whole=reach == "user")


@pytest.mark.parametrize(
    ("reach", "option"),
    [
        ("memory", lambda told: ["--memory", told.named]),
        ("session", lambda told: ["--session", "s"]),
        ("user", lambda told: ["--everything"]),
    ],
)
def test_the_command_line_erases_and_shows_the_receipt(
    told: Told, reach: str, option: Callable[[Told], list[str]]
) -> None:
    before = told.rest()
    scope = ("--tenant", told.tenant.id, "--user", "u")

    done = told.site.run("erase", *scope, *option(told), "--request-id", "line-1", "--wait", "--json")

    assert done.returncode == 0, done.stderr
    printed = cast(Json, parse_json(done.stdout.encode()))
    assert printed["state"] == "verified"
    assert told.word not in done.stdout + done.stderr
    assert (told.shown(), told.left()) == ([], [])
    assert told.user.ok("GET", "/v1/erasures/line-1")["state"] == "verified"
    _neighbours_are_untouched(told, before, whole=reach == "user")


@pytest.mark.parametrize(
    "path", ["/v1/memories/{named}", "/v1/sessions/s", "/v1/user"], ids=["memory", "session", "user"]
)
def test_it_is_unreadable_from_the_answer_on_even_while_no_worker_works(told: Told, path: str, asleep: None) -> None:
    """The API's mark comes before its answer; the worker confirms it when it is back."""
    answer = told.user.request("DELETE", path.format(named=told.named), params={"request_id": "early"})

    assert (answer.status_code, told.shown()) == (202, [])
    told.site.engine.kill(told.site.worker, signal.SIGCONT)
    again = told.user.request("DELETE", path.format(named=told.named), params={"request_id": "early"})
    assert again.status_code in (200, 202, 404)
    told.site.settled(*told.site.wire.turns(told.tenant, turn(told.tenant, "thanks")))
    assert told.user.ok("GET", "/v1/erasures/early")["state"] == "verified"
    assert (told.shown(), told.left()) == ([], [])


@pytest.mark.parametrize("reach", ["memory", "session", "user"])
def test_the_same_request_again_gives_the_same_receipt_and_does_nothing_twice(told: Told, reach: str) -> None:
    first = told.ask(reach, request_id="once")
    changes, states = len(told.events(CHANGES)), len(told.site.wire.read(STATE))

    again = told.ask(reach, request_id="once")
    told.site.settled(told.by_topic(reach, first["bus_id"]))  # and once more, as the bus may deliver it

    assert again["receipt"] == first["receipt"] == told.user.ok("GET", "/v1/erasures/once")
    assert (len(told.events(CHANGES)), len(told.site.wire.read(STATE))) == (changes, states)
    assert len({bytes(r.value or b"") for r in told.events(RECEIPTS)}) == 1


@pytest.mark.parametrize("reach", ["memory", "session", "user"])
def test_what_is_delivered_again_or_too_late_does_not_come_back(told: Told, reach: str) -> None:
    told.ask(reach)
    late = now_ms() - 60_000

    told.site.settled(
        *told.site.wire.turns(
            told.tenant,
            told.turns[0],  # byte for byte
            {**told.turns[0], "at": late},
            {**told.turns[0], "id": "said-1"},
        )
    )

    assert (told.shown(), told.left()) == ([], [])


@pytest.mark.parametrize("reach", ["session", "user"])
def test_an_old_turn_that_was_never_seen_is_behind_the_fence_too(told: Told, reach: str) -> None:
    old = turn(told.tenant, told.secret, id="never-seen", at=now_ms())
    told.ask(reach)

    told.site.settled(*told.site.wire.turns(told.tenant, old))

    assert (told.shown(), told.left()) == ([], [])


@pytest.mark.parametrize("reach", ["session", "user"])
def test_a_new_turn_after_the_fence_is_welcome(told: Told, reach: str) -> None:
    told.ask(reach)
    time.sleep(0.01)  # the next millisecond

    after = told.user.say("I love dates.", "s", id="said-3")

    assert "I love dates." in [m["content"] for m in told.user.memories(after=after)]
    assert contents(told.user.recall("hm", "s"), "window") == ["I love dates."]


def test_a_change_of_mind_is_erased_with_everything_before_it(site: Site) -> None:
    """A memory is erased with every version of it: the last one must not bring the first one back."""
    tenant = site.tenant("chain")
    user = site.client(tenant)
    words = [fresh("town").replace("-", "") for _ in range(3)]
    for number, word in enumerate(words):
        token = user.say(f"I live in {word}", f"s{number}")
    (last,) = user.memories(after=token)
    assert [m["value"] for m in user.memories(status="superseded")] == words[1::-1]

    user.ok("DELETE", f"/v1/memories/{last['id']}")

    assert (user.memories(), user.memories(status="superseded")) == ([], [])
    for word in words:
        assert (site.in_redis(word), site.in_index(tenant, word)) == ([], 0)


def test_a_question_about_what_was_erased_is_not_asked(site: Site) -> None:
    tenant = site.tenant("asked")
    user = site.client(tenant)
    word = fresh("nut").replace("-", "")
    for session in ("s1", "s2"):
        user.say(f"I'm allergic to {word}", session)
    user.memories(after=user.say(f"I'm no longer allergic to {word}", "s3"))
    asked = user.questions()
    assert asked, "there was a question to begin with"

    user.erase("user")

    assert user.questions() == []
    assert (site.in_redis(word), site.in_index(tenant, word)) == ([], 0)


def test_a_receipt_and_the_events_of_an_erasure_hold_no_content(told: Told) -> None:
    answer = told.ask("user", request_id="proof")

    erased = [r for r in told.events(CHANGES) if b'"op":"d"' in (r.value or b"")]
    assert len(erased) == 2
    held = [str(answer).encode(), *(bytes(r.value or b"") for r in (*erased, *told.events(RECEIPTS)))]
    held += [told.site.logs(), told.site.metrics()]
    held += [v or b"" for r in told.site.letters(TURNS) for v in headers_of(r).values()]
    assert not [one for one in held if any(needle in one for needle in spellings(told.word))]


def test_a_receipt_names_every_copy_and_what_was_found_in_it(told: Told) -> None:
    answer = told.ask("user", request_id="copies")

    copies = {copy["copy"]: copy for copy in answer["receipt"]["copies"]}
    assert {"windows", "ledger", "index", "copies", "questions", "bus", "dead_letters"} <= set(copies)
    assert [copy["after"] for copy in copies.values()] == [0] * len(copies)
    assert (copies["ledger"]["before"], copies["index"]["before"], copies["windows"]["before"]) == (2, 2, 2)
    assert all(q["found"] == 0 for copy in copies.values() for q in copy["queries"])
    assert copies["bus"]["physical"] == "pending"
    assert copies["bus"]["until"] is not None


def _neighbours_are_untouched(told: Told, before: dict[str, Any], *, whole: bool) -> None:
    after = told.rest()
    if whole:
        assert (after.pop("other session"), after.pop("other memories")) == ([], [])
    assert after == {name: before[name] for name in after}
    told.site.equal(told.tenant.id)
