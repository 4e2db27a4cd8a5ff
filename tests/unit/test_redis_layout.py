"""Keys hold digests only and never meet; what Redis answers badly, or not at all, is Unavailable."""

from __future__ import annotations

import asyncio
import itertools
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.copies import RedisCopies, as_read
from connectors.redis.fake import FakeCopies, FakeReader, Shelf
from connectors.redis.layout import Layout, mark_field
from connectors.redis.reader import RedisReader
from streams.ports import Copies, Reader
from tables.copies import SessionCopy, UserCopy
from tables.erasure import Reach
from tables.errors import Misconfigured, Unavailable
from tables.keys import Scope
from tests.contract.copies_kit import HOSTILE, mark, memory, session

SCOPE = Scope("t", "u")
Answer = Callable[[list[bytes]], bytes]


class ScriptedRedis:
    """Speaks just enough of the protocol: `answer` gives the reply of each command, all commands are kept."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.commands: list[list[bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                count = int((await reader.readuntil(b"\r\n"))[1:-2])
                command = [await self._bulk(reader) for _ in range(count)]
                if command[0] == b"CLIENT":
                    writer.write(b"+OK\r\n")
                    continue
                self.commands.append(command)
                writer.write(self.answer(command))
        writer.close()

    async def _bulk(self, reader: asyncio.StreamReader) -> bytes:
        size = int((await reader.readuntil(b"\r\n"))[1:-2])
        return (await reader.readexactly(size + 2))[:-2]

    @property
    def names(self) -> list[bytes]:
        return [command[0] for command in self.commands]


@asynccontextmanager
async def scripted(answer: Answer) -> AsyncIterator[tuple[ScriptedRedis, RedisReader]]:
    fake = ScriptedRedis(answer)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    config = RedisConfig(
        f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", timeout_seconds=1.0, fsync_timeout_ms=500
    )
    client = connect(config)
    try:
        yield fake, RedisReader(client, config)
    finally:
        await client.aclose()
        server.close()
        await server.wait_closed()


def waitaof(reply: bytes) -> Answer:
    return lambda command: reply if command[0] == b"WAITAOF" else b":1\r\n"


def empty(command: list[bytes]) -> bytes:
    return {b"HMGET": b"*2\r\n$-1\r\n$-1\r\n", b"HVALS": b"*0\r\n"}.get(command[0], b"$-1\r\n")


def test_keys_hold_no_id_in_clear_and_never_meet() -> None:
    layout = Layout()
    keys: list[str] = []
    for tenant, user in itertools.product(HOSTILE[:12], HOSTILE[:12]):
        scope = Scope(tenant, user)
        keys += [layout.memories(scope), layout.questions(scope), layout.meta(scope), layout.sessions(scope)]
        keys += [layout.user_marks(scope), layout.session(scope, user), layout.session(scope, tenant + "x")]
    for tenant in HOSTILE:
        keys += [layout.tenant_marks(tenant), layout.receipt(tenant, "r"), layout.outcome(tenant, "r")]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"tw(:[a-z]+|:[0-9a-f]{32})+", key) for key in keys)


def test_the_pattern_of_a_user_finds_its_content_and_holds_no_surprise() -> None:
    pattern = Layout().user_keys(Scope("*", "[a-z]?"))
    assert re.fullmatch(r"tw:\*[0-9a-f]{32}\*", pattern)


def test_fields_of_marks_differ_in_all_that_matters() -> None:
    marks = [mark(), mark(Reach.SOURCE), mark(value="n"), mark(at=1), mark(before=1)]
    assert len({mark_field(one) for one in marks}) == 5
    assert mark_field(mark()) == mark_field(mark(confirmed=True, set_at=3))


def test_a_session_copy_leaves_the_guards_behind() -> None:
    assert as_read(session(1)).seen == ()
    assert as_read(session(1)).offsets == {}
    assert as_read(session(1)).window == session(1).window


@pytest.mark.parametrize(
    "changes", [{"url": "localhost:6379"}, {"prefix": "a:*"}, {"prefix": ""}, {"fsync_timeout_ms": 9000}]
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Misconfigured):
        RedisConfig(**{"url": "redis://127.0.0.1", **changes})  # type: ignore[arg-type]  # wrong on purpose


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(RedisConfig("redis://:secret@127.0.0.1"))


async def test_marks_are_read_after_everything_they_may_hide() -> None:
    async with scripted(empty) as (redis, reader):
        await reader.view(SCOPE, "s")
    layout = Layout()
    read = [command[1].decode() for command in redis.commands]
    assert read[-2:] == [layout.user_marks(SCOPE), layout.tenant_marks("t")]
    assert set(read[:-2]) == {
        layout.memories(SCOPE),
        layout.questions(SCOPE),
        layout.session(SCOPE, "s"),
        layout.clocks,
        layout.meta(SCOPE),
    }


async def test_a_mark_waits_until_it_is_on_disk() -> None:
    async with scripted(waitaof(b"*2\r\n:1\r\n:0\r\n")) as (redis, reader):
        await reader.put_marks(SCOPE, [mark()])
        await reader.put_marks(SCOPE, [mark()])
    assert redis.names == [b"EVAL", b"WAITAOF"] * 2
    assert redis.commands[1] == [b"WAITAOF", b"1", b"0", b"500"]


async def test_a_mark_that_is_not_on_disk_in_time_is_not_reported_written() -> None:
    async with scripted(waitaof(b"*2\r\n:0\r\n:0\r\n")) as (_, reader):
        with pytest.raises(Unavailable):
            await reader.put_marks(SCOPE, [mark()])


async def test_a_server_that_cannot_wait_is_asked_once() -> None:
    async with scripted(waitaof(b"-ERR unknown command 'WAITAOF'\r\n")) as (redis, reader):
        await reader.put_marks(SCOPE, [mark()])
        await reader.put_marks(SCOPE, [mark()])
    assert redis.names == [b"EVAL", b"WAITAOF", b"EVAL"]


@pytest.mark.parametrize("refusal", [b"-OOM no memory\r\n", b"-MISCONF no disk\r\n", b"-READONLY replica\r\n"])
async def test_a_mark_that_the_server_refuses_is_unavailable(refusal: bytes) -> None:
    async with scripted(lambda command: refusal if command[0] == b"EVAL" else b"*2\r\n:1\r\n:0\r\n") as (_, reader):
        with pytest.raises(Unavailable):
            await reader.put_marks(SCOPE, [mark()])


async def every_call_fails(copies: Copies, reader: Reader) -> None:
    calls: list[Awaitable[object]] = [
        copies.mirror_sessions([SessionCopy(SCOPE, "s", session(), 1)]),
        copies.mirror_users([UserCopy(SCOPE, (memory(SCOPE),))]),
        copies.put_marks(SCOPE, [mark()]),
        copies.drop_user(SCOPE),
        copies.residue(SCOPE, [], []),
        copies.residue(SCOPE, ["m"], ["s"]),
        copies.put_clock("t", 1),
        copies.publish_progress({("topic", 0): 1}),
        copies.served_partitions(),
        copies.confirm_partition(0),
        reader.serves(0),
        reader.view(SCOPE, "s"),
        reader.put_marks(SCOPE, [mark()]),
        reader.marks(SCOPE),
        reader.progress("topic", 0),
        reader.receipt("t", "r"),
        reader.outcome("t", "r"),
    ]
    for call in calls:
        with pytest.raises(Unavailable) as away:
            await call
        assert away.value.engine == "redis"


async def test_an_absent_server_is_unavailable_for_every_call() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{probe.getsockname()[1]}"
    config = RedisConfig(url)
    client = connect(config)
    await every_call_fails(RedisCopies(client, config), RedisReader(client, config))
    assert not await RedisReader(client, config).healthy()
    await client.aclose()


async def test_a_server_that_forbids_everything_is_unavailable_for_every_call() -> None:
    fake = ScriptedRedis(lambda _: b"-NOPERM no\r\n")
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    config = RedisConfig(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    client = connect(config)
    await every_call_fails(RedisCopies(client, config), RedisReader(client, config))
    assert await RedisReader(client, config).hazards() == ("settings_hidden",)
    await client.aclose()
    server.close()
    await server.wait_closed()


async def test_a_mute_server_is_unavailable_within_the_timeout() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        config = RedisConfig(f"redis://127.0.0.1:{server.getsockname()[1]}", timeout_seconds=0.2, fsync_timeout_ms=100)
        client = connect(config)
        async with asyncio.timeout(3):
            with pytest.raises(Unavailable):
                await RedisReader(client, config).view(SCOPE, "s")
        await client.aclose()


async def test_the_fakes_can_be_away_and_can_lose_everything() -> None:
    shelf = Shelf()
    copies, reader = FakeCopies(shelf), FakeReader(shelf)
    await copies.confirm_partition(0)
    shelf.away = True
    await every_call_fails(copies, reader)
    shelf.away = False
    assert await reader.serves(0)
    shelf.lose()
    assert not await reader.serves(0)
