"""Ordered micro-batches: effects before acks, acks in order, nothing skipped."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from streams.batch import OrderedBatches, Taken
from tables.errors import Unavailable


def record(offset: int, partition: int = 0, generation: int = 1) -> Taken:
    return Taken("topic", partition, offset, b"key", b"value", generation=generation)


class Bench:
    """One step with everything it did written down."""

    def __init__(self, *, size: int = 3, capacity: int = 100, failures: int = 0, bug: bool = False) -> None:
        self.seen: list[list[int]] = []
        self.acked: list[int] = []
        self.crashed: list[BaseException] = []
        self.waited: list[str | None] = []
        self.generation = 1
        self.failures = failures
        self.bug = bug
        self.batches = OrderedBatches(
            self.handle,
            ack=lambda taken: self.acked.append(taken.offset),
            alive=lambda taken: taken.generation == self.generation,
            crash=self.crash,
            waiting=self.waited.append,
            size=size,
            capacity=capacity,
            pause=self.pause,
        )

    async def handle(self, batch: Sequence[Taken]) -> None:
        self.seen.append([taken.offset for taken in batch])
        if self.bug:
            raise ZeroDivisionError
        if self.failures:
            self.failures -= 1
            raise Unavailable("redis")

    async def crash(self, error: BaseException) -> None:
        self.crashed.append(error)

    async def pause(self, _: float) -> None:
        await asyncio.sleep(0)

    async def finish(self) -> None:
        task = asyncio.create_task(self.batches.run())
        for _ in range(50):
            await asyncio.sleep(0)
        task.cancel()


async def test_records_are_acked_in_order_after_their_batch() -> None:
    bench = Bench(size=3)
    for offset in range(7):
        await bench.batches.put(record(offset))
    await bench.finish()
    assert bench.seen == [[0, 1, 2], [3, 4, 5], [6]]
    assert bench.acked == list(range(7))


async def test_nothing_is_acked_while_an_engine_is_away_and_the_same_batch_is_repeated() -> None:
    bench = Bench(failures=2)
    await bench.batches.put(record(0))
    await bench.finish()
    assert bench.seen == [[0], [0], [0]]
    assert bench.acked == [0]
    assert bench.waited == ["redis", "redis", None]


async def test_a_bug_acks_nothing_and_ends_the_intake() -> None:
    bench = Bench(bug=True)
    await bench.batches.put(record(0))
    await bench.batches.put(record(1))
    await bench.finish()
    assert bench.acked == []
    assert [type(error) for error in bench.crashed] == [ZeroDivisionError]
    assert len(bench.seen) == 1


async def test_records_of_a_lost_generation_are_neither_worked_on_nor_acked() -> None:
    bench = Bench()
    await bench.batches.put(record(0, generation=0))
    await bench.batches.put(record(1))
    await bench.finish()
    assert bench.seen == [[1]]
    assert bench.acked == [1]


async def test_a_generation_lost_during_the_effects_is_not_acked() -> None:
    bench = Bench()

    async def lose(_: Sequence[Taken]) -> None:
        bench.generation = 2

    bench.batches._handle = lose
    await bench.batches.put(record(0))
    await bench.finish()
    assert bench.acked == []


async def test_a_full_buffer_holds_the_producer_back_and_lets_it_go_on() -> None:
    bench = Bench(size=2, capacity=2)
    putting = asyncio.create_task(_put(bench, 6))
    await asyncio.sleep(0)
    assert bench.batches.pending == 2
    await bench.finish()
    await putting
    await bench.finish()
    assert bench.acked == list(range(6))


async def _put(bench: Bench, count: int) -> None:
    for offset in range(count):
        await bench.batches.put(record(offset))
