"""Ids that are legal and look like something else: byte-exact on every road, in every engine, and nobody else's."""

from __future__ import annotations

import unicodedata

import pytest

from connectors.kafka.topics import DELETE, TURNS
from tables.keys import ID_BYTES_MAX
from tests.integration.kit import Site, contents, fresh, now_ms, segment, turn, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SAID = "I love figs."
LATER = "I love dates."

HOSTILE = {
    "quotes": '"it\'s" `so`',
    "backslashes": "\\\\n\\u0000\\",
    "wildcards": "*?[a-z]",
    "percents": "%2F%00%s%25",
    "slashes": "/a//b/",
    "one slash": "/",
    "hash": "a#0#",
    "dots": "..",
    "query": "?a=1&b=2;c+d",
    "braces": "{0} ${x} {{y}}",
    "filter": 'x" or memory_id != "',
    "colons": ":tw:u:*",
    "spaces": "  a  ",
    "CJK": "用户·张三",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈",
    "right to left": "\u202eabc\u2066",
    "separators": "a\u2028b\u2029c",
    "replacement": "\ufffd",
    "128 bytes": "汉" * 42 + "ab",
    "tilde": "a~0123456789abcdef",
}

ALIKE = (
    "a", "A", "a ", " a", "a/b", "a%2Fb", "a%252Fb", "a#b", "a%23b", "%", "%25", "a\\b", "a\\\\b", "a*", "a?",
    unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é"), "ﬁ", "fi", "ａ", "а", "a\u200b",
    "0", "00", "null", "None", "true", "-1", "a" * ID_BYTES_MAX, "a" * (ID_BYTES_MAX - 1),
)  # fmt: skip


@pytest.mark.parametrize("one", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_id_is_itself_from_the_first_turn_to_the_erasure(site: Site, one: str) -> None:
    """It is the tenant, the user, the session, the turn and the request at once."""
    assert len(one.encode()) <= ID_BYTES_MAX
    tenant = site.tenant(tenant_id=one)
    user = site.client(tenant, one)
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID, user=one, session=one, id=one)))
    (memory,) = user.memories(after=user.say(LATER, session=one, id=f"{one[:30]}+"), status="active")[1:]

    shown = user.ok("GET", f"/v1/memories/{memory['id']}")
    assert (shown["session_id"], shown["source_ids"], shown["content"]) == (one, [one], SAID)
    answer = user.recall("figs", session=one)
    assert contents(answer, "window") == [SAID, LATER]
    assert contents(user.recall("figs", session="other"), "reference") == [SAID]

    first = user.erase("source", one, request_id=one)
    assert (first["request_id"], first["receipt"]["state"], first["receipt"]["memories"]) == (one, "verified", 1)
    assert user.ok("GET", f"/v1/erasures/{segment(one)}") == first["receipt"]
    assert contents(user.recall("figs", session=one), "window") == [LATER]

    last = user.ok("DELETE", f"/v1/sessions/{segment(one)}")
    assert last["receipt"]["state"] == "verified"
    assert (user.memories(), contents(user.recall("figs", session=one))) == ([], [])
    assert not [letter for letter in site.letters(TURNS) if letter.key == one.encode()]
    site.equal(one)


@pytest.mark.parametrize("one", [HOSTILE["filter"], HOSTILE["wildcards"], HOSTILE["percents"], HOSTILE["emoji"]])
def test_a_hostile_id_is_itself_on_the_topics(site: Site, one: str) -> None:
    tenant = site.tenant("topics")
    neighbour = site.client(tenant, "neighbour")
    neighbour.say(SAID, session=one, id=one)
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID, user=one, session=one, id=one)))
    delete = {
        "request_id": one,
        "tenant_id": tenant.id,
        "user_id": one,
        "selector": {"reach": "session", "values": [one]},
        "actor": {"sub": one, "role": "user"},
        "at": now_ms(),
    }

    site.settled(site.wire.signed(DELETE, tenant, delete))

    user = site.client(tenant, one)
    assert (user.memories(), contents(user.recall("figs", session=one))) == ([], [])
    receipt = user.ok("GET", f"/v1/erasures/{segment(one)}")
    assert (receipt["request_id"], receipt["state"], receipt["memories"]) == (one, "verified", 1)
    assert [memory["content"] for memory in neighbour.memories()] == [SAID]
    assert contents(neighbour.recall("figs", session=one), "window") == [SAID]


def test_ids_that_look_alike_are_never_one(site: Site) -> None:
    """As users of one tenant, each with a session of that name: each finds its own, all of it and nothing else."""
    tenant = site.tenant("alike")
    said = {one: f"I love dish{number}." for number, one in enumerate(ALIKE)}
    assert len(said) == len(ALIKE)
    site.settled(
        *site.wire.turns(tenant, *(turn(tenant, text, user=one, session=one, id="t") for one, text in said.items()))
    )

    for one, text in said.items():
        user = site.client(tenant, one)
        assert [memory["content"] for memory in user.memories()] == [text]
        assert contents(user.recall("dish", session=one), "window") == [text]
        assert contents(user.recall("dish", session=fresh("other")), "window") == []

    gone, *left = said
    site.client(tenant, gone).ok("DELETE", "/v1/user")
    assert site.client(tenant, gone).memories() == []
    for one in left:
        assert [memory["content"] for memory in site.client(tenant, one).memories()] == [said[one]]


def test_tenants_whose_names_look_alike_are_never_one(site: Site) -> None:
    names = ("x", "x#0", "x%230", "x%2F", "x/", "X", "x ", "%78")
    tenants = {name: site.tenant(tenant_id=f"alike {name}") for name in names}
    for name, tenant in tenants.items():
        site.client(tenant).say(f"I love {segment(name).encode().hex()}food.", session="s", id="t")

    for name, tenant in tenants.items():
        user = site.client(tenant)
        until(user.memories, "the memory")
        assert [m["content"] for m in user.memories()] == [f"I love {segment(name).encode().hex()}food."]


def test_the_command_line_takes_a_hostile_id_as_it_is(site: Site) -> None:
    one = HOSTILE["filter"] + HOSTILE["backslashes"] + "用户 👩‍👧"
    tenant = site.tenant("line")
    user = site.client(tenant, one)
    site.settled(*site.wire.turns(tenant, turn(tenant, SAID, user=one, session=one)))

    done = site.run("erase", "--tenant", tenant.id, "--user", one, "--session", one, "--request-id", one, "--wait")

    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout
    assert (user.memories(), contents(user.recall("figs", session=one))) == ([], [])
    assert user.ok("GET", f"/v1/erasures/{segment(one)}")["state"] == "verified"
