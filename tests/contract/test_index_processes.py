"""What one process does to the index, the other processes see: API and workers share it without talking."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from connectors.milvus.config import MilvusConfig
from connectors.milvus.index import MilvusIndex
from tables.keys import Scope
from tests.contract.copies_kit import NOW, memory, row, tenant, unique, vector

pytestmark = pytest.mark.real


@pytest.fixture
async def pair(milvus_uri: str) -> AsyncIterator[tuple[MilvusIndex, MilvusIndex]]:
    indexes = MilvusIndex(MilvusConfig(milvus_uri)), MilvusIndex(MilvusConfig(milvus_uri))
    await asyncio.gather(*(index.ensure() for index in indexes))
    yield indexes
    for index in indexes:
        await index.close()


async def test_a_partition_that_another_process_made_is_found(pair: tuple[MilvusIndex, MilvusIndex]) -> None:
    worker, api = pair
    home = tenant()
    scope = Scope(home.id, "u")
    assert await api.owned(home, scope) == []
    await worker.upsert(home, [row(scope)])
    assert await api.owned(home, scope) == [memory(scope)]


async def test_a_partition_that_another_process_dropped_is_empty_and_comes_back(
    pair: tuple[MilvusIndex, MilvusIndex],
) -> None:
    worker, other = pair
    home = tenant()
    scope = Scope(home.id, "u")
    await worker.upsert(home, [row(scope)])
    await other.drop_tenant(home)
    assert await worker.search(home, scope, vector(0), tasks=(), now=NOW, limit=5) == []
    assert await worker.count(home, scope) == 0
    await worker.delete(home, [memory(scope).id])
    await worker.upsert(home, [row(scope, 1)])
    assert await other.owned(home, scope) == [memory(scope, 1)]


async def test_two_processes_may_make_one_partition_at_once(pair: tuple[MilvusIndex, MilvusIndex]) -> None:
    for _ in range(5):
        home = tenant(unique())
        scope = Scope(home.id, "u")
        await asyncio.gather(*(index.upsert(home, [row(scope, n)]) for n, index in enumerate(pair)))
        assert await pair[0].count(home, scope) == 2


async def test_many_calls_at_once_on_one_index_keep_apart(pair: tuple[MilvusIndex, MilvusIndex]) -> None:
    index = pair[0]
    homes = [tenant() for _ in range(8)]
    scopes = [Scope(home.id, "u") for home in homes]
    await asyncio.gather(*(index.upsert(home, [row(scope)]) for home, scope in zip(homes, scopes, strict=True)))
    places = list(zip(homes, scopes, strict=True)) * 4
    found = await asyncio.gather(
        *(index.search(home, scope, vector(0), tasks=(), now=NOW, limit=5) for home, scope in places)
    )
    assert [[hit.memory.scope for hit in hits] for hits in found] == [[scope] for _, scope in places]
