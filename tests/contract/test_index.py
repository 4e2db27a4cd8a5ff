"""The contract of the vector index: one suite for the fake and for Milvus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from connectors.milvus.config import MilvusConfig
from connectors.milvus.fake import FakeIndex
from connectors.milvus.index import MilvusIndex
from streams.ports import Index
from tables.candidate import Kind, Sensitivity
from tables.copies import IndexRow
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Scope, digest
from tables.memory import State, Status
from tables.policy import Tenant
from tables.receipt import Query
from tests.contract.copies_kit import HOSTILE, NOW, memory, row, tenant, unique, vector

AnyIndex = FakeIndex | MilvusIndex


@pytest.fixture(params=["fake", pytest.param("milvus", marks=pytest.mark.real)])
def uri(request: pytest.FixtureRequest) -> str:
    """Where the real index is, "" for the fake. Not asynchronous: starting the real parts needs a loop of its own."""
    return "" if request.param == "fake" else str(request.getfixturevalue("milvus_uri"))


@pytest.fixture
async def index(uri: str) -> AsyncIterator[AnyIndex]:
    if not uri:
        yield FakeIndex()
        return
    # Small pages and calls, so that every test also walks the roads of large ones.
    config = MilvusConfig(uri, page_rows=8, page_ids=8, ids_per_call=5, ids_per_query=6)
    real = MilvusIndex(config)
    await real.ensure()
    yield real
    await real.close()


@pytest.fixture(params=[False, True], ids=["own partition", "bucket"])
def home(request: pytest.FixtureRequest) -> Tenant:
    return tenant(bucket=request.param)


async def found(
    index: Index, home: Tenant, scope: Scope, n: int | str = 0, tasks: tuple[str, ...] = (), now: int = NOW
) -> set[str]:
    return {hit.memory.id for hit in await index.search(home, scope, vector(n), tasks=tasks, now=now, limit=50)}


def counts(queries: tuple[Query, ...]) -> set[int]:
    return {query.found for query in queries}


async def test_a_written_memory_is_found_at_once_whole_and_nearest_first(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    rows = [row(scope, n) for n in range(3)]
    await index.upsert(home, rows)
    hits = await index.search(home, scope, vector(1), tasks=(), now=NOW, limit=2)
    assert hits[0].memory == rows[1].memory
    assert hits[0].similarity == pytest.approx(1.0, abs=1e-4)
    assert len(hits) == 2
    assert hits[1].similarity < 0.5


async def test_owned_gives_every_status_back_unchanged(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    rows = [
        row(scope, 1),
        row(scope, 2, status=Status.SUPERSEDED, superseded_by=memory(scope, 1).id),
        row(scope, 3, status=Status.EXPIRED, expires_at=NOW - 1),
        row(scope, 4, state=State.DRAFT),
        row(scope, 5, state=State.FROZEN, kind=Kind.HEALTH, sensitivity=Sensitivity.HEALTH, task="job"),
    ]
    await index.upsert(home, rows)
    assert await index.owned(home, scope) == sorted((r.memory for r in rows), key=lambda m: m.id)
    assert await index.count(home, scope) == 5


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, True),
        ({"state": State.FROZEN}, True),
        ({"state": State.DRAFT}, False),
        ({"status": Status.SUPERSEDED}, False),
        ({"status": Status.EXPIRED}, False),
        ({"expires_at": NOW + 1}, True),
        ({"expires_at": NOW}, False),  # expires_at > now must hold
        ({"task": "mine"}, True),
        ({"task": "other"}, False),
    ],
)
async def test_search_shows_only_what_may_be_recalled(
    index: AnyIndex, home: Tenant, changes: dict[str, object], shown: bool
) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [row(scope, 0, **changes)])
    assert bool(await found(index, home, scope, tasks=("mine",))) is shown


async def test_without_tasks_a_search_sees_no_task(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [row(scope, 1), row(scope, 2, task="job")])
    assert await found(index, home, scope) == {memory(scope, 1).id}
    assert await found(index, home, scope, tasks=("", "job")) == {memory(scope, 1).id, memory(scope, 2).id}


async def test_a_second_write_replaces_the_first(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [row(scope)])
    await index.upsert(home, [row(scope, version=4), row(scope, version=5, status=Status.SUPERSEDED)])
    assert [one.version for one in await index.owned(home, scope)] == [5]
    assert await found(index, home, scope) == set()


async def test_hostile_ids_come_back_byte_exact_and_never_meet(index: AnyIndex, home: Tenant) -> None:
    """Every hostile id as user, session and task of one tenant, all with the same vector."""
    written = {}
    for name in HOSTILE:
        scope = Scope(home.id, name)
        written[scope] = replace(row(scope, name, session=name, task=name), vector=vector(0))
    await index.upsert(home, list(written.values()))
    for scope, one in written.items():
        hits = await index.search(home, scope, vector(0), tasks=(scope.user,), now=NOW, limit=50)
        assert [hit.memory for hit in hits] == [one.memory]
        assert await index.owned(home, scope) == [one.memory]


async def test_hostile_tenants_in_one_bucket_never_meet(index: AnyIndex) -> None:
    homes = [tenant(f"{name}"[:60] + unique(""), bucket=True) for name in HOSTILE[:10]]
    for home in homes:
        await index.upsert(home, [row(Scope(home.id, "u"), home.id)])
    for home in homes:
        scope = Scope(home.id, "u")
        assert [one.scope.tenant for one in await index.owned(home, scope)] == [home.id]
        assert len(await found(index, home, scope)) == 1
        assert [row.memory_id async for row in index.scan(home)] == [memory(scope, home.id).id]


async def test_another_user_or_tenant_sees_nothing_through_any_method(index: AnyIndex) -> None:
    home, other = tenant(bucket=True), tenant(bucket=True)
    scope = Scope(home.id, "u")
    mine = row(scope)
    await index.upsert(home, [mine])
    for place, stranger in ((home, Scope(home.id, "v")), (other, Scope(other.id, "u"))):
        assert await found(index, place, stranger) == set()
        assert await index.owned(place, stranger) == []
        assert await index.count(place, stranger) == 0
        assert counts(await index.residue(place, stranger, [mine.memory.id], [mine.vector])) == {0}
        assert counts(await index.residue(place, stranger, [], [mine.vector])) == {0}
    assert [one async for one in index.scan(other)] == []


async def test_a_foreign_scope_is_a_bug_not_a_read(index: AnyIndex, home: Tenant) -> None:
    stranger = Scope(unique(), "u")
    with pytest.raises(ValueError, match="another tenant"):
        await index.owned(home, stranger)
    with pytest.raises(ValueError, match="another tenant"):
        await index.search(home, stranger, vector(0), tasks=(), now=NOW, limit=1)
    with pytest.raises(ValueError, match="another tenant"):
        await index.residue(home, stranger, [], [])
    with pytest.raises(ValueError, match="another tenant"):
        await index.count(home, stranger)
    with pytest.raises(ValueError, match="another tenant"):
        await index.upsert(home, [row(stranger)])


async def test_a_scope_without_a_user_never_widens_a_read(index: AnyIndex, home: Tenant) -> None:
    await index.upsert(home, [row(Scope(home.id, "u"))])
    nobody = Scope(home.id, "")
    with pytest.raises(ValueError, match="no user"):
        await index.search(home, nobody, vector(0), tasks=(), now=NOW, limit=1)
    with pytest.raises(ValueError, match="no user"):
        await index.owned(home, nobody)


async def test_deleting_another_tenants_id_removes_nothing(index: AnyIndex) -> None:
    home, other = tenant(bucket=True), tenant(bucket=True)
    own = tenant()
    mine = row(Scope(home.id, "u"))
    await index.upsert(home, [mine])
    await index.upsert(other, [row(Scope(other.id, "u"))])
    await index.delete(other, [mine.memory.id])
    await index.delete(own, [mine.memory.id])
    assert await index.owned(home, mine.memory.scope) == [mine.memory]


async def test_delete_removes_what_is_named_and_may_be_repeated(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    rows = [row(scope, n) for n in range(12)]
    ids = [one.memory.id for one in rows]
    await index.upsert(home, rows)
    probes = [one.vector for one in rows]
    assert counts(await index.residue(home, scope, ids[:7], probes[:7])) == {7}
    for _ in range(2):
        await index.delete(home, [*ids[:7], *ids[:2], digest("never there")])
        assert counts(await index.residue(home, scope, ids[:7], probes)) == {0}
    assert counts(await index.residue(home, scope, [], probes)) == {5}
    assert [one.id for one in await index.owned(home, scope)] == sorted(ids[7:])


async def test_residue_counts_what_is_left(index: AnyIndex, home: Tenant) -> None:
    scope, neighbour = Scope(home.id, "u"), Scope(home.id, "v")
    rows = [row(scope, n) for n in range(10)]
    await index.upsert(home, [*rows, row(neighbour, 1)])
    ids = [one.memory.id for one in rows]
    await index.delete(home, ids[:6])
    queries = await index.residue(home, scope, ids, [one.vector for one in rows])
    assert [(q.name, q.found) for q in queries] == [
        ("by_id", 4),
        ("by_id_anywhere", 4),
        ("by_scope", 4),
        ("count", 4),
        ("own_vector", 4),
        ("point_lookup", 4),
    ]
    whole = await index.residue(home, Scope(home.id, ""), [], [])
    assert [(q.name, q.found) for q in whole] == [
        ("by_scope", 5),
        ("by_scope_anywhere", 5),
        ("count", 5),
        ("own_vector", 0),
    ]


@pytest.mark.parametrize("name", ['x"] or tenant != "', "*", "", "A" * 32, "not-hex"])
async def test_an_id_that_is_not_ours_is_simply_not_there(index: AnyIndex, home: Tenant, name: str) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [row(scope)])
    await index.delete(home, [name])
    assert counts(await index.residue(home, scope, [name], [])) == {0}
    assert await index.count(home, scope) == 1


async def test_scan_shows_every_row_of_the_tenant_once(index: AnyIndex, home: Tenant) -> None:
    rows = [row(Scope(home.id, f"u{n % 3}"), n, version=n + 1) for n in range(40)]
    await index.upsert(home, rows)
    seen = [one async for one in index.scan(home)]
    assert sorted(one.memory_id for one in seen) == sorted(one.memory.id for one in rows)
    assert sum(one.version for one in seen) == 820  # 1 + 2 + … + 40
    assert {one.status for one in seen} == {"active"}
    assert len({one.owner for one in seen}) == 3


async def test_owned_pages_through_more_than_a_page(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [row(scope, n) for n in range(30)])
    assert len({one.id for one in await index.owned(home, scope)}) == 30


async def test_a_dropped_tenant_is_gone_its_neighbour_is_not_and_it_may_start_again(index: AnyIndex) -> None:
    for bucket in (False, True):
        home, neighbour = tenant(bucket=bucket), tenant(bucket=bucket)
        scope, beside = Scope(home.id, "u"), Scope(neighbour.id, "u")
        await index.upsert(home, [row(scope, n) for n in range(12)])
        await index.upsert(neighbour, [row(beside)])
        for _ in range(2):
            await index.drop_tenant(home)
            assert counts(await index.residue(home, Scope(home.id, ""), [], [vector(0)])) == {0}
            assert await found(index, home, scope) == set()
        assert await index.count(neighbour, beside) == 1
        await index.upsert(home, [row(scope, 3)])
        assert await found(index, home, scope, 3) == {memory(scope, 3).id}


async def test_a_tenant_that_never_wrote_is_empty(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    assert await index.owned(home, scope) == []
    assert await found(index, home, scope) == set()
    assert await index.count(home, scope) == 0
    await index.delete(home, [memory(scope).id])
    await index.drop_tenant(home)


async def test_nothing_is_written_when_one_row_is_refused(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    good = row(scope, 1)
    long = row(scope, 2, content="漢" * 22_000)  # 66,000 bytes, 22,000 characters
    with pytest.raises(InvalidRecord) as refused:
        await index.upsert(home, [good, long])
    assert refused.value.reason is BadRecord.TOO_LARGE
    for bad in (
        row(scope, 3, status=Status.DELETED),
        row(scope, 3, status=Status.EVICTED),
        row(scope, 3, id="mine"),
        IndexRow(memory(scope, 3), vector(3)[:-1]),
        IndexRow(memory(scope, 3), (float("nan"), *vector(3)[1:])),
        IndexRow(memory(scope, 3), (0.0,) * 384),
    ):
        with pytest.raises(ValueError, match=r"."):
            await index.upsert(home, [good, bad])
    assert await index.count(home, scope) == 0


async def test_a_body_of_almost_64_kilobytes_of_chinese_fits(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    large = row(scope, 1, content="漢" * 21_000)  # 63,000 bytes
    await index.upsert(home, [large])
    assert await index.owned(home, scope) == [large.memory]


async def test_no_rows_and_no_limit_are_no_error(index: AnyIndex, home: Tenant) -> None:
    scope = Scope(home.id, "u")
    await index.upsert(home, [])
    await index.upsert(home, [row(scope)])
    await index.delete(home, [])
    assert await index.search(home, scope, vector(0), tasks=(), now=NOW, limit=0) == []
    assert await index.count(home, scope) == 1
    assert await index.healthy()
