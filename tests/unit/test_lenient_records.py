"""A header name that is no text costs its record nothing, nor the records around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from aiokafka.consumer.fetcher import READ_UNCOMMITTED
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy
from aiokafka.structs import TopicPartition

from connectors.kafka import lenient

CODECS = {"plain": 0, "gzip": 1}


class NotText(str):
    """A header name whose bytes on the wire are not UTF-8."""

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"\xff" + super().encode(encoding, errors)


def batch(first: int, names: Sequence[str], codec: int = 0) -> bytes:
    """Records with offsets from `first`, one header each, as they lie in a fetch response."""
    builder = _DefaultRecordBatchBuilderPy(2, codec, 0, -1, -1, -1, 1 << 20)
    for n, name in enumerate(names):
        key, value = f"k{first + n}".encode(), f"汉{first + n}".encode()
        assert builder.append(n, 1_000 + n, key, value, headers=[(name, b"\xff\x00")])
    built = bytearray(builder.build())
    built[:8] = first.to_bytes(8)  # the broker sets the first offset; the checksum does not cover it
    return bytes(built)


def read(data: bytes, start: int = 0, crcs: bool = True) -> Iterator[Any]:
    records = lenient._Batches(data)
    return iter(
        lenient._PartitionRecords(TopicPartition("t", 0), records, [], start, None, None, crcs, READ_UNCOMMITTED)
    )


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
def test_such_a_record_is_read_with_its_name_escaped_and_everything_else_as_it_is(codec: int) -> None:
    data = batch(0, ["a", "b"], codec) + batch(2, ["c", NotText("d"), "名"], codec) + batch(5, ["e"], codec)

    got = list(read(data))

    assert [one.offset for one in got] == [0, 1, 2, 3, 4, 5]
    assert [one.headers for one in got] == [((name, b"\xff\x00"),) for name in ("a", "b", "c", "\\xffd", "名", "e")]
    assert [one.key for one in got] == [f"k{n}".encode() for n in range(6)]
    assert [one.value for one in got] == [f"汉{n}".encode() for n in range(6)]
    assert [one.timestamp for one in got] == [1000, 1001, 1000, 1001, 1002, 1000]
    assert {type(one.value) for one in got} == {bytes}


def test_any_number_of_them_in_any_batch() -> None:
    bad = [NotText("x")]
    data = batch(0, bad * 2) + batch(2, ["a"]) + batch(3, ["b", *bad, "c", *bad]) + batch(7, bad) + batch(8, ["z"])

    assert [one.offset for one in read(data)] == list(range(9))


def test_reading_may_begin_behind_or_before_it() -> None:
    data = batch(0, ["a", NotText("b"), "c"]) + batch(3, ["d"])

    for start in range(4):
        assert [one.offset for one in read(data, start)] == list(range(start, 4))


def test_a_batch_that_the_broker_cut_off_is_left_for_the_next_fetch() -> None:
    whole = batch(0, [NotText("a"), "b"])
    records = read(whole + batch(2, ["c", "d"])[:-3])

    assert [one.offset for one in records] == [0, 1]


def test_installing_twice_changes_nothing() -> None:
    lenient.install()
    lenient.install()

    assert [one.offset for one in read(batch(0, ["a"]))] == [0]
