"""The lock between the readers and the writers of Milvus Lite."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from deploy.local.milvus_daemon import GuardedService
from deploy.local.read_write_lock import ReadWriteLock

SECONDS = 5.0


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def hold(lock: Callable[[], object], pool: ThreadPoolExecutor) -> tuple[Future[None], threading.Event, threading.Event]:
    """A thread that enters the lock and stays until told: its future, "is inside", "may leave"."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with lock():  # type: ignore[attr-defined]  # both ways in are context managers
            inside.set()
            assert leave.wait(SECONDS)

    return pool.submit(stay), inside, leave


def test_readers_are_in_together(pool: ThreadPoolExecutor) -> None:
    lock = ReadWriteLock()
    readers = [hold(lock.reading, pool) for _ in range(3)]

    assert all(inside.wait(SECONDS) for _, inside, _ in readers)

    for _, _, leave in readers:
        leave.set()


def test_a_writer_waits_for_the_reader_that_is_in(pool: ThreadPoolExecutor) -> None:
    lock = ReadWriteLock()
    _, reading, reader_leaves = hold(lock.reading, pool)
    assert reading.wait(SECONDS)
    _, writing, writer_leaves = hold(lock.writing, pool)
    too_early = writing.wait(0.1)
    reader_leaves.set()

    assert (too_early, writing.wait(SECONDS)) == (False, True)

    writer_leaves.set()


@pytest.mark.parametrize("second", ["reading", "writing"])
def test_nobody_joins_a_writer(pool: ThreadPoolExecutor, second: str) -> None:
    lock = ReadWriteLock()
    _, writing, writer_leaves = hold(lock.writing, pool)
    assert writing.wait(SECONDS)
    _, inside, leave = hold(getattr(lock, second), pool)
    too_early = inside.wait(0.1)
    writer_leaves.set()

    assert (too_early, inside.wait(SECONDS)) == (False, True)

    leave.set()


def test_a_reader_that_comes_after_a_waiting_writer_does_not_overtake_it(pool: ThreadPoolExecutor) -> None:
    """Else a stream of readers would keep every writer out."""
    lock = ReadWriteLock()
    _, reading, first_leaves = hold(lock.reading, pool)
    assert reading.wait(SECONDS)
    _, writing, writer_leaves = hold(lock.writing, pool)
    assert not writing.wait(0.1)
    _, late_reading, late_leaves = hold(lock.reading, pool)
    overtook = late_reading.wait(0.1)
    first_leaves.set()
    wrote = writing.wait(SECONDS)
    writer_leaves.set()

    assert (overtook, wrote, late_reading.wait(SECONDS)) == (False, True, True)

    late_leaves.set()


def test_the_lock_is_free_again_after_an_error() -> None:
    lock = ReadWriteLock()
    with pytest.raises(ValueError, match="inside"), lock.writing():
        raise ValueError("inside")

    with lock.reading():
        pass


class Recorder:
    """Stands in for Milvus's service: each call waits until it is told to return."""

    def __init__(self) -> None:
        self.entered = {name: threading.Event() for name in ("Search", "Query", "Flush", "GetVersion", "NewCall")}
        self.leave = threading.Event()

    def __getattr__(self, name: str) -> Callable[[object, object], str]:
        def call(request: object, context: object) -> str:
            self.entered[name].set()
            assert self.leave.wait(SECONDS)
            return f"{name} {request}"

        return call


@pytest.mark.parametrize(
    ("second", "joins"),
    [
        ("Query", True),  # readers go together
        ("GetVersion", True),  # touches no rows
        ("Flush", False),  # a writer
        ("NewCall", False),  # unknown, so taken for a writer
    ],
)
def test_a_call_to_milvus_joins_a_running_search_only_if_it_cannot_disturb_it(
    pool: ThreadPoolExecutor, second: str, joins: bool
) -> None:
    service = Recorder()
    guarded = GuardedService(service)
    search = pool.submit(guarded.Search, "a", None)
    assert service.entered["Search"].wait(SECONDS)
    other = pool.submit(getattr(guarded, second), "b", None)
    joined = service.entered[second].wait(SECONDS if joins else 0.1)
    service.leave.set()

    assert (joined, search.result(SECONDS), other.result(SECONDS)) == (joins, "Search a", f"{second} b")
