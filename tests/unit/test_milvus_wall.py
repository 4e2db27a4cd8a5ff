"""Whatever Milvus and the network do, callers see Unavailable in bounded time and the log sees nothing."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest

from connectors.milvus.config import MilvusConfig
from connectors.milvus.fake import FakeIndex
from connectors.milvus.index import MilvusIndex
from streams.ports import Index
from tables.errors import Unavailable
from tables.keys import Scope
from tests.contract.copies_kit import NOW, memory, row, tenant, vector

HOME = tenant("t")
SCOPE = Scope("t", "u")


@pytest.fixture
def nobody() -> str:
    """A uri at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def mute() -> Iterator[str]:
    """A uri whose server takes connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


async def fails(index: Index) -> None:
    for call in (
        index.upsert(HOME, [row(SCOPE)]),
        index.delete(HOME, [memory(SCOPE).id]),
        index.search(HOME, SCOPE, vector(0), tasks=(), now=NOW, limit=1),
        index.owned(HOME, SCOPE),
        index.residue(HOME, SCOPE, [memory(SCOPE).id], [vector(0)]),
    ):
        with pytest.raises(Unavailable) as away:
            await call
        assert away.value.engine == "milvus"


async def test_an_absent_engine_is_unavailable_and_nothing_is_logged(
    nobody: str, caplog: pytest.LogCaptureFixture
) -> None:
    index = MilvusIndex(MilvusConfig(nobody))
    with caplog.at_level(logging.INFO):
        await fails(index)
        with pytest.raises(Unavailable) as away:
            await index.ensure()
        assert away.value.__cause__ is not None
        assert not await index.healthy()
    assert [record for record in caplog.records if record.name.startswith("pymilvus")] == []
    await index.close()


async def test_a_mute_engine_is_unavailable_within_the_timeout(mute: str) -> None:
    index = MilvusIndex(MilvusConfig(mute, timeout_seconds=0.5, connect_timeout_seconds=0.5))
    began = time.monotonic()
    with pytest.raises(Unavailable):
        await index.owned(HOME, SCOPE)
    assert not await index.healthy()
    assert time.monotonic() - began < 5
    await index.close()


async def test_the_fake_can_be_away_too() -> None:
    index = FakeIndex()
    index.away = True
    await fails(index)
    assert not await index.healthy()
