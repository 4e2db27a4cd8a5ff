"""The ledger: a row is on the bus before it is here; scans are in key order and stay within their prefix."""

from __future__ import annotations

import pytest

from connectors.kafka.topics import changelog
from connectors.ledger import Ledger, Row
from tables.errors import Unavailable
from tables.keys import row_key
from tests.unit.step_world import OFFSET_KEY, Crash, Fuse, Machine, Wired


def row(key: bytes, value: bytes | None = b"v", table: str = "books", partition: int = 0) -> Row:
    return Row(table, partition, key, value)


async def test_a_row_reads_as_it_was_written() -> None:
    m = Machine()
    await m.ledger.write([row(b"a", b"\x00\xff")])
    assert m.ledger.get("books", 0, b"a") == b"\x00\xff"


async def test_a_row_that_was_never_written_is_none() -> None:
    assert Machine().ledger.get("books", 0, b"a") is None


async def test_none_takes_a_row_away_here_and_in_the_changelog() -> None:
    m = Machine()
    await m.ledger.write([row(b"a")])
    await m.ledger.write([row(b"a", None)])
    assert m.ledger.get("books", 0, b"a") is None
    assert [record.value for record in m.bus.records(changelog("books"))] == [b"v", None]


async def test_of_two_writes_of_one_key_in_one_batch_the_later_stands() -> None:
    m = Machine()
    await m.ledger.write([row(b"a", None), row(b"a", b"1"), row(b"b", b"1"), row(b"b", None)])
    assert m.rows("books") == {b"a": b"1"}


async def test_tables_and_partitions_do_not_meet() -> None:
    m = Machine(partitions=2)
    await m.ledger.write([row(b"a", b"1"), row(b"a", b"2", partition=1), row(b"a", b"3", "due")])
    held = [m.ledger.get("books", 0, b"a"), m.ledger.get("books", 1, b"a"), m.ledger.get("due", 0, b"a")]
    assert held == [b"1", b"2", b"3"]
    assert [r.partition for r in m.bus.records(changelog("books"))] == [0, 1]


async def test_a_scan_is_in_key_order_and_holds_no_bookkeeping() -> None:
    m = Machine()
    await m.ledger.write([row(key) for key in (b"b", b"\xff", b"", b"a", b"\x00")])
    assert [key for key, _ in m.ledger.scan("books", 0)] == [b"", b"\x00", b"a", b"b", b"\xff"]


async def test_a_scan_stays_within_its_prefix() -> None:
    m = Machine()
    keys = [row_key("a"), row_key("a", "b"), row_key("a", "b", "c"), row_key("ab"), row_key("a", "bc")]
    await m.ledger.write([row(key) for key in keys])
    found = [key for key, _ in m.ledger.scan("books", 0, row_key("a", "b"))]
    assert found == [row_key("a", "b"), row_key("a", "b", "c")]


async def test_a_scan_of_a_user_named_like_the_bookkeeping_finds_the_user() -> None:
    m = Machine()
    key = row_key("t", OFFSET_KEY.decode())
    await m.ledger.write([row(key)])
    assert [found for found, _ in m.ledger.scan("books", 0, row_key("t"))] == [key]


async def test_a_row_may_be_written_while_a_scan_goes_on() -> None:
    m = Machine()
    await m.ledger.write([row(bytes((n,))) for n in range(5)])
    seen = []
    for key, _ in m.ledger.scan("books", 0):
        seen.append(key)
        await m.ledger.write([row(key, None), row(key + b"x")])
    assert seen == [bytes((n,)) for n in range(5)]


async def test_without_the_bus_nothing_is_written() -> None:
    m = Machine()
    m.bus.away = True
    with pytest.raises(Unavailable):
        await m.ledger.write([row(b"a")])
    assert m.rows("books") == {}


async def test_what_the_bus_has_and_the_disk_not_comes_with_the_restore() -> None:
    m = Machine()
    bus = Wired(m.bus, Fuse(0, "after"))
    with pytest.raises(Crash):
        await Ledger(m.ledger.stores, bus).write([row(b"a")])  # type: ignore[arg-type]  # a bus that dies
    assert m.rows("books") == {}
    m.restart()
    assert m.rows("books") == {b"a": b"v"}


async def test_the_offset_on_the_disk_is_that_of_the_last_row_there() -> None:
    m = Machine()
    await m.ledger.write([row(b"a"), row(b"b")])
    await m.ledger.write([row(b"c")])
    assert m.stores["books"]._dbs[0].get(OFFSET_KEY) == b"2"


async def test_a_partition_that_went_to_another_worker_is_unavailable_not_empty() -> None:
    m = Machine()
    with pytest.raises(Unavailable):
        m.ledger.get("books", 9, b"a")
    with pytest.raises(Unavailable):
        list(m.ledger.scan("books", 9))


async def test_writing_nothing_sends_nothing() -> None:
    m = Machine()
    await m.ledger.write([])
    assert m.bus.logs == {}
