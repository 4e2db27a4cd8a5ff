"""The real parts for tests marked `real`: started once a run, on free loopback ports, stopped at its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kafka.admin import provision
from deploy.local.engine import LocalEngine
from streams.settings import Settings, kafka_config, load

SHARED_ENV = "TWINSLUICE_SHARED"


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """Kafka, Redis and Milvus Lite, with every topic provisioned; no worker and no API yet."""
    with LocalEngine(tmp_path_factory.mktemp("engine"), partitions=4) as local:
        local.start_parts()
        asyncio.run(provision(kafka_config(load(local.settings())), create=True))
        yield local


@pytest.fixture(scope="session")
def settings(engine: LocalEngine) -> Settings:
    return load(engine.settings())


@pytest.fixture(scope="session")
def kafka_brokers(settings: Settings) -> str:
    return settings.brokers


@pytest.fixture(scope="session")
def redis_url(settings: Settings) -> str:
    return settings.redis


@pytest.fixture(scope="session")
def milvus_uri(settings: Settings) -> str:
    return settings.milvus


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The evaluation data beside the checkout; tests that need it skip aloud when it is not there."""
    folder = Path(os.environ.get(SHARED_ENV, Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no evaluation data: set {SHARED_ENV}")
    return folder
