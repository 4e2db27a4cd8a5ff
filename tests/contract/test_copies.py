"""The contract of the copies in Redis, worker's side and reader's side: one suite for the fake and for Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import pytest

from connectors.redis.client import connect
from connectors.redis.config import RedisConfig
from connectors.redis.copies import RedisCopies
from connectors.redis.fake import FakeCopies, FakeReader, Shelf
from connectors.redis.reader import RedisReader
from streams.ports import Copies, Reader
from tables.command import Outcome, Result
from tables.copies import SessionCopy, UserCopy
from tables.erasure import Mark, Reach
from tables.keys import Scope, digest
from tables.memory import State, Status
from tables.question import QuestionStatus
from tables.receipt import CopyEvidence, Physical, Query, Receipt, ReceiptState
from tests.contract.copies_kit import HOSTILE, NOW, mark, memory, question, session, unique

TTL = 3_600_000


@dataclass
class Doors:
    """Both sides of one store. The additive methods of the classes are tested through them, not the ports."""

    copies: FakeCopies | RedisCopies
    reader: FakeReader | RedisReader

    def as_ports(self) -> tuple[Copies, Reader]:
        return self.copies, self.reader


@pytest.fixture(params=["fake", pytest.param("redis", marks=pytest.mark.real)])
def url(request: pytest.FixtureRequest) -> str:
    """Where the real Redis is, "" for the fake. Not asynchronous: starting the real parts needs a loop of its own."""
    return "" if request.param == "fake" else str(request.getfixturevalue("redis_url"))


@pytest.fixture
async def doors(url: str) -> AsyncIterator[Doors]:
    if not url:
        shelf = Shelf()
        yield Doors(FakeCopies(shelf), FakeReader(shelf))
        return
    config = RedisConfig(url, prefix=f"test-{unique('')[1:17]}")
    client = connect(config)
    yield Doors(RedisCopies(client, config), RedisReader(client, config))
    for key in [key async for key in client.scan_iter(match=f"{config.prefix}:*")]:
        await client.delete(key)
    await client.aclose()


@pytest.fixture
def scope() -> Scope:
    return Scope(unique(), "u")


def totals(queries: Sequence[Query]) -> dict[str, int]:
    return {query.name: query.found for query in queries}


def receipt(request_id: str) -> Receipt:
    evidence = CopyEvidence("redis", 3, 0, (Query("by_key", 0), Query("by_scan", 0)), Physical.ERASED)
    return Receipt(request_id, digest("s"), "user", ReceiptState.VERIFIED, NOW, NOW + 5, 1, 3, (evidence,))


def outcome(request_id: str) -> Outcome:
    return Outcome(request_id, Result.CONFLICT, "version", (digest("m"),), 4, NOW)


async def test_a_view_gives_back_what_was_mirrored(doors: Doors, scope: Scope) -> None:
    held = [memory(scope, 1), memory(scope, 2, status=Status.SUPERSEDED), memory(scope, 3, state=State.DRAFT)]
    asked = question(scope, 1)
    await doors.copies.mirror_users([UserCopy(scope, tuple(held), questions=(asked,), profile_version=7)])
    await doors.copies.mirror_sessions([SessionCopy(scope, "s", session(), TTL)])
    await doors.copies.put_clock(scope.tenant, NOW)
    view = await doors.reader.view(scope, "s")
    assert view.present
    assert view.memories == tuple(sorted(held, key=lambda one: one.id))
    assert view.questions == (asked,)
    assert view.session == replace(session(), seen=(), offsets={})
    assert (view.clock, view.profile_version, view.marks, view.scope) == (NOW, 7, (), scope)


async def test_a_user_never_mirrored_is_not_present(doors: Doors, scope: Scope) -> None:
    view = await doors.reader.view(scope, "s")
    assert (view.present, view.memories, view.questions, view.session, view.clock) == (False, (), (), None, 0)


async def test_an_outcome_alone_makes_nobody_present(doors: Doors, scope: Scope) -> None:
    await doors.copies.mirror_users([UserCopy(scope, outcomes=(outcome("r"),))])
    assert not (await doors.reader.view(scope, "s")).present
    assert await doors.reader.outcome(scope.tenant, "r") == outcome("r")


async def test_a_session_makes_nobody_present(doors: Doors, scope: Scope) -> None:
    await doors.copies.mirror_sessions([SessionCopy(scope, "s", session(), TTL)])
    view = await doors.reader.view(scope, "s")
    assert not view.present
    assert view.session is not None


async def test_the_last_write_of_a_memory_wins(doors: Doors, scope: Scope) -> None:
    await doors.copies.mirror_users([UserCopy(scope, (memory(scope, version=1),))])
    await doors.copies.mirror_users([UserCopy(scope, (memory(scope, version=2),)), UserCopy(scope)])
    assert [one.version for one in (await doors.reader.view(scope, "")).memories] == [2]


async def test_removal_wins_over_a_write_of_the_same_id(doors: Doors, scope: Scope) -> None:
    one, two, three = (memory(scope, n) for n in range(3))
    await doors.copies.mirror_users([UserCopy(scope, (one, two, three))])
    closed = replace(three, status=Status.DELETED, content="")
    await doors.copies.mirror_users([UserCopy(scope, (one, closed), removed=(one.id, "never-there"))])
    view = await doors.reader.view(scope, "")
    assert view.memories == (two,)
    assert view.present


async def test_an_answered_question_goes(doors: Doors, scope: Scope) -> None:
    first, second = question(scope, 1), question(scope, 2)
    await doors.copies.mirror_users([UserCopy(scope, questions=(first, second))])
    answered = replace(first, status=QuestionStatus.CONFIRMED, answered_at=NOW)
    await doors.copies.mirror_users([UserCopy(scope, questions=(answered,))])
    assert (await doors.reader.view(scope, "")).questions == (second,)


async def test_a_session_is_matched_exactly_and_can_be_taken_away(doors: Doors, scope: Scope) -> None:
    await doors.copies.mirror_sessions([SessionCopy(scope, "s", session(1), TTL), SessionCopy(scope, "S", None, 0)])
    for other in ("S", "s ", "", "*", "s*"):
        assert (await doors.reader.view(scope, other)).session is None
    assert (await doors.reader.view(scope, "s")).session is not None
    await doors.copies.mirror_sessions([SessionCopy(scope, "s", None, 0)])
    assert (await doors.reader.view(scope, "s")).session is None


async def test_hostile_ids_come_back_byte_exact_and_never_meet(doors: Doors) -> None:
    """Every hostile id as tenant, user and session; each copy is found under its own scope only."""
    tenant = unique()
    scopes = [Scope(tenant, name) for name in HOSTILE] + [Scope(f"{tenant}{name}"[:120], "u") for name in HOSTILE[:8]]
    for scope in scopes:
        held = memory(scope, scope.user, session=scope.user, task=scope.user)
        await doors.copies.mirror_users([UserCopy(scope, (held,))])
        await doors.copies.mirror_sessions([SessionCopy(scope, scope.user, session(), TTL)])
        await doors.copies.put_marks(scope, [mark(Reach.SESSION, scope.user)])
    for scope in scopes:
        view = await doors.reader.view(scope, scope.user)
        assert view.memories == (memory(scope, scope.user, session=scope.user, task=scope.user),)
        assert view.session is not None
        assert [one.value for one in view.marks] == [scope.user]
        assert await doors.copies.drop_user(scope) == 4  # memories, meta, session, index of sessions
    assert [(await doors.reader.view(scope, scope.user)).present for scope in scopes] == [False] * len(scopes)


async def test_hostile_request_ids_never_meet(doors: Doors, scope: Scope) -> None:
    for name in HOSTILE:
        await doors.copies.put_receipt(scope.tenant, receipt(name))
        await doors.copies.put_outcome(scope.tenant, outcome(name))
    for name in HOSTILE:
        assert await doors.reader.receipt(scope.tenant, name) == receipt(name)
        assert await doors.reader.outcome(scope.tenant, name) == outcome(name)


async def test_joined_names_are_different_scopes(doors: Doors) -> None:
    name = unique()
    pairs = [Scope(name, "a:b"), Scope(f"{name}:a", "b"), Scope(f"{name}a", ":b"), Scope(name, "a")]
    for scope in pairs[:3]:
        await doors.copies.mirror_users([UserCopy(scope, (memory(scope),))])
    assert [len((await doors.reader.view(scope, "")).memories) for scope in pairs] == [1, 1, 1, 0]


async def test_another_user_or_tenant_sees_nothing_through_any_method(doors: Doors, scope: Scope) -> None:
    held = memory(scope)
    await doors.copies.mirror_users([UserCopy(scope, (held,), questions=(question(scope),), profile_version=2)])
    await doors.copies.mirror_sessions([SessionCopy(scope, "s", session(), TTL)])
    await doors.copies.put_marks(scope, [mark(Reach.MEMORY, held.id)])
    await doors.copies.put_receipt(scope.tenant, receipt("r"))
    await doors.copies.put_outcome(scope.tenant, outcome("r"))
    await doors.copies.put_clock(scope.tenant, NOW)
    await doors.reader.put_trace(scope.tenant, "t", b"{}", 1000)
    before = await doors.reader.view(scope, "s")
    for stranger in (Scope(scope.tenant, "v"), Scope(unique(), scope.user)):
        view = await doors.reader.view(stranger, "s")
        assert (view.present, view.memories, view.questions, view.session, view.marks) == (False, (), (), None, ())
        assert set(totals(await doors.copies.residue(stranger, [held.id], ["s"])).values()) == {0}
        assert set(totals(await doors.copies.residue(stranger, [], [])).values()) == {0}
        assert await doors.copies.drop_user(stranger) == 0
        assert await doors.copies.sweep_user(stranger) == 0
        await doors.copies.mirror_users([UserCopy(stranger, removed=(held.id,))])
        await doors.copies.mirror_sessions([SessionCopy(stranger, "s", None, 0)])
    other = unique()
    assert await doors.reader.receipt(other, "r") is None
    assert await doors.reader.outcome(other, "r") is None
    assert await doors.reader.trace(other, "t") is None
    assert (await doors.reader.view(Scope(other, "u"), "s")).clock == 0
    assert await doors.reader.view(scope, "s") == before


async def test_a_mark_is_seen_by_the_very_next_read(doors: Doors, scope: Scope) -> None:
    one = mark(Reach.MEMORY, memory(scope).id)
    await doors.reader.put_marks(scope, [one])
    assert (await doors.reader.view(scope, "")).marks == (one,)
    assert await doors.reader.marks(scope) == (one,)


async def test_a_confirmed_mark_is_never_weakened(doors: Doors, scope: Scope) -> None:
    asked = mark(Reach.SESSION, "s")
    stood = replace(asked, confirmed=True, set_at=NOW + 9)
    await doors.reader.put_marks(scope, [asked])
    await doors.copies.put_marks(scope, [stood])
    await doors.reader.put_marks(scope, [replace(asked, set_at=NOW + 99)])
    assert await doors.reader.marks(scope) == (stood,)
    later = replace(stood, set_at=NOW + 100)
    await doors.copies.put_marks(scope, [later, later])
    assert await doors.reader.marks(scope) == (later,)


async def test_an_unconfirmed_mark_may_be_renewed(doors: Doors, scope: Scope) -> None:
    await doors.reader.put_marks(scope, [mark(set_at=NOW)])
    await doors.reader.put_marks(scope, [mark(set_at=NOW + 5)])
    assert [one.set_at for one in await doors.reader.marks(scope)] == [NOW + 5]


async def test_marks_that_differ_stand_side_by_side(doors: Doors, scope: Scope) -> None:
    marks = [
        mark(Reach.MEMORY, "a"),
        mark(Reach.SOURCE, "a"),
        mark(Reach.MEMORY, "b"),
        mark(Reach.MEMORY, "a", at=NOW + 1),
        mark(Reach.MEMORY, "a", before=NOW - 9),
        mark(Reach.USER, ""),
    ]
    await doors.reader.put_marks(scope, marks)
    assert set(await doors.reader.marks(scope)) == set(marks)
    await doors.copies.remove_marks(scope, marks[:5])
    assert await doors.reader.marks(scope) == (marks[5],)


async def test_a_tenants_mark_reaches_every_user_of_it_and_nobody_else(doors: Doors, scope: Scope) -> None:
    whole = mark(Reach.TENANT, "")
    await doors.reader.put_marks(Scope(scope.tenant, ""), [whole])
    assert await doors.reader.marks(scope) == (whole,)
    assert (await doors.reader.view(Scope(scope.tenant, "v"), "")).marks == (whole,)
    assert await doors.reader.marks(Scope(unique(), "u")) == ()


async def test_a_mark_of_no_user_is_a_bug(doors: Doors, scope: Scope) -> None:
    with pytest.raises(ValueError, match="no user"):
        await doors.reader.put_marks(Scope(scope.tenant, ""), [mark(Reach.SESSION, "s")])


async def test_no_marks_are_no_error(doors: Doors, scope: Scope) -> None:
    await doors.reader.put_marks(scope, [])
    await doors.copies.remove_marks(scope, [])
    assert await doors.reader.marks(scope) == ()


async def test_dropping_a_user_leaves_marks_receipts_and_other_users(doors: Doors, scope: Scope) -> None:
    beside = Scope(scope.tenant, "v")
    for one in (scope, beside):
        await doors.copies.mirror_users([UserCopy(one, (memory(one),), questions=(question(one),))])
        await doors.copies.mirror_sessions([SessionCopy(one, name, session(), TTL) for name in ("a", "b")])
    stood: Mark = mark(Reach.USER, "", confirmed=True)
    await doors.copies.put_marks(scope, [stood])
    await doors.copies.put_receipt(scope.tenant, receipt("r"))
    neighbour = await doors.reader.view(beside, "a")
    assert totals(await doors.copies.residue(scope, [], [])) == {"by_key": 4, "by_scan": 6}
    assert await doors.copies.drop_user(scope) == 6  # memories, questions, meta, index, two sessions
    assert await doors.copies.drop_user(scope) == 0
    assert totals(await doors.copies.residue(scope, [], [])) == {"by_key": 0, "by_scan": 0}
    view = await doors.reader.view(scope, "a")
    assert (view.present, view.session, view.marks) == (False, None, (stood,))
    assert await doors.reader.receipt(scope.tenant, "r") == receipt("r")
    assert await doors.reader.view(beside, "a") == neighbour


async def test_residue_counts_what_is_left(doors: Doors, scope: Scope) -> None:
    held = [memory(scope, n) for n in range(4)]
    await doors.copies.mirror_users([UserCopy(scope, tuple(held), questions=(question(scope, 1),))])
    await doors.copies.mirror_sessions([SessionCopy(scope, name, session(), TTL) for name in ("a", "b")])
    ids = [one.id for one in held[:2]]
    assert totals(await doors.copies.residue(scope, ids, ["a"])) == {"by_key": 3, "by_question": 1, "by_scan": 3}
    await doors.copies.mirror_users([UserCopy(scope, removed=(ids[0],))])
    await doors.copies.mirror_sessions([SessionCopy(scope, "a", None, 0)])
    assert totals(await doors.copies.residue(scope, ids, ["a"])) == {"by_key": 1, "by_question": 1, "by_scan": 1}
    gone = replace(question(scope, 1), status=QuestionStatus.WITHDRAWN)
    await doors.copies.mirror_users([UserCopy(scope, removed=tuple(ids), questions=(gone,))])
    assert set(totals(await doors.copies.residue(scope, ids, ["a"])).values()) == {0}
    assert set(totals(await doors.copies.residue(scope, ids, ["b"])).values()) == {0, 1}


async def test_progress_only_grows(doors: Doors) -> None:
    topic = unique("topic")
    assert await doors.reader.progress(topic, 0) == -1
    await doors.copies.publish_progress({(topic, 0): 0, (topic, 1): 7})
    await doors.copies.publish_progress({(topic, 0): 41, (topic, 1): 3})
    await doors.copies.publish_progress({})
    assert [await doors.reader.progress(topic, n) for n in range(3)] == [41, 7, -1]


async def test_the_clock_only_grows(doors: Doors, scope: Scope) -> None:
    for at in (NOW, NOW - 1, NOW + 1, 0):
        await doors.copies.put_clock(scope.tenant, at)
    assert (await doors.reader.view(scope, "")).clock == NOW + 1


async def test_a_partition_is_served_only_once_it_is_confirmed(doors: Doors) -> None:
    assert not await doors.reader.serves(3)
    assert await doors.copies.served_partitions() == frozenset()
    await doors.copies.confirm_partition(3)
    await doors.copies.confirm_partition(11)
    assert await doors.reader.serves(3)
    assert not await doors.reader.serves(1)
    assert await doors.copies.served_partitions() == {3, 11}
    await doors.copies.withdraw_partition(3)
    assert not await doors.reader.serves(3)


async def test_receipts_outcomes_and_traces_come_back(doors: Doors, scope: Scope) -> None:
    assert await doors.reader.receipt(scope.tenant, "r") is None
    await doors.copies.put_receipt(scope.tenant, replace(receipt("r"), state=ReceiptState.PENDING))
    await doors.copies.put_receipt(scope.tenant, receipt("r"))
    await doors.copies.put_outcome(scope.tenant, outcome("r"))
    await doors.reader.put_trace(scope.tenant, "t", b'{"a":1}', 60_000)
    assert await doors.reader.receipt(scope.tenant, "r") == receipt("r")
    assert await doors.reader.outcome(scope.tenant, "r") == outcome("r")
    assert await doors.reader.trace(scope.tenant, "t") == b'{"a":1}'
    assert await doors.reader.healthy()


async def test_both_doors_fit_their_ports(doors: Doors) -> None:
    copies, reader = doors.as_ports()
    await copies.mirror_sessions([])
    await copies.mirror_users([])
    assert not await reader.serves(0)
