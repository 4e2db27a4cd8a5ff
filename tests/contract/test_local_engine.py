"""The real Kafka, Redis and Milvus Lite, started and stopped on this machine."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from pymilvus import MilvusClient

from deploy.local.engine import LocalEngine
from deploy.local.errors import FolderInUse, PortTaken
from deploy.local.ports import Port
from deploy.local.run import ROOT, State

pytestmark = pytest.mark.real

TOPIC = "survives"
LARGE = b"x" * 8 * 1024**2  # the largest record that must pass


@pytest.fixture(scope="module", name="engine")
def running_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """An engine of this module's own: its tests kill parts of it, and leave it whole."""
    with LocalEngine(tmp_path_factory.mktemp("local")) as engine:
        engine.start_parts()
        yield engine


async def produce(brokers: str, topic: str, value: bytes) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=brokers, max_request_size=2 * len(LARGE), request_timeout_ms=5_000
    ) as producer:
        await producer.send_and_wait(topic, value)


async def consume(brokers: str, topic: str) -> bytes:
    async with AIOKafkaConsumer(topic, bootstrap_servers=brokers, auto_offset_reset="earliest") as consumer:
        record = await asyncio.wait_for(consumer.getone(), 20)
    value: bytes = record.value
    return value


async def create(brokers: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1, topic_configs={"max.message.bytes": str(9 * 1024**2)})])
    finally:
        await admin.close()


def milvus(engine: LocalEngine) -> MilvusClient:
    return MilvusClient(engine.settings()["TWINSLUICE_MILVUS"], timeout=10)


def cache(engine: LocalEngine) -> redis.Redis:
    return redis.Redis.from_url(engine.settings()["TWINSLUICE_REDIS"])


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    """In a folder with a name that shells, Java and its properties files all find difficult."""
    folder = tmp_path / "a b\\c 李😀"
    with LocalEngine(folder) as first:
        first.start_parts()
        asyncio.run(create(first.settings()["TWINSLUICE_BROKERS"], TOPIC))
        asyncio.run(produce(first.settings()["TWINSLUICE_BROKERS"], TOPIC, LARGE))
        with cache(first) as client:
            client.set("key", "value")
        client = milvus(first)
        client.create_collection("rows", dimension=2)
        client.insert("rows", [{"id": 1, "vector": [1.0, 0.0]}])
        client.close()

    with LocalEngine(folder) as second:
        second.start_parts()
        with cache(second) as client:
            in_redis = client.get("key")
        client = milvus(second)
        client.load_collection("rows")
        in_milvus = client.get("rows", ids=[1], output_fields=["id"])
        client.close()
        in_kafka = asyncio.run(consume(second.settings()["TWINSLUICE_BROKERS"], TOPIC))

    assert (in_kafka == LARGE, in_redis, in_milvus) == (True, b"value", [{"id": 1}])
    assert first.settings()["TWINSLUICE_JWT_SECRET"] == second.settings()["TWINSLUICE_JWT_SECRET"]


def test_a_topic_is_not_made_by_writing_to_it(engine: LocalEngine) -> None:
    with pytest.raises(KafkaError):
        asyncio.run(produce(engine.settings()["TWINSLUICE_BROKERS"], "unheard-of", b"value"))


def test_every_part_listens_on_loopback_only(engine: LocalEngine) -> None:
    addresses = {
        connection.laddr.ip
        for name in ("kafka", "redis", "milvus")
        for connection in psutil.Process(engine.pid(name)).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }

    assert {address.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}


def test_a_second_engine_in_the_same_folder_refuses(engine: LocalEngine) -> None:
    with pytest.raises(FolderInUse):
        LocalEngine(engine.folder)
    assert all(engine.lives(name) for name in ("kafka", "redis", "milvus"))


@pytest.mark.parametrize("name", ["kafka", "redis", "milvus"])
def test_a_killed_part_comes_back_where_it_was(engine: LocalEngine, name: str) -> None:
    before = engine.settings()
    engine.kill(name)
    gone = not engine.lives(name)

    engine.restart(name)

    assert (gone, engine.lives(name), engine.settings()) == (True, True, before)


def test_a_port_taken_while_a_part_was_down_is_named(engine: LocalEngine) -> None:
    engine.kill("redis")
    number = int(engine.settings()["TWINSLUICE_REDIS"].split(":")[-1].split("/")[0])
    someone = Port(number, "someone else")
    try:
        with pytest.raises(PortTaken, match=rf"port {number} \(Redis\)"):
            engine.restart("redis")
    finally:
        someone.drop()
    engine.restart("redis")

    assert engine.lives("redis")


@pytest.mark.parametrize("signals", [(signal.SIGKILL,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
def test_nothing_is_left_running_when_the_owner_ends(tmp_path: Path, signals: tuple[signal.Signals, ...]) -> None:
    command = [sys.executable, "-m", "deploy.local", "up", "--folder", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().startswith(b"export TWINSLUICE_BROKERS=")
        state = State.read(tmp_path)
        for number in signals:
            owner.send_signal(number)

    assert state is not None
    assert {"kafka", "redis", "milvus"} <= state.parts.keys()
    assert gone(state, 30)


def gone(state: State, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(part.find() for part in state.parts.values()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_failed_start_leaves_nothing_running(tmp_path: Path) -> None:
    """Milvus Lite finds a file where its data should be; Kafka and Redis are called off."""
    (tmp_path / "milvus").touch()
    engine = LocalEngine(tmp_path)

    with pytest.raises(OSError, match="exists"):
        engine.start_parts()

    assert [name for name in ("kafka", "redis", "milvus") if engine.lives(name)] == []
    engine.stop()


def test_another_terminal_finds_the_settings(engine: LocalEngine) -> None:
    command = [sys.executable, "-m", "deploy.local", "env", "--folder", str(engine.folder)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert shown.splitlines()[0] == f"export TWINSLUICE_BROKERS={engine.settings()['TWINSLUICE_BROKERS']}"
