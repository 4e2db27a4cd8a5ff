"""However often records are delivered, in whatever batches: the same books (design §5, §11.1, §11.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.codec import decode_held, decode_row
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import CANDIDATES, CHANGES, SNAPSHOTS
from tables.book import Book
from tests.unit.step_world import ME, MINUTE, T0, YOU, Machine, ids_of

law = settings(max_examples=40, deadline=None)
SAYINGS = ("I live in Paris.", "I live in Rome.", "I love jazz.", "I don't like jazz.", "I live in Oslo.", "hello")
turns = st.tuples(st.sampled_from(SAYINGS), st.integers(0, 9), st.integers(0, 30), st.sampled_from([ME, YOU]))
stories = st.lists(turns, min_size=1, max_size=8)


def left(m: Machine) -> dict[str, Any]:
    return {
        "books": {k: replace(decode_row(Book, raw), outbox=(), offset=-1) for k, raw in m.rows("books").items()},
        "memories": {key: decode_held(raw)[0] for key, raw in m.rows("memories").items()},
        "windows": m.shelf.sessions,
        "users": m.shelf.users,
        "index": {key for held in m.index.partitions.values() for key in held},
        "changes": set(ids_of(m.bus.records(CHANGES))),
    }


def sent(m: Machine, story: list[Any]) -> list[Any]:
    return [m.turn(text, f"t{name}", at=T0 + minute * MINUTE, scope=scope) for text, name, minute, scope in story]


@law
@given(stories, st.data())
async def test_sources_delivered_again_anywhere_leave_the_same(story: list[Any], data: st.DataObject) -> None:
    once, often = Machine(), None
    await once.run(*sent(once, story))
    wanted = left(once)
    often = Machine()
    records = sent(often, story)
    for place in range(len(records)):
        await often.run(records[place])
        again = data.draw(st.integers(0, place))
        if data.draw(st.booleans()):
            often.restart()
        await often.run(*records[again : place + 1])  # a replay begins somewhere and goes on in order
    assert left(often) == wanted


@law
@given(stories, st.integers(1, 4), st.integers(1, 4))
async def test_the_size_of_batches_leaves_no_trace(story: list[Any], collected: int, admitted: int) -> None:
    whole = Machine()
    await whole.run(*sent(whole, story))
    wanted = left(whole)
    cut = Machine()
    records = sent(cut, story)
    for first in range(0, len(records), collected):
        await cut.process.collect(records[first : first + collected])
        await cut.drain(admitted)
    assert left(cut) == wanted


@law
@given(stories, st.sampled_from([SNAPSHOTS, CANDIDATES]), st.data())
async def test_what_travels_inside_sent_twice_leaves_the_same(
    story: list[Any], topic: str, data: st.DataObject
) -> None:
    once = Machine()
    await once.run(*sent(once, story))
    wanted = left(once)
    twice = Machine()
    await twice.process.collect(sent(twice, story))
    if topic == CANDIDATES:
        await twice.extract()
    held = twice.bus.records(topic)
    first = data.draw(st.integers(0, len(held)))
    for record in held[first:]:
        twice.bus.append(Outgoing(topic, record.key, record.value, record.headers, record.partition))
    await twice.drain(data.draw(st.integers(1, 5)))
    assert left(twice) == wanted
