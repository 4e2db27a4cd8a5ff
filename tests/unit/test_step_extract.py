"""Extract: turns become candidates, everything else passes on unchanged and in order (design §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from connectors.codec import encode
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import CANDIDATES, SNAPSHOTS
from connectors.model.extractive import Extractive
from streams.batch import Taken
from streams.extract import Extract
from streams.ports import Extractor
from tables.candidate import Candidate
from tables.errors import InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.snapshot import Snapshot, SnapshotKind
from tables.turn import Turn
from tests.unit.step_world import HOUR, ME, T0, Machine, made, registered, taken


class Failing:
    """An extractor that fails `times` times, then reads as the real one does."""

    def __init__(self, times: int) -> None:
        self.times = times

    async def extract(self, turns: Sequence[tuple[Turn, Policy]]) -> list[tuple[Candidate, ...] | InvalidRecord]:
        if self.times:
            self.times -= 1
            raise Unavailable("extractor")
        return await Extractive().extract(turns)


async def collected(m: Machine, *records: Taken) -> Sequence[Taken]:
    await m.process.collect(records)
    return m.waiting(SNAPSHOTS)


async def test_every_candidate_has_its_vector_and_the_place_of_its_turn() -> None:
    m = Machine()
    record = m.turn("I live in Paris. I love jazz.", "t1")
    await m.process.extract(await collected(m, record))
    (snapshot,) = [s for s in m.snapshots(CANDIDATES) if s.kind is SnapshotKind.TURN]
    assert [len(c.vector) for c in snapshot.candidates] == [384, 384]
    assert {c.position for c in snapshot.candidates} == {Position(record.topic, 0, record.offset)}


async def test_the_words_of_a_turn_end_where_its_candidates_begin() -> None:
    m = Machine()
    await m.process.extract(await collected(m, m.turn("I live in Paris. What a lovely rainy day it is!", "t1")))
    assert not any(b"rainy" in (record.value or b"") for record in m.bus.records(CANDIDATES))


async def test_a_turn_that_gives_nothing_ends_here() -> None:
    m = Machine()
    await m.process.extract(await collected(m, m.turn("I might well, you know, whatever.", "t1")))
    assert m.kinds(CANDIDATES) == []


async def test_what_is_no_turn_passes_unchanged_and_in_its_place() -> None:
    m = Machine()
    batch = await collected(
        m,
        m.turn("I live in Paris.", "t1"),
        m.command("pin", "c1", memory_ids=["0" * 32]),
        m.delete("session", "s1"),
        m.turn("I love jazz.", "t2", at=T0 + 2 * HOUR),
    )
    await m.process.extract(batch)
    assert [s.kind for s in m.snapshots(CANDIDATES)] == [s.kind for s in m.snapshots(SNAPSHOTS)]
    passed = [r.value for r in m.bus.records(SNAPSHOTS) if b'"kind":"turn"' not in (r.value or b"")]
    assert [r.value for r in m.bus.records(CANDIDATES) if b'"kind":"turn"' not in (r.value or b"")] == passed


async def test_the_same_batch_again_gives_the_same_candidates() -> None:
    m = Machine()
    batch = await collected(m, m.turn("I live in Paris.", "t1"))
    await m.process.extract(batch)
    await m.process.extract(batch)
    sent = [record.value for record in m.bus.records(CANDIDATES)]
    assert sent[: len(batch)] == sent[len(batch) :]


async def test_an_extractor_that_fails_is_not_one_that_found_nothing() -> None:
    m = Machine()
    step = Extract(bus=m.bus, tenants=m.tenants, extractor=cast(Extractor, Failing(times=1)), embedder=m.embedder)
    batch = await collected(m, m.turn("I live in Paris.", "t1"))
    with pytest.raises(Unavailable):
        await step(batch)
    assert m.bus.records(CANDIDATES) == []
    await step(batch)
    assert m.kinds(CANDIDATES) == ["turn"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"{", "not_json"),
        (None, "null_value"),
        (b"[]", "wrong_type"),
        (b'{"v":2}', "unknown_version"),
        (b'{"v":1,"kind":"song"}', "wrong_type"),
        (encode(Snapshot(SnapshotKind.TURN, Position("t", 0, 0), ME)), "missing_field"),
    ],
)
async def test_a_snapshot_that_cannot_be_read_is_a_letter_and_its_neighbours_go_on(
    value: bytes | None, reason: str
) -> None:
    m = Machine()
    bad = taken(m.bus.append(Outgoing(SNAPSHOTS, b"acme", value, (), 0)))
    await m.process.extract([bad, *(await collected(m, m.turn("I live in Paris.", "t1")))[1:]])
    assert [found for found, _ in m.reasons(SNAPSHOTS)] == [reason]
    assert m.kinds(CANDIDATES) == ["turn"]


async def test_a_registry_that_is_a_moment_behind_is_waited_for() -> None:
    m = Machine()
    batch = await collected(m, m.turn("I live in Paris.", "t1"))
    known = m.tenants.known.pop("acme")
    with pytest.raises(Unavailable):
        await m.process.extract(batch)
    m.tenants.known["acme"] = known
    await m.process.extract(batch)
    assert m.kinds(CANDIDATES) == ["turn"]


async def test_commands_of_two_tenants_with_one_request_id_are_read_each_for_itself() -> None:
    m = Machine(registered("acme"), registered("zeta"))
    other = Scope("zeta", "u-1")
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("I live in Paris.", "t1", scope=other))
    mine, theirs = made("t1", "identity.city", "paris"), made("t1", "identity.city", "paris", other)
    await m.run(
        m.command("correct", "r1", memory_ids=[mine], text="I live in Oslo."),
        m.command("correct", "r1", other, memory_ids=[theirs], text="I live in Lima."),
    )
    values = [[x.value for x in m.memories(scope).values() if x.recallable] for scope in (ME, other)]
    assert values == [["oslo"], ["lima"]]
