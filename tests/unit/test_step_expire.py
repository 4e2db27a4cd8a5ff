"""The sweeper: what fell due takes the one road, once (design §11.1, §11.2)."""

from __future__ import annotations

from connectors.kafka.topics import EXPIRE
from streams.batch import Taken
from tables.memory import Status
from tables.policy import Clock
from tests.unit.step_world import HOUR, ME, T0, Machine, made, registered

EXAM = made("t1", "commitment.event.exam", "2026-03-02")
ENDED = 1_772_495_999_999


async def waiting(clock: Clock = Clock.EVENT) -> Machine:
    """An exam is remembered; it ends at the end of the next day."""
    m = Machine(registered(clock=clock))
    m.now = T0
    await m.run(m.turn("I have an exam tomorrow.", "t1"))
    return m


def published(m: Machine) -> list[Taken]:
    return m.waiting(EXPIRE)


async def test_nothing_is_published_before_its_time() -> None:
    m = await waiting()
    assert await m.process.sweeper.sweep(0) == 0


async def test_an_event_time_tenant_waits_for_its_own_clock() -> None:
    m = await waiting()
    m.now = ENDED + HOUR
    assert await m.process.sweeper.sweep(0) == 0
    await m.run(m.command("tick", "c1", at=ENDED))
    assert await m.process.sweeper.sweep(0) == 1


async def test_a_wall_time_tenant_waits_for_the_wall() -> None:
    m = await waiting(Clock.WALL)
    m.now = ENDED
    assert await m.process.sweeper.sweep(0) == 1


async def test_what_was_swept_expires_on_the_one_road_and_leaves_no_due_row_behind() -> None:
    m = await waiting()
    await m.run(m.command("tick", "c1", at=ENDED))
    await m.process.sweeper.sweep(0)
    await m.run(*published(m))
    assert m.memories()[EXAM].status is Status.EXPIRED
    assert ENDED not in {int.from_bytes(key[:8], "big") for key in m.rows("due")}


async def test_what_is_on_its_way_is_not_published_again() -> None:
    m = await waiting()
    await m.run(m.command("tick", "c1", at=ENDED))
    assert [await m.process.sweeper.sweep(0) for _ in range(3)] == [1, 0, 0]


async def test_published_again_by_the_next_process_it_does_nothing_twice() -> None:
    m = await waiting()
    await m.run(m.command("tick", "c1", at=ENDED))
    await m.process.sweeper.sweep(0)
    await m.restart().sweeper.sweep(0)
    await m.run(*published(m))
    assert len(published(m)) == 2
    assert m.memories()[EXAM].version == 2


async def test_an_erased_memory_is_never_due() -> None:
    m = await waiting()
    await m.run(m.delete("user"))
    assert m.rows("due") == {}


async def test_history_is_purged_when_its_days_are_over() -> None:
    m = await waiting()
    await m.run(m.command("tick", "c1", at=ENDED))
    await m.process.sweeper.sweep(0)
    await m.run(*published(m))
    m.process.sweeper.forget()
    taken = len(published(m))
    await m.run(m.command("tick", "c2", at=ENDED + 31 * 24 * HOUR))
    assert await m.process.sweeper.sweep(0) == 1
    await m.run(*published(m)[taken:])
    assert m.memories(ME)[EXAM].closed
    assert m.rows("due") == {}
