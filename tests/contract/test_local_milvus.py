"""The Milvus Lite daemon: its reads beside flushes, its end, its refusals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from pymilvus import DataType, MilvusClient

from deploy.local.ports import HOST, free_port
from deploy.local.run import ROOT

pytestmark = pytest.mark.real

SECONDS = 6.0
ROWS = 200  # of each round
DIMENSION = 8


@dataclass
class Daemon:
    """A daemon as the engine starts it."""

    data: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def first_words(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> int:
        """Asks it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def begin(data: Path, port: int | None = None) -> Daemon:
    number = port or free_port("Milvus Lite").give()
    command = [sys.executable, "-m", "deploy.local.milvus_daemon", "--data", str(data), "--port", str(number)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return Daemon(data, number, process)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = begin(tmp_path / "data")
    assert daemon.first_words() == f"READY {daemon.port}\n".encode()
    yield daemon
    daemon.end()


def collection(client: MilvusClient) -> None:
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("kind", DataType.VARCHAR, max_length=8)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSION)
    client.create_collection("rows", schema=schema)


def row(number: int) -> dict[str, object]:
    return {"id": number, "kind": "a", "vector": [float(number % 7), 1.0] + [0.0] * (DIMENSION - 2)}


@dataclass
class Truth:
    """Which rows are there and which are gone, as far as the writer has been told; safe for threads."""

    living: frozenset[int] = frozenset()
    deleted: frozenset[int] = frozenset()
    guard: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> tuple[frozenset[int], frozenset[int]]:
        with self.guard:
            return self.living, self.deleted

    def add(self, rows: set[int]) -> None:
        with self.guard:
            self.living |= rows

    def doubt(self, rows: set[int]) -> None:
        """These are being deleted: they may be seen or not."""
        with self.guard:
            self.living -= rows

    def forget(self, rows: set[int]) -> None:
        with self.guard:
            self.deleted |= rows


@dataclass
class Watch:
    """What a reader saw that was not so."""

    reads: int = 0
    deleted_seen: int = 0
    living_missed: int = 0


def look(client: MilvusClient, way: str, asked: list[int]) -> set[int]:
    """The ids that one way of reading finds."""
    if way == "get":
        return {hit["id"] for hit in client.get("rows", ids=asked, output_fields=["id"])}
    if way == "query":
        return {hit["id"] for hit in client.query("rows", filter='kind == "a"', output_fields=["id"])}
    hits = client.search("rows", data=[row(1)["vector"]], limit=10_000, output_fields=["id"])[0]
    return {hit["entity"]["id"] for hit in hits}


def read(daemon: Daemon, way: str, truth: Truth, watch: Watch, ended: threading.Event) -> None:
    """Reads until told to end, and compares with what was true before and after each read."""
    client = MilvusClient(daemon.address, timeout=10)
    while not ended.is_set():
        living, deleted = truth.now()
        if not living:
            continue
        found = look(client, way, sorted(living | deleted))
        still_living, _ = truth.now()
        watch.reads += 1
        watch.deleted_seen += len(found & deleted)
        watch.living_missed += len((living & still_living) - found)
    client.close()


def write(daemon: Daemon, truth: Truth, seconds: float) -> None:
    """Each round adds rows, deletes those of the round before, which are in files by now, and flushes.

    Without the lock a reader in the flush misses the added rows and sees the deleted ones.
    """
    client = MilvusClient(daemon.address, timeout=10)
    deadline, start = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        added, old = set(range(start, start + ROWS)), set(range(start - ROWS, start))
        client.upsert("rows", [row(number) for number in sorted(added)])
        truth.add(added)
        truth.doubt(old)
        client.delete("rows", filter=f"id < {start}")
        truth.forget(old)
        client.flush("rows")
        start += ROWS
    client.close()


def test_readers_beside_flushes_see_every_living_row_and_no_deleted_one(daemon: Daemon) -> None:
    client = MilvusClient(daemon.address, timeout=10)
    collection(client)
    client.close()
    truth, ended = Truth(), threading.Event()
    watches = {way: Watch() for way in ("get", "query", "search")}
    readers = [threading.Thread(target=read, args=(daemon, way, truth, seen, ended)) for way, seen in watches.items()]
    for reader in readers:
        reader.start()
    write(daemon, truth, SECONDS)
    ended.set()
    for reader in readers:
        reader.join()

    assert {way: (seen.deleted_seen, seen.living_missed) for way, seen in watches.items()} == dict.fromkeys(
        watches, (0, 0)
    )
    assert min(seen.reads for seen in watches.values()) > 5


def test_being_asked_to_end_it_writes_everything_out(tmp_path: Path) -> None:
    first = begin(tmp_path / "data")
    assert first.first_words().startswith(b"READY")
    client = MilvusClient(first.address, timeout=10)
    collection(client)
    client.upsert("rows", [row(1)])
    client.close()

    code = first.end()

    assert code == 0
    assert list((tmp_path / "data").glob("**/wal/*")) == []
    assert list((tmp_path / "data").glob("**/data/*.parquet")) != []


def test_a_second_daemon_on_the_same_data_ends_with_an_error(daemon: Daemon) -> None:
    second = begin(daemon.data)

    assert second.process.wait(30) == 1
    second.end()


def test_a_second_daemon_on_the_same_port_ends_with_an_error(daemon: Daemon, tmp_path: Path) -> None:
    """Else the two would share the port, and each would get half of the calls."""
    second = begin(tmp_path / "other", daemon.port)

    assert second.process.wait(30) == 1
    second.end()


def test_it_ends_when_its_parent_is_gone(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        ["/bin/sh", "-c", f"{sys.executable} -m deploy.local.milvus_daemon --data {tmp_path}/data & echo $!; wait"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env=os.environ,
    )
    assert parent.stdout is not None
    daemon = psutil.Process(int(parent.stdout.readline()))
    assert parent.stdout.readline().startswith(b"READY")
    parent.kill()
    parent.wait()

    assert parent.stdout.readline() == b"CLOSED\n"
    parent.stdout.close()
    psutil.wait_procs([daemon], timeout=5)
