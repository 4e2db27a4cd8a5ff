"""What can never be right is dead-lettered as it came, with its reason; its neighbours go on, in their order.

One record that stops a worker stops every user of its partition, for ever: the log gives it again. So each bad record
lies between two good turns on the same partition here, and the turn behind it must take effect.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from connectors.codec import to_json
from connectors.kafka.producer import Headers, Outgoing
from connectors.kafka.topics import COMMANDS, DELETE, EXPIRE, RECORD_BYTES_MAX, TURNS, dead_letter
from connectors.signing import Signer
from tables.errors import BadRecord
from tables.keys import Position, Scope, route
from tables.policy import Tenant
from tests.integration.kit import Json, Record, Site, contents, fresh, headers_of, now_ms, turn

pytestmark = pytest.mark.real

CANARY = "zanzibarcanary"
SAID = f"I love {CANARY} and nothing else."
MINUTE_MS = 60_000
ORIGIN: Headers = (("trace", b"\x00\xff"), ("origin", "平台".encode()))


@dataclass(frozen=True)
class Bad:
    """A record that can never be right: `fields` change a good one, `value` stands in its place."""

    name: str
    reason: BadRecord
    fields: Mapping[str, Any] = field(default_factory=dict)
    value: bytes | None = b""
    whole: bool = False
    where: str = ""


def raw(name: str, reason: BadRecord, value: bytes | None, where: str = "") -> Bad:
    return Bad(name, reason, value=value, whole=True, where=where)


def changed(name: str, reason: BadRecord, where: str, /, **fields: Any) -> Bad:
    return Bad(name, reason, fields=fields, where=where)


BAD_IDS = {"a control character": "a\nb", "DEL": "a\x7fb", "NUL": "a\x00b", "a C1 control": "a\x85b",
           "129 bytes": "x" * 129,
           "129 bytes of CJK": "汉" * 43, "nothing": ""}  # fmt: skip

BAD_TURNS = [
    raw("null", BadRecord.NULL_VALUE, None),
    raw("no bytes", BadRecord.NOT_JSON, b""),
    raw("no JSON", BadRecord.NOT_JSON, b'{"content": "' + SAID.encode()),
    raw("no UTF-8", BadRecord.NOT_JSON, b'{"content": "\xff\xfe ' + SAID.encode() + b'"}'),
    raw("NaN", BadRecord.NOT_JSON, b'{"at": NaN}'),
    raw("nested too deep", BadRecord.NOT_JSON, b"[" * 100_000 + b"]" * 100_000),
    raw("a number", BadRecord.WRONG_TYPE, b"7", "turn"),
    raw("a text", BadRecord.WRONG_TYPE, to_json(SAID), "turn"),
    raw("a list in a list", BadRecord.WRONG_TYPE, to_json([[turn("t", SAID)]]), "turn"),
    raw("an empty object", BadRecord.MISSING_FIELD, b"{}", "tenant_id"),
    changed("an unknown version", BadRecord.UNKNOWN_VERSION, "v", v=2),
    changed("a version that is text", BadRecord.WRONG_TYPE, "v", v="1"),
    changed("no tenant", BadRecord.MISSING_FIELD, "tenant_id", tenant_id=...),
    changed("a tenant that nobody knows", BadRecord.UNKNOWN_TENANT, "", tenant_id="nobody-of-this-name"),
    changed("a tenant that is a number", BadRecord.WRONG_TYPE, "tenant_id", tenant_id=5),
    changed("no user", BadRecord.MISSING_FIELD, "user_id", user_id=...),
    changed("no session", BadRecord.MISSING_FIELD, "session_id", session_id=None),
    changed("no role", BadRecord.MISSING_FIELD, "role", role=...),
    changed("an unknown role", BadRecord.BAD_VALUE, "role", role=CANARY),
    changed("no content", BadRecord.MISSING_FIELD, "content", content=...),
    changed("content that is an object", BadRecord.WRONG_TYPE, "content", content={"text": SAID}),
    changed("content that is a number", BadRecord.WRONG_TYPE, "content", content=7),
    changed("blank content", BadRecord.BLANK_CONTENT, "content", content=" \t\n\u3000"),
    changed("empty content", BadRecord.BLANK_CONTENT, "content", content=""),
    changed("NUL in the content", BadRecord.BAD_TEXT, "content", content=f"{SAID}\x00"),
    changed("5 MB of content", BadRecord.TOO_LARGE, "content", content=f"{SAID} " * (5_000_000 // len(SAID))),
    changed("no time", BadRecord.MISSING_FIELD, "at", at=...),
    changed("1970", BadRecord.BAD_TIME, "at", at=0),
    changed("1970 in words", BadRecord.BAD_TIME, "at", at="1970-01-01T00:00:00Z"),
    changed("a time without an offset", BadRecord.BAD_TIME, "at", at="2026-03-01T09:00:00"),
    changed("no time at all", BadRecord.BAD_TIME, "at", at=CANARY),
    changed("a time that is a fraction", BadRecord.WRONG_TYPE, "at", at=1772355600000.5),
    changed("a time beyond every calendar", BadRecord.BAD_TIME, "at", at=2**62),
    changed("the year 9999", BadRecord.BAD_TIME, "at", at="9999-12-31T23:59:59-23:59"),
    changed("10 minutes ahead", BadRecord.FUTURE_TIME, "at", at=now_ms() + 60 * MINUTE_MS),
    changed("consent that is text", BadRecord.WRONG_TYPE, "consent", consent="yes"),
    *(changed(f"a user id with {what}", BadRecord.BAD_ID, "user_id", user_id=one) for what, one in BAD_IDS.items()),
    *(
        changed(f"a session id with {what}", BadRecord.BAD_ID, "session_id", session_id=one)
        for what, one in BAD_IDS.items()
    ),
    *(changed(f"a turn id with {what}", BadRecord.BAD_ID, "id", id=one) for what, one in BAD_IDS.items() if one),
    *(
        changed(f"a tenant id with {what}", BadRecord.BAD_ID, "tenant_id", tenant_id=one)
        for what, one in BAD_IDS.items()
    ),
]  # fmt: skip

SURROGATES = {
    "content": (b'"content":"' + SAID.encode() + b' \\ud83d"', BadRecord.BAD_TEXT),
    "content in bytes": (b'"content":"' + SAID.encode() + b' \xed\xa0\xbd"', BadRecord.BAD_TEXT),
    "user_id": (b'"user_id":"u\\udc00"', BadRecord.BAD_TEXT),
}


class Row:
    """A row of records for one partition: good turns with bad ones between them, sent in this order."""

    def __init__(self, site: Site, topic: str) -> None:
        self.site = site
        self.topic = topic
        self.tenant = site.tenant("row")
        self.key = route(Scope(self.tenant.id, "u"))
        self.partition = site.wire.partition(self.tenant)
        self.records: list[Outgoing] = []
        self.bad: list[tuple[int, BadRecord, str]] = []
        self.good: list[str] = []
        self.positions: list[Position] = []

    def add(self, reason: BadRecord, value: bytes | None, *, at: str = "", **more: Any) -> None:
        """One bad record, behind a good turn."""
        self.add_good()
        self.bad.append((len(self.records), reason, at))
        given = {"key": self.key, "headers": ORIGIN, "partition": self.partition, **more}
        self.records.append(Outgoing(self.topic, value=value, **given))

    def add_good(self) -> None:
        self.good.append(f"I love thing{len(self.good)}.")
        value = to_json(turn(self.tenant, self.good[-1]))
        self.records.append(Outgoing(TURNS, self.key, value, partition=self.partition))

    def send(self) -> None:
        self.add_good()
        self.positions = self.site.wire.send(*self.records)
        last = {(p.topic, p.partition): p for p in self.positions}
        self.site.settled(*last.values(), seconds=60)

    def letters(self) -> list[tuple[Outgoing, Position, Record | None, BadRecord, str]]:
        """Each bad record, where it landed, and its dead letter."""
        held: dict[tuple[str, str], Record] = {}
        for record in self.site.wire.read(dead_letter(self.topic)):
            headers = headers_of(record)
            held[headers["dlq.original-partition"].decode(), headers["dlq.original-offset"].decode()] = record
        return [
            (self.records[n], place, held.get((str(place.partition), str(place.offset))), reason, at)
            for n, reason, at in self.bad
            for place in [self.positions[n]]
        ]

    def check(self) -> None:
        """Every bad record is a dead letter as it came; every good turn took effect, in order."""
        wrong = [problem for letter in self.letters() if (problem := _wrong_in(*letter))]
        assert wrong == []
        user = self.site.client(self.tenant)
        assert sorted(memory["content"] for memory in user.memories()) == sorted(self.good)
        window = contents(user.recall("hm", max_tokens=4000), "window")
        assert window == self.good[-len(window) :]


def _wrong_in(sent: Outgoing, place: Position, letter: Record | None, reason: BadRecord, at: str) -> str:
    """What is wrong with the dead letter of this record, "" when nothing is."""
    if letter is None:
        return f"{reason}: no dead letter"
    headers = headers_of(letter)
    if (letter.key, letter.value, letter.partition) != (sent.key, sent.value, place.partition):
        return f"{reason}: another key, value or partition"
    if [one for one in letter.headers if not one[0].startswith("dlq.")] != list(sent.headers):
        return f"{reason}: other headers: {[name for name, _ in letter.headers]}"
    wanted = {
        "dlq.original-topic": place.topic,
        "dlq.original-partition": str(place.partition),
        "dlq.original-offset": str(place.offset),
        "dlq.stage": "collect",
        "dlq.reason": reason.value,
        "dlq.attempts": "1",
        **({"dlq.field": at} if at else {}),
    }
    found = {name: headers.get(name, b"").decode() for name in wanted}
    return "" if found == wanted else f"{reason}: {found}, not {wanted}"


def test_every_kind_of_bad_turn_is_a_dead_letter_and_its_neighbours_go_on(site: Site) -> None:
    row = Row(site, TURNS)
    for bad in BAD_TURNS:
        value = bad.value if bad.whole else to_json(turn(row.tenant, SAID, **bad.fields))
        row.add(bad.reason, value, at=bad.where)
    for piece, reason in SURROGATES.values():
        rest = to_json(turn(row.tenant, ..., user=...))[1:]
        row.add(reason, b"{" + piece + (b',"user_id":"u",' if b"user_id" not in piece else b',"content":"hi",') + rest)

    row.send()

    row.check()


def test_a_record_under_a_wrong_key_or_on_a_wrong_partition_is_a_dead_letter(site: Site) -> None:
    row = Row(site, TURNS)
    other = site.tenant("other")
    value = to_json(turn(row.tenant, SAID))
    for key in (None, b"", b"u", row.key + b"#0", route(Scope(other.id, "u")), "\u2028".encode(), b"\xff\xfe"):
        row.add(BadRecord.KEY_MISMATCH, value, key=key)
    row.add(BadRecord.KEY_MISMATCH, value, partition=(row.partition + 1) % 4)

    row.send()

    row.check()


@pytest.mark.parametrize("topic", [COMMANDS, DELETE])
def test_an_unsigned_or_wrongly_signed_request_is_a_dead_letter_and_does_nothing(site: Site, topic: str) -> None:
    row = Row(site, topic)
    other = site.tenant("other")
    body = _request(topic, row.tenant)
    value = to_json(body)
    key = row.key
    signer = site.wire.signer
    foreign = Signer({"k1": b"another secret of 32 bytes, or so"}, "k1")
    (signature, kid) = signer.sign(key, value, row.tenant.id)
    row.add(BadRecord.UNSIGNED, value)
    row.add(BadRecord.UNSIGNED, value, headers=(signature,))
    row.add(BadRecord.UNSIGNED, value, headers=(kid, ("sig", b"")))
    for headers in (
        foreign.sign(key, value, row.tenant.id),
        signer.sign(key, value, other.id),  # another tenant's right to sign is worth nothing here
        signer.sign(b"", value, row.tenant.id),
        signer.sign(key, value + b" ", row.tenant.id),
        (("sig", "签名".encode()), kid),
        (("sig", b"zz"), kid),
        (("sig", signature[1][:-2]), kid),
    ):
        row.add(BadRecord.BAD_SIGNATURE, value, headers=headers)
    row.add(BadRecord.BAD_SIGNATURE, value, headers=(signature, ("kid", b"k9")), at="kid")
    row.add(BadRecord.BAD_SIGNATURE, value, headers=(signature, ("kid", b"\xff")))

    row.send()

    row.check()  # no delete deleted, and the pins below have not happened
    assert {memory["pin"] for memory in site.client(row.tenant).memories()} == {"none"}


@pytest.mark.parametrize("topic", [COMMANDS, DELETE])
def test_a_signed_request_that_makes_no_sense_is_a_dead_letter(site: Site, topic: str) -> None:
    row = Row(site, topic)

    def add(reason: BadRecord, where: str, /, **fields: Any) -> None:
        body = {k: v for k, v in {**_request(topic, row.tenant), **fields}.items() if v is not ...}
        value = to_json(body)
        row.add(reason, value, at=where, headers=site.wire.signer.sign(row.key, value, row.tenant.id))

    add(BadRecord.MISSING_FIELD, "request_id", request_id=...)
    add(BadRecord.BAD_ID, "request_id", request_id="a\nb")
    add(BadRecord.UNKNOWN_VERSION, "v", v=3)
    add(BadRecord.MISSING_FIELD, "actor", actor=...)
    add(BadRecord.BAD_VALUE, "actor.role", actor={"sub": "x", "role": CANARY})
    add(BadRecord.BAD_TIME, "at", at=0)
    add(BadRecord.FUTURE_TIME, "at", at=now_ms() + 60 * MINUTE_MS)
    add(BadRecord.UNKNOWN_TENANT, "", tenant_id=CANARY)
    if topic == COMMANDS:
        add(BadRecord.UNKNOWN_KIND, "kind", kind=CANARY)
        add(BadRecord.MISSING_FIELD, "kind", kind=...)
        add(BadRecord.WRONG_TYPE, "memory_ids", memory_ids="abc")
        add(BadRecord.TOO_LARGE, "memory_ids", memory_ids=["a"] * 301)
        add(BadRecord.MISSING_FIELD, "user_id", user_id=...)
        add(BadRecord.BAD_TEXT, "text", kind="correct", text=f"{SAID}\x00")
        add(BadRecord.WRONG_TYPE, "expected_version", expected_version=-1)
    else:
        add(BadRecord.MISSING_FIELD, "selector", selector=...)
        add(BadRecord.BAD_VALUE, "selector.reach", selector={"reach": "everything"})
        add(BadRecord.MISSING_FIELD, "selector.values", selector={"reach": "session"})
        add(BadRecord.BAD_VALUE, "selector.values", selector={"reach": "user", "values": ["u"]})
        add(BadRecord.MISSING_FIELD, "user_id", user_id=...)

    row.send()

    row.check()


def test_a_bad_expiry_is_a_dead_letter(site: Site) -> None:
    row = Row(site, EXPIRE)
    good = {"v": 1, "kind": "memory", "tenant_id": row.tenant.id, "user_id": "u", "id": "m", "due_at": now_ms()}
    row.add(BadRecord.WRONG_TYPE, b"7", at="due")
    row.add(BadRecord.MISSING_FIELD, to_json({**good, "user_id": None}), at="user_id")
    row.add(BadRecord.BAD_TIME, to_json({**good, "due_at": "soon"}), at="due_at")
    row.add(BadRecord.FUTURE_TIME, to_json({**good, "due_at": now_ms() + 60 * MINUTE_MS}), at="due_at")
    row.add(BadRecord.KEY_MISMATCH, to_json(good), key=b"someone")

    row.send()

    row.check()


def test_of_a_list_the_good_turns_go_on_and_the_dead_letter_names_the_bad(site: Site) -> None:
    row = Row(site, TURNS)
    good = [turn(row.tenant, f"I love listed{n}.") for n in range(3)]
    listed = [good[0], turn(row.tenant, SAID, at=0), good[1], 7, turn(row.tenant, "  "), good[2]]
    row.add(BadRecord.BLANK_CONTENT, to_json(listed), at="content")

    row.send()

    ((_, _, letter, _, _),) = row.letters()
    assert letter is not None
    assert (letter.value, headers_of(letter)["dlq.items"]) == (to_json(listed), b"1,3,4")
    said = {memory["content"] for memory in site.client(row.tenant).memories()}
    assert said == {*row.good, *(one["content"] for one in good)}


def test_headers_that_lie_harm_nobody(site: Site) -> None:
    """Headers are the producer's own: any bytes, none at all, one name twice, and names of ours."""
    row = Row(site, TURNS)
    strange: list[Headers] = [
        (("a", b"1"), ("a", b"2"), ("b", b"")),
        (("dlq.attempts", b"many"),),
        (("dlq.attempts", b"9" * 5000),),
        (("dlq.attempts", "٣".encode()),),
        (("dlq.attempts", b"-4"),),
        (("dlq.attempts", b"\xff"),),
        (("名", b"x" * 100_000),),
        (("ce_id", b"\x00"), ("content-type", b"\xff")),
    ]
    for headers in strange:
        row.add(BadRecord.NOT_JSON, b"{", headers=headers)

    row.send()

    for sent, _, letter, _, _ in row.letters():
        assert letter is not None
        kept = [one for one in letter.headers if not one[0].startswith("dlq.")]
        assert kept == [one for one in sent.headers if not one[0].startswith("dlq.")]
        assert int(headers_of(letter)["dlq.attempts"]) >= 1
    assert {memory["content"] for memory in site.client(row.tenant).memories()} == set(row.good)


NAMELESS = """
import asyncio, sys
from aiokafka import AIOKafkaProducer

class NotText(str):
    def encode(self, *_):
        return b"\\xff\\xfe" + super().encode()

async def send(brokers, topic, key, partition, *values):
    async with AIOKafkaProducer(bootstrap_servers=brokers, linger_ms=100) as producer:
        headers = [(NotText("zanzibarcanary"), b"x")]
        sent = [await producer.send(topic, v.encode(), key.encode(), int(partition), headers=headers) for v in values]
        print(max([(await one).offset for one in sent]))

asyncio.run(send(*sys.argv[1:]))
"""  # aiokafka's builder in C takes no such name, the one in Python does; which of them is decided when it is imported


def test_a_header_name_that_is_no_text_costs_nobody_a_record(site: Site) -> None:
    """The broker takes it, and aiokafka's own parser raises on it for ever."""
    row = Row(site, TURNS)
    row.add_good()
    row.send()
    said = ["I love the nameless.", "{" + SAID]
    args = [
        site.settings.brokers,
        TURNS,
        row.key.decode(),
        str(row.partition),
        json.dumps(turn(row.tenant, said[0])),
        said[1],
    ]
    done = subprocess.run(
        [sys.executable, "-c", NAMELESS, *args],
        env={**os.environ, "AIOKAFKA_NO_EXTENSIONS": "1"}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    last = int(done.stdout)
    row.add_good()
    site.settled(*site.wire.send(row.records[-1]))

    assert {memory["content"] for memory in site.client(row.tenant).memories()} == {*row.good, said[0]}
    (letter,) = [
        one
        for one in site.letters(TURNS)
        if (one.partition, headers_of(one)["dlq.original-offset"]) == (row.partition, str(last).encode())
    ]
    assert (letter.value, letter.headers[0]) == (said[1].encode(), ("\\xff\\xfezanzibarcanary", b"x"))


def test_a_header_without_a_value_harms_nobody(site: Site) -> None:
    row = Row(site, TURNS)
    nothing: Any = None
    row.add(BadRecord.NOT_JSON, b"{", headers=(("empty", nothing),))

    row.send()

    row.check()


def test_the_largest_record_that_a_broker_takes_is_a_dead_letter_too(site: Site) -> None:
    """The headers that are added must not make it too large for its own dead-letter topic."""
    row = Row(site, TURNS)
    row.add(BadRecord.NOT_JSON, b"x" * (RECORD_BYTES_MAX - 1000 - len(row.key)), headers=())

    row.send()

    row.check()


def test_a_record_that_is_large_only_when_unpacked_does_not_stop_its_partition(site: Site) -> None:
    """A producer that compresses gets more through the broker's limit than a record may hold."""
    row = Row(site, TURNS)
    row.add_good()
    value = b'{"content":"' + b"x" * (3 * RECORD_BYTES_MAX) + b'"}'
    assert len(gzip.compress(value)) < RECORD_BYTES_MAX

    async def send() -> Position:
        producer = AIOKafkaProducer(
            bootstrap_servers=site.settings.brokers, compression_type="gzip", max_request_size=2 * len(value)
        )
        await producer.start()
        try:
            meta = await producer.send_and_wait(TURNS, value, row.key, row.partition)
        finally:
            await producer.stop()
        return Position(TURNS, meta.partition, meta.offset)

    place = site.wire.run(send())
    row.send()

    offsets = {(r.partition, int(headers_of(r)["dlq.original-offset"])) for r in site.letters(TURNS)}
    assert (place.partition, place.offset) in offsets
    assert {memory["content"] for memory in site.client(row.tenant).memories()} == set(row.good)


def test_a_tenant_registered_a_moment_ago_is_no_stranger(site: Site) -> None:
    """Its first turn may reach the worker before the worker has heard of it."""
    tenants = []
    places = []
    for _ in range(12):
        tenants.append(site.wire.register("new"))
        places += site.wire.turns(tenants[-1], turn(tenants[-1], "I love figs."))
    site.settled(*places)

    for tenant in tenants:
        user = site.client(tenant)
        assert [memory["content"] for memory in user.memories()] == ["I love figs."]


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_told(site: Site) -> Iterator[None]:
    """Whatever was sent in this file, no log, no metric and no header of ours repeats it."""
    yield
    needle = CANARY.encode()
    assert needle not in site.logs()
    assert needle not in site.metrics()
    for topic in (TURNS, COMMANDS, DELETE, EXPIRE):
        added = [v for r in site.letters(topic) for name, v in r.headers if name.startswith("dlq.") and v]
        assert not [value for value in added if needle in value]


def _request(topic: str, tenant: Tenant) -> Json:
    """A command or a delete that would do something."""
    common = {
        "request_id": fresh("request"),
        "tenant_id": tenant.id,
        "user_id": "u",
        "actor": {"sub": "u", "role": "user"},
        "at": now_ms(),
    }
    if topic == COMMANDS:
        return {**common, "kind": "pin", "memory_ids": ["a" * 32], "pin": "core"}
    return {**common, "selector": {"reach": "user"}}
