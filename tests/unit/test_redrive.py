"""Redrive: what went back is remembered exactly, and goes back as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka import ConsumerRecord
from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.topics import TURNS, dead_letter
from streams.batch import Taken
from streams.deadletter import letter
from streams.redrive import METADATA_CHARS_MAX, Done, Letter, Wanted, original
from tables.errors import BadRecord, InvalidRecord, Misconfigured

PRESENT = st.lists(st.integers(0, 200), unique=True).map(sorted)


def dead(taken: Taken, offset: int = 5, facts: Mapping[str, str] | None = None) -> Letter:
    """The letter of `taken` as it lies on the dead-letter topic."""
    sent = letter(taken, "collect", InvalidRecord(BadRecord.NOT_JSON, "turn"))
    record = record_of(sent.topic, sent.partition or 0, offset, sent.key, sent.value, sent.headers)
    found = {name.removeprefix("dlq."): value.decode() for name, value in sent.headers if name.startswith("dlq.")}
    return Letter(record, {**found, **(facts or {})}, False)


def record_of(topic: str, partition: int, offset: int, key: Any, value: Any, headers: Any) -> Any:
    return ConsumerRecord(topic, partition, offset, 1, 0, key, value, None, 0, 0, headers)


@pytest.mark.parametrize("value", [None, b"", b"\x00\xff{not json", "喝茶".encode()])
def test_a_record_goes_back_byte_for_byte(value: bytes | None) -> None:
    headers = (("ce_id", b"\xff\x00"), ("empty", b""))
    taken = Taken(TURNS, 3, 17, b"t#1\xff", value, headers)

    back = original(dead(taken))

    assert (back.topic, back.partition, back.key, back.value) == (TURNS, 3, b"t#1\xff", value)
    assert dict(back.headers) == {**dict(headers), "dlq.attempts": b"1"}


def test_no_key_stays_no_key() -> None:
    assert original(dead(Taken(TURNS, 3, 17, None, b"x"))).key is None


def test_attempts_count_on_when_a_letter_comes_back() -> None:
    first = original(dead(Taken(TURNS, 3, 17, b"t", b"x")))

    again = letter(Taken(TURNS, 3, 40, b"t", b"x", tuple(first.headers)), "collect", InvalidRecord(BadRecord.NOT_JSON))

    assert dict(again.headers)["dlq.attempts"] == b"2"


@pytest.mark.parametrize("facts", [{"original-topic": "memory.state.v1"}, {"original-partition": "x"}])
def test_a_letter_that_does_not_say_where_it_came_from_stays(facts: dict[str, str]) -> None:
    with pytest.raises(Misconfigured, match="does not name"):
        original(dead(Taken(TURNS, 3, 17, b"t", b"x"), facts=facts))


def test_letters_are_chosen_by_reason_and_place() -> None:
    one = dead(Taken(TURNS, 3, 17, b"t", b"x"), offset=5)

    assert Wanted().holds(one)
    assert Wanted(TURNS, "not_json", 3, 5).holds(one)
    assert not Wanted(reason="bad_time").holds(one)
    assert not Wanted(TURNS, partition=3, offset=6).holds(one)
    assert Wanted(TURNS).topics() == Wanted(dead_letter(TURNS)).topics() == (dead_letter(TURNS),)


@given(PRESENT, st.data())
def test_what_went_back_survives_the_commit(present: list[int], data: st.DataObject) -> None:
    back = data.draw(st.sets(st.sampled_from(present)) if present else st.just(set()))
    done = Done()
    for offset in present:
        done.pass_by(offset, offset in back)

    again = Done.read(done.below, done.metadata())

    assert [offset for offset in present if offset in again] == sorted(back)


@given(PRESENT, st.data())
def test_two_redrives_of_parts_remember_both(present: list[int], data: st.DataObject) -> None:
    draw = st.sets(st.sampled_from(present)) if present else st.just(set())
    first, second = data.draw(draw), data.draw(draw)
    done = Done()
    for back in (first, second):
        done = Done.read(done.below, done.metadata())
        for offset in present:
            done.pass_by(offset, offset in done or offset in back)

    assert [offset for offset in present if offset in done] == sorted(first | second)


def test_more_gaps_than_the_broker_can_remember_are_refused() -> None:
    done = Done(0, set(range(0, 10_000, 2)))

    with pytest.raises(Misconfigured, match="too many gaps"):
        done.metadata()
    assert len(Done(0, set(range(10_000))).metadata()) < METADATA_CHARS_MAX
