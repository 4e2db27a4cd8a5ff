"""One worker and one API over the shared engine, for every test here; whoever stops one of them starts it again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.local.engine import LocalEngine
from tests.integration.kit import Site, Wire, embedder


@pytest.fixture(scope="session")
def wire(engine: LocalEngine) -> Iterator[Wire]:
    made = Wire(engine)
    yield made
    made.close()


@pytest.fixture(scope="session")
def worker(engine: LocalEngine) -> str:
    """The name of the one worker, embedding by hashes: quick, and the same in every process."""
    with embedder("hash"):
        (name,) = engine.start_worker()
    return name


@pytest.fixture(scope="session")
def api(engine: LocalEngine) -> str:
    """The base address."""
    with embedder("hash"):
        return engine.start_api()


@pytest.fixture(scope="session")
def site(engine: LocalEngine, wire: Wire, worker: str, api: str) -> Iterator[Site]:
    made = Site(engine, wire, api, worker)
    yield made
    made.close()
