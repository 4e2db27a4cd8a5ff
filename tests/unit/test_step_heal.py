"""Heal: a Redis that lost everything gets everything back from the ledger, marks first (design §11.5)."""

from __future__ import annotations

import pytest

from connectors.redis.fake import Shelf
from tables.errors import Unavailable
from tables.keys import Scope
from tests.unit.step_world import HOUR, ME, T0, YOU, Machine, made

JAZZ = made("t3", "preference.likes", "jazz")


async def lived() -> Machine:
    """Users with memories, history, a question, outcomes, windows, wishes, erasures and a clock."""
    m = Machine()
    await m.each(
        m.turn("I live in Paris.", "t1"),
        m.turn("I live in Paris.", "t2", session_id="s2", at=T0 + 1),
        m.turn("I live in Rome.", "t4", session_id="s3", at=T0 + 2),
        m.turn("I love jazz.", "t3", at=T0 + 3),
        m.turn("这次回答简短一点", "t5", at=T0 + 4),
        m.turn("I like tea.", "t1", scope=YOU),
        m.command("pin", "c1", memory_ids=[JAZZ]),
        m.command("consent", "c2", Scope("acme", "cleo"), allow=True),
        m.command("reset", "c3", scope="context", session_id="s2"),
        m.delete("user", request_id="e1", scope=YOU),
        m.delete("session", "s9", request_id="e2"),
    )
    return m


def seen(shelf: Shelf) -> dict[str, object]:
    """What readers can see. Progress is of this epoch only: a token from before waits for the next mark."""
    drawers = {
        scope: (d.memories, d.questions, d.profile_version) for scope, d in shelf.users.items() if d.keys > d.present
    }
    return {
        "users": drawers,
        "sessions": shelf.sessions,
        "marks": (shelf.user_marks, shelf.tenant_marks),
        "receipts": shelf.receipts,
        "outcomes": shelf.outcomes,
        "clocks": shelf.clocks,
    }


async def test_everything_readable_comes_back() -> None:
    m = await lived()
    before = seen(m.shelf)
    m.shelf.lose()
    await m.restart().heal.partition(0)
    assert seen(m.shelf) == before


async def test_healing_what_is_whole_changes_nothing() -> None:
    m = await lived()
    before = seen(m.shelf)
    await m.process.heal.partition(0)
    await m.process.heal.partition(0)
    assert seen(m.shelf) == before


async def test_a_partition_is_missing_until_it_is_healed() -> None:
    m = await lived()
    assert await m.process.heal.missing(frozenset({0})) == {0}
    await m.process.heal.partition(0)
    assert await m.process.heal.missing(frozenset({0})) == frozenset()


async def test_a_partition_half_healed_is_not_served() -> None:
    m = await lived()
    m.shelf.lose()
    m.shelf.away = True
    with pytest.raises(Unavailable):
        await m.process.heal.partition(0)
    m.shelf.away = False
    assert m.shelf.served == set()


async def test_what_was_erased_does_not_come_back() -> None:
    m = await lived()
    m.shelf.lose()
    await m.process.heal.partition(0)
    assert YOU not in m.shelf.users or m.shelf.users[YOU].memories == {}
    assert (YOU, "s1") not in m.shelf.sessions


async def test_work_goes_on_after_healing_as_if_nothing_had_been_lost() -> None:
    m = await lived()
    m.shelf.lose()
    await m.restart().heal.partition(0)
    await m.run(m.turn("I live in Oslo.", "t7", at=T0 + HOUR))
    assert set(m.shelf.users[ME].memories) == {k for k, v in m.memories().items() if not v.closed}
