"""Erase: every copy, the proof, the receipt; the same request the same receipt (A11, N2, design §6)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from connectors.codec import decode_held
from connectors.kafka.topics import CHANGES, RECEIPTS, TABLES, TURNS, changelog
from connectors.milvus.fake import FakeIndex
from streams.erase import ATTEMPTS
from tables.command import Result
from tables.keys import Scope
from tables.memory import Status
from tables.policy import Clock, Tenant
from tables.receipt import Receipt, ReceiptState
from tests.unit.step_world import HOUR, ME, NOW, T0, YOU, Machine, made, registered

PARIS, ROME = made("t1", "identity.city", "paris"), made("t2", "identity.city", "rome")


class Sticky(FakeIndex):
    """An index that goes on showing what was deleted for `times` deletes."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None:
        self.times -= 1
        if self.times < 0:
            await super().delete(tenant, memory_ids)


def receipt(m: Machine, request: str = "e1", tenant: str = "acme") -> Receipt:
    return m.shelf.receipts[tenant, request]


async def remembered(m: Machine) -> None:
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("I live in Rome.", "t2", at=T0 + 1))


async def test_an_erased_memory_takes_its_whole_chain_with_it() -> None:
    m = Machine()
    await remembered(m)
    await m.run(m.delete("memory", ROME))
    assert {one.status for one in m.memories().values()} == {Status.DELETED}
    assert m.indexed() == set()
    assert m.shelf.users[ME].memories == {}


async def test_nothing_that_was_said_is_left_in_any_row_or_copy() -> None:
    m = Machine()
    await m.run(m.turn("I live in Zanzibar.", "t1"), m.turn("hello from zanzibar", "t2", at=T0 + 1))
    await m.run(m.delete("user"))
    held = [raw for table in TABLES for raw in m.rows(table).values()]
    assert not any(b"anzibar" in raw for raw in held)
    assert "anzibar" not in repr((m.shelf.users, m.shelf.sessions, m.shelf.receipts, m.index.partitions))


async def test_the_row_that_stays_has_no_vector() -> None:
    m = Machine()
    await remembered(m)
    await m.run(m.delete("user"))
    assert [decode_held(raw)[1] for raw in m.rows("memories").values()] == [(), ()]


async def test_the_changelog_ends_without_the_words() -> None:
    m = Machine()
    await m.run(m.turn("I live in Zanzibar.", "t1"))
    await m.run(m.delete("user"))
    for table in TABLES:
        last = {record.key: record.value for record in m.bus.records(changelog(table))}
        assert not any(b"anzibar" in (value or b"") for value in last.values())


async def test_the_event_of_an_erasure_tells_no_content_and_names_the_request_as_its_source() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"))
    await m.run(m.delete("user"))
    change = json.loads(m.bus.records(CHANGES)[-1].value or b"")
    assert (change["op"], change["source"]["topic"], change["source"]["offset"]) == ("d", "memory.delete.v1", 0)
    assert (change["body"]["data"]["before"]["content"], change["body"]["data"]["after"]) == ("", None)


async def test_a_receipt_says_copy_by_copy_what_was_found_and_that_nothing_is_left() -> None:
    m = Machine()
    await remembered(m)
    await m.run(m.delete("user"))
    found = receipt(m)
    assert (found.state, found.memories, found.attempts) == (ReceiptState.VERIFIED, 2, 1)
    assert {copy.copy: (copy.before, copy.after) for copy in found.copies} == {
        "windows": (2, 0),
        "ledger": (2, 0),
        "index": (2, 0),
        "copies": (2, 0),
        "questions": (0, 0),
        "bus": (2, 0),
        "dead_letters": (0, 0),
    }


async def test_a_receipt_names_nobody_and_nothing() -> None:
    m = Machine()
    await remembered(m)
    await m.run(m.delete("user"))
    assert not any(word in (m.bus.records(RECEIPTS)[0].value or b"") for word in (b"u-1", b"acme", b"aris", b"s1"))


async def test_the_same_request_again_gives_the_same_receipt_and_does_nothing() -> None:
    m = Machine()
    await remembered(m)
    await m.run(m.delete("user"))
    first, told = receipt(m), len(m.bus.records(CHANGES))
    await m.run(m.turn("I live in Rome.", "t3", at=T0 + 2 * HOUR), m.delete("user"))
    assert receipt(m) == first
    assert m.contents() == ["I live in Rome."]
    assert len(m.bus.records(CHANGES)) == told + 1


async def test_a_delete_that_finds_nothing_is_a_verified_noop() -> None:
    m = Machine()
    await m.run(m.delete("memory", PARIS))
    assert (receipt(m).state, receipt(m).memories) == (ReceiptState.VERIFIED, 0)
    assert m.shelf.outcomes["acme", "e1"].result is Result.NOOP


async def test_what_was_also_said_elsewhere_stays_with_its_other_sources() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("I live in Paris.", "t9", session_id="s2", at=T0 + HOUR // 2))
    await m.run(m.delete("session", "s1"))
    (held,) = m.memories().values()
    assert [source.session for source in held.sources] == ["s2"]
    assert m.contents() == ["I live in Paris."]


async def test_an_index_that_is_slow_to_forget_is_asked_again() -> None:
    m = Machine()
    m.index = Sticky(2)
    m.restart()
    await remembered(m)
    await m.run(m.delete("user"))
    assert (receipt(m).state, receipt(m).attempts) == (ReceiptState.VERIFIED, 3)
    assert m.process.pauses == sorted(m.process.pauses)


async def test_an_index_that_never_forgets_fails_the_receipt_and_the_memory_stays_hidden() -> None:
    m = Machine()
    m.index = Sticky(1_000)
    m.restart()
    await remembered(m)
    await m.run(m.delete("user"))
    assert (receipt(m).state, receipt(m).attempts) == (ReceiptState.FAILED, ATTEMPTS)
    assert m.shelf.outcomes["acme", "e1"].reason == "residue"
    assert m.shelf.marks(ME) != ()


async def test_a_tenants_erasure_reaches_every_user_and_no_other_tenant() -> None:
    m = Machine(registered("acme"), registered("zeta"))
    other = Scope("zeta", "u-1")
    await m.run(*(m.turn("I live in Paris.", "t1", scope=scope) for scope in (ME, YOU, other)))
    await m.run(m.delete("tenant", scope=Scope("acme", "")))
    assert m.contents(ME) + m.contents(YOU) + m.window("s1", ME) + m.window("s1", YOU) == []
    assert (m.contents(other), m.window("s1", other)) == (["I live in Paris."], ["I live in Paris."])
    assert receipt(m).memories == 2


async def test_what_came_before_the_delete_in_one_batch_is_finished_before_it() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"), m.delete("user"), m.turn("I love jazz.", "t2", at=T0 + 2 * HOUR))
    assert m.contents() == ["I love jazz."]
    assert m.window() == ["I love jazz."]
    assert m.shelf.progress[TURNS, 0] == 1


@pytest.mark.parametrize(("clock", "finished"), [(Clock.WALL, NOW), (Clock.EVENT, T0 + HOUR)])
async def test_a_receipt_is_finished_by_the_tenants_clock(clock: Clock, finished: int) -> None:
    m = Machine(registered(clock=clock))
    await m.run(m.delete("user"))
    assert receipt(m).finished_at == finished


async def test_an_open_question_about_what_is_erased_goes_from_redis_too() -> None:
    m = Machine()
    await m.each(
        m.turn("I live in Paris.", "t1"),
        m.turn("I live in Paris.", "t4", session_id="s2", at=T0 + 1),
        m.turn("I live in Rome.", "t2", session_id="s3", at=T0 + 2),
    )
    assert len(m.shelf.users[ME].questions) == 1
    await m.run(m.delete("user"))
    assert m.rows("questions") == {}
    assert m.shelf.users[ME].questions == {}
    assert receipt(m).state is ReceiptState.VERIFIED
