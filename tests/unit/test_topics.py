"""Topics, their verification, the registry's one truth, and the bus in memory (design §3, §11.13, §11.18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.kafka.admin import Found, faults
from connectors.kafka.fake import FakeBus
from connectors.kafka.producer import Outgoing
from connectors.kafka.registry import merged
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import (
    CHANGES,
    DEAD_LETTERED,
    RECORD_BYTES_MAX,
    SOURCES,
    STATE,
    TABLES,
    TENANTS,
    TOPICS,
    TURNS,
    changelog,
    dead_letter,
)
from tables.errors import InvalidRecord, Unavailable
from tables.keys import Position
from tables.policy import Clock, Policy, Tenant

SPECS = {spec.name: spec for spec in TOPICS}


def test_every_topic_is_declared_once() -> None:
    assert len(SPECS) == len(TOPICS)


def test_everything_that_can_fail_has_its_dead_letters_and_every_table_its_changelog() -> None:
    assert {dead_letter(name) for name in DEAD_LETTERED} | {changelog(table) for table in TABLES} <= set(SPECS)
    assert set(SOURCES) < set(DEAD_LETTERED)


def test_all_routed_topics_have_the_same_count_of_partitions() -> None:
    assert {spec.name for spec in TOPICS if spec.partitions(64) != 64} == {TENANTS}
    assert SPECS[TENANTS].partitions(64) == 1


@pytest.mark.parametrize("name", [STATE, TENANTS, *(changelog(table) for table in TABLES)])
def test_what_is_a_state_is_compacted_also_when_it_is_quiet(name: str) -> None:
    config = SPECS[name].config
    assert config["cleanup.policy"] == "compact"
    assert {"max.compaction.lag.ms", "segment.ms"} <= set(config)


def test_a_topic_that_is_right_has_no_fault() -> None:
    for spec in TOPICS:
        assert faults(spec, Found(spec.partitions(4), spec.config), 4) == []


def test_a_missing_topic_says_how_to_make_it() -> None:
    (fault,) = faults(SPECS[TURNS], None, 4)
    assert TURNS in fault
    assert "topics --create" in fault


def test_a_wrong_count_of_partitions_says_how_to_mend_it() -> None:
    (fault,) = faults(SPECS[TURNS], Found(3, SPECS[TURNS].config), 4)
    assert "has 3 partitions, 4 wanted" in fault
    assert "TWINSLUICE_PARTITIONS=3" in fault


def test_a_state_topic_that_forgets_is_a_fault() -> None:
    (fault,) = faults(SPECS[STATE], Found(4, {**SPECS[STATE].config, "cleanup.policy": "delete"}), 4)
    assert "cleanup.policy is 'delete', 'compact' wanted" in fault


def test_what_is_fixed_for_life_comes_from_the_first_record() -> None:
    first = Tenant("a", 2, Clock.EVENT, "b_0001")
    later = Tenant("a", 3, Clock.WALL, "b_0002", (Policy(), Policy(version=2)))
    assert merged(first, later) == replace(first, policies=later.policies)
    assert merged(None, later) is later


async def test_the_bus_says_where_each_record_landed() -> None:
    bus = FakeBus(partitions=2)
    places = await bus.send_all([Outgoing(CHANGES, b"a", b"1", (), 0), Outgoing(CHANGES, b"a", b"2", (), 0)])
    assert places == [Position(CHANGES, 0, 0), Position(CHANGES, 0, 1)]
    assert [record.value for record in bus.records(CHANGES)] == [b"1", b"2"]


async def test_the_bus_places_a_key_by_its_hash() -> None:
    bus = FakeBus(partitions=8)
    place = await bus.publish(TURNS, b"acme", b"x")
    assert place.partition == partition_of_key(b"acme", 8)


async def test_a_topic_that_is_not_provisioned_is_none() -> None:
    with pytest.raises(Unavailable):
        await FakeBus().publish("elsewhere", b"a", b"x")


async def test_a_record_that_the_broker_never_takes_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        await FakeBus().publish(TURNS, b"a", b"x" * RECORD_BYTES_MAX)


async def test_the_largest_record_that_a_topic_takes_fits_its_dead_letters_too() -> None:
    for name in DEAD_LETTERED:
        wide, most = SPECS[dead_letter(name)].config, SPECS[name].config
        assert int(wide["max.message.bytes"]) > int(most["max.message.bytes"])
