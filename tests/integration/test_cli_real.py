"""The command line on the real parts: what it sends is what lies there, and what it says is true."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from dataclasses import replace
from typing import Any

import pytest

from connectors.codec import encode_held
from connectors.http.positions import PositionTokens
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.reader import read_to_end
from connectors.kafka.registry import registered
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import COMMANDS, DELETE, TURNS, changelog, dead_letter
from connectors.milvus.config import MilvusConfig
from connectors.milvus.index import MilvusIndex
from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.copies import RedisCopies
from connectors.signing import RequestIds, Signer
from deploy.local.engine import LocalEngine
from streams.batch import Taken
from streams.deadletter import letter
from streams.parts import until_there
from streams.settings import Settings, kafka_config
from tables.copies import IndexRow, UserCopy
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, Scope, route, row_key, tenant_routes
from tables.memory import Memory, Status
from tests.unit.builders import memory

pytestmark = pytest.mark.real

VECTOR = (1.0, *[0.0] * 383)


def run(
    engine: LocalEngine, *arguments: str, stdin: str | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streams", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, **engine.settings(), **more},
        timeout=120,
        check=False,
    )


def done(engine: LocalEngine, *arguments: str, stdin: str | None = None) -> str:
    """What a command that succeeds prints."""
    result = run(engine, *arguments, stdin=stdin)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fresh(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:10]}"


def records(settings: Settings, topic: str) -> list[Any]:
    async def read() -> list[Any]:
        return [record async for record in read_to_end(kafka_config(settings), topic)]

    return asyncio.run(read())


def of_tenant(name: str, found: list[Any]) -> list[Any]:
    """The records under a route of this tenant: what others have put on the topic need not even be JSON."""
    routes = tenant_routes(name, 8) + tenant_routes(name, 4)
    return [record for record in found if record.key in routes]


def send(settings: Settings, *outgoing: Outgoing) -> list[Position]:
    async def sent() -> list[Position]:
        bus = KafkaBus(kafka_config(settings))
        await bus.start()
        try:
            return await bus.send_all(outgoing)
        finally:
            await bus.stop()

    return asyncio.run(sent())


def test_topics_are_verified_and_a_wrong_count_is_refused(engine: LocalEngine) -> None:
    rows = json.loads(done(engine, "topics", "--create", "--json"))
    assert {"name": TURNS, "partitions": 4}.items() <= next(row for row in rows if row["name"] == TURNS).items()

    refused = run(engine, "topics", TWINSLUICE_PARTITIONS="8")
    assert refused.returncode == 78
    assert f"{TURNS}: has 4 partitions, 8 wanted" in refused.stderr
    assert "TWINSLUICE_PARTITIONS=4" in refused.stderr


def test_a_tenant_is_registered_once_and_its_policy_has_versions(engine: LocalEngine, settings: Settings) -> None:
    name = fresh("t/用户")
    done(engine, "tenant", "add", name, "--clock", "event", "--shards", "4")
    done(engine, "tenant", "add", name)
    done(engine, "tenant", "add", name, "--policy", "items=20")
    done(engine, "tenant", "add", name, "--policy", "items=20")

    held = asyncio.run(registered(kafka_config(settings)))[name]
    assert (held.shards, held.clock.value, held.placement[:2]) == (4, "event", "t_")
    assert [(policy.version, policy.items) for policy in held.policies] == [(1, 300), (2, 20)]
    assert run(engine, "tenant", "add", name, "--shards", "8").returncode == 78
    assert name in done(engine, "tenant", "list")


def test_turns_land_under_their_route_with_the_token_of_the_last(engine: LocalEngine, settings: Settings) -> None:
    name = fresh("t#1")
    done(engine, "tenant", "add", name, "--shards", "8")
    lines = [
        {"user_id": f"u{n}", "session_id": "s", "content": f"你好 {n}", "at": 1_772_355_600_000} for n in range(50)
    ]

    out = done(engine, "send", "--tenant", name, "--file", "-", "--json", stdin="\n".join(map(json.dumps, lines)))

    answer = json.loads(out)
    assert answer["turns"] == 50
    routes = tenant_routes(name, 8)
    found = [r for r in records(settings, TURNS) if r.key in routes]
    assert len(found) == 50
    for record in found:
        key = route(Scope(name, json.loads(record.value)["user_id"]), 8)
        assert (record.key, record.partition) == (key, partition_of_key(key, 4))
    positions = PositionTokens(settings.signing_secret.encode()).read(name, answer["after"])
    assert [[p.topic, p.partition, p.offset] for p in positions] == [list(p.values()) for p in answer["positions"]]
    last = {record.partition: record.offset for record in found}
    assert {p.partition: p.offset for p in positions} == last


def test_a_wrong_line_is_named_and_what_is_wrong_with_it(engine: LocalEngine) -> None:
    name = fresh("t")
    done(engine, "tenant", "add", name)

    result = run(engine, "send", "--tenant", name, "--file", "-", stdin='{"user_id":"u"}\n')

    assert result.returncode == 65
    assert "session_id in line 1" in result.stderr


def test_commands_and_deletes_are_signed_one_a_shard_under_one_request(engine: LocalEngine, settings: Settings) -> None:
    name = fresh("t")
    done(engine, "tenant", "add", name, "--clock", "event", "--shards", "4")
    at = "2026-03-01T09:00:00+08:00"
    done(engine, "command", "tick", "--tenant", name, "--at", at)
    done(engine, "erase", "--tenant", name, "--everything", "--yes", "--request-id", "r1", "--at", at)

    signer = Signer({"k1": settings.signing_secret.encode()})
    for topic in (COMMANDS, DELETE):
        found = of_tenant(name, records(settings, topic))
        assert {record.key for record in found} == set(tenant_routes(name, 4))
        assert len({json.loads(record.value)["request_id"] for record in found}) == 1
        for record in found:
            signer.verify(record.key, record.value, dict(record.headers), name)
    bound = json.loads(found[0].value)["request_id"]
    assert RequestIds(settings.signing_secret.encode()).owns(Scope(name, ""), bound)


def test_dead_letters_go_back_once_byte_for_byte(engine: LocalEngine, settings: Settings) -> None:
    error = InvalidRecord(BadRecord.EXTRACTION_FAILED)
    mark = fresh("k").encode()
    values = [None, b"", b"\x00\xff{", "喝茶".encode(), b"x" * 2_000_000]
    taken = [
        Taken(TURNS, n % 4, n, mark + b"\xff%d" % n, value, (("ce_id", b"\xfe%d" % n), ("empty", b"")))
        for n, value in enumerate(values)
    ]
    send(settings, *[letter(one, "extract", error) for one in taken])
    arguments = ("dlq", "redrive", "--topic", TURNS, "--reason", "extraction_failed")
    listed = json.loads(done(engine, "dlq", "list", "--topic", dead_letter(TURNS), "--json", "--limit", "1000"))
    assert "喝茶" not in str(listed)

    assert done(engine, *arguments, "--dry-run").startswith("5 would")
    assert done(engine, *arguments) == "5 sent back\n"
    assert done(engine, *arguments) == "0 sent back\n"

    back = [record for record in records(settings, TURNS) if (record.key or b"").startswith(mark)]
    as_sent = {(one.partition, one.key, one.value, one.pairs) for one in taken}
    assert {
        (r.partition, r.key, r.value, tuple(h for h in r.headers if h[0] != "dlq.attempts")) for r in back
    } == as_sent
    assert len(back) == 5
    assert {dict(record.headers)["dlq.attempts"] for record in back} == {b"1"}


def test_the_audit_finds_every_difference(engine: LocalEngine, settings: Settings) -> None:
    name = fresh("t")
    done(engine, "tenant", "add", name)
    tenant = asyncio.run(registered(kafka_config(settings)))[name]
    scope = Scope(name, "u")
    one, two, gone = (memory(value, scope=scope, session="s") for value in ("paris", "rome", "oslo"))
    gone = replace(gone, status=Status.DELETED)

    def ledger(row: Memory, value: bytes | None) -> Outgoing:
        return Outgoing(changelog("memories"), row_key(*scope, row.id), value, (), 0)

    async def write(index_rows: list[Memory], removed: tuple[str, ...]) -> None:
        config = RedisConfig(settings.redis)
        client, index = connect(config), MilvusIndex(MilvusConfig(settings.milvus))
        try:
            await until_there(index.ensure)
            await index.upsert(tenant, [IndexRow(row, VECTOR) for row in index_rows])
            await RedisCopies(client, config).mirror_users([UserCopy(scope, (one, two), removed)])
        finally:
            await index.close()
            await client.aclose()

    send(settings, *[ledger(row, encode_held(row, VECTOR)) for row in (one, two, gone)])
    try:
        asyncio.run(write([one, two], ()))
        equal = json.loads(done(engine, "audit", "--tenant", name, "--json"))
        assert equal["equal"]
        assert equal["tenants"][name] == {"ledger": {"active": 2, "deleted": 1}, "index": 2, "redis": 2}

        asyncio.run(write([replace(one, version=9)], (two.id,)))
        different = run(engine, "audit", "--tenant", name, "--json", "--wait", "0")
        assert different.returncode == 1
        found = {(d["copy"], d["memory_id"], d["problem"]) for d in json.loads(different.stdout)["differences"]}
        assert found == {("index", one.id, "version"), ("redis", two.id, "missing")}
        assert "paris" not in different.stdout + different.stderr
    finally:
        send(settings, *[ledger(row, None) for row in (one, two, gone)])
