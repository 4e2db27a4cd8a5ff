"""Bench: turns a second of one real worker over records a second of an empty Faust agent, in one run on one broker.

Both read the same bytes under the same keys, on the same partitions, with the same consumer settings and uvloop; all
records lie in the topic before the process starts. Start-up does not count:

* The empty agent takes the time itself, from the first to the last record it is given. It runs before and after the
  worker, the mean counts: a machine that others use drifts.
* The worker is watched from outside, twenty times a second. The clock starts with the first sample of its metrics in
  which `collect` has finished records; those are not counted, and the metrics are not asked again. It stops when both
  are true: the last offset of every partition is committed (session rows in the ledger, copies in Redis, the durable
  ack, which Faust makes once a second), and the worker has published it as done (its progress mark went through
  extract and admit). Each of the two is reported, the later one counts.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import httpx
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from connectors.codec import to_json
from connectors.kafka.admin import connect
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.reader import opened
from connectors.kafka.registry import register
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import GROUP, SOURCES, TURNS
from connectors.milvus.placement import choose
from connectors.redis.reader import RedisReader
from streams.bench_process import BenchFailed, Child, agent, free_port, worker
from streams.groups import committed, members
from streams.settings import Settings, kafka_config
from tables.errors import Misconfigured, Unavailable
from tables.keys import Position, Scope, route
from tables.policy import Tenant

TENANT: Final = "twinsluice-bench"
SHARDS_A_PARTITION: Final = 16  # keys spread over the partitions, as the users of a big tenant do
SAMPLE_SECONDS: Final = 0.05
START_SAMPLE_SECONDS: Final = 0.01
LEAVE_SECONDS: Final = 15.0  # a worker that stopped is a member of its group for its session timeout
SEND_CHUNK: Final = 2000
FINISHED: Final = re.compile(r'^twinsluice_step_records_total\{kind="done",step="collect"\} (\S+)$', re.MULTILINE)

TALK: Final = (
    "谢谢", "好的", "哈哈哈", "嗯嗯", "你好", "太棒了", "收到", "没问题", "早上好", "辛苦了", "原来如此", "拜拜",
    "thanks!", "ok", "haha", "good morning", "sounds great", "got it, thanks", "lol", "that makes sense", "see you",
    "never mind", "you're welcome", "nice",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rate:
    """`records` within `seconds`."""

    records: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.records / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class Reached:
    """How far one way of counting came, and when it last moved (`time.perf_counter`)."""

    done: int = 0
    at: float = 0.0

    def take(self, at: float, done: int) -> None:
        if done > self.done:
            self.done, self.at = done, at


@dataclass(slots=True)
class Watch:
    """How far a worker came. `begins`, `ends`: per partition the first offset, and the one after the last."""

    begins: dict[int, int]
    ends: dict[int, int]
    started_at: float = 0.0
    started_with: int = 0
    committed: Reached = field(default_factory=Reached)
    published: Reached = field(default_factory=Reached)

    @property
    def total(self) -> int:
        return self.counted(self.ends)

    def counted(self, nexts: Mapping[int, int]) -> int:
        """How many of our records lie before these next offsets."""
        return sum(min(max(nexts.get(p, 0), self.begins[p]), self.ends[p]) - self.begins[p] for p in self.ends)

    @property
    def over(self) -> bool:
        return min(self.committed.done, self.published.done) >= self.total

    def rate(self, reached: Reached) -> Rate:
        return Rate(self.total - self.started_with, reached.at - self.started_at)


@dataclass(frozen=True, slots=True)
class Result:
    """`agent`: before and after the worker."""

    turns: int
    sessions: int
    partitions: int
    agent: tuple[Rate, ...]
    committed: Rate
    published: Rate

    @property
    def agent_rate(self) -> float:
        return sum(rate.per_second for rate in self.agent) / len(self.agent)

    @property
    def worker_rate(self) -> float:
        return min(self.committed.per_second, self.published.per_second)

    @property
    def ratio(self) -> float:
        return self.worker_rate / self.agent_rate


class Bench:
    """One run. Raises Misconfigured when the engine is not idle, BenchFailed, Unavailable."""

    def __init__(self, settings: Settings, bus: KafkaBus, reader: RedisReader, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._bus = bus
        self._reader = reader
        self._say = say
        self._run = secrets.token_hex(4)

    async def __call__(self, turns: int, sessions: int, seconds: float) -> Result:
        """`seconds`: how long one of the processes may take."""
        self._say("looking whether the engine is idle")
        tenant = await self._tenant()
        async with _admin(self._settings) as admin:
            await _until_idle(admin, self._settings)
        records = made(tenant, self._run, turns, sessions, self._settings.partitions)
        async with self._topic() as topic:
            await self._send(topic, records)
            before = await self._agent(topic, turns, seconds)
            watch = await self._fill(records)
            await self._worker(watch, seconds)
        async with self._topic() as topic:
            await self._send(topic, records)
            after = await self._agent(topic, turns, seconds)
        return Result(
            turns,
            sessions,
            len(watch.ends),
            (before, after),
            watch.rate(watch.committed),
            watch.rate(watch.published),
        )

    async def _tenant(self) -> Tenant:
        shards = self._settings.partitions * SHARDS_A_PARTITION
        return await register(
            kafka_config(self._settings), self._bus, Tenant(TENANT, shards, placement=choose(TENANT, 0))
        )

    @asynccontextmanager
    async def _topic(self) -> AsyncIterator[str]:
        """A topic that lives as long as the block."""
        name = f"twinsluice-bench-{secrets.token_hex(6)}"
        settings = self._settings
        async with _admin(settings) as admin:
            await admin.create_topics([NewTopic(name, settings.partitions, settings.replication)])
            try:
                yield name
            finally:
                await admin.delete_topics([name])

    async def _send(self, topic: str, records: Sequence[Outgoing]) -> list[Position]:
        landed: list[Position] = []
        for start in range(0, len(records), SEND_CHUNK):
            chunk = records[start : start + SEND_CHUNK]
            landed += await self._bus.send_all([Outgoing(topic, r.key, r.value, r.headers, r.partition) for r in chunk])
        return landed

    async def _fill(self, records: Sequence[Outgoing]) -> Watch:
        landed = await self._send(TURNS, records)
        begins: dict[int, int] = {}
        ends: dict[int, int] = {}
        for position in landed:
            begins.setdefault(position.partition, position.offset)
            ends[position.partition] = position.offset + 1
        if sum(ends[p] - begins[p] for p in ends) != len(records):
            raise Misconfigured(f"somebody else writes to {TURNS} now: the bench needs an engine of its own")
        return Watch(begins, ends)

    async def _agent(self, topic: str, records: int, seconds: float) -> Rate:
        self._say(f"an empty agent over {records} records")
        async with Child(agent(topic, records)) as child:
            answer = await child.answer(seconds)
        if answer["records"] != records:
            raise BenchFailed("the empty agent did not see every record")
        return Rate(records, float(answer["seconds"]))

    async def _worker(self, watch: Watch, seconds: float) -> None:
        """Run a worker until everything is committed and published as done."""
        self._say(f"a worker over {watch.total} turns")
        port = free_port()
        async with Child(worker(port)) as child, _admin(self._settings) as admin:
            try:
                async with asyncio.timeout(seconds):
                    watch.started_at, watch.started_with = await _started(child, port)
                    while not watch.over:
                        await self._sample(watch, admin)
                        child.check()
                        await asyncio.sleep(SAMPLE_SECONDS)
            except TimeoutError:
                done = f"{watch.committed.done} of {watch.total} turns committed, {watch.published.done} published"
                raise BenchFailed(f"after {seconds:.0f} s the worker has {done}\n{child.tail()}") from None

    async def _sample(self, watch: Watch, admin: AIOKafkaAdminClient) -> None:
        held = await committed(admin, GROUP)
        nexts = {part.partition: offset.offset for part, offset in held.items() if part.topic == TURNS}
        watch.committed.take(time.perf_counter(), watch.counted(nexts))
        nexts = {partition: await self._reader.progress(TURNS, partition) + 1 for partition in watch.ends}
        watch.published.take(time.perf_counter(), watch.counted(nexts))


async def _started(child: Child, port: int) -> tuple[float, int]:
    """When `collect` was first seen to have finished records, and how many."""
    async with httpx.AsyncClient() as client:
        while True:
            child.check()
            with suppress(httpx.HTTPError):
                answer = await client.get(f"http://127.0.0.1:{port}/metrics")
                found = FINISHED.search(answer.text)
                if found and float(found[1]):
                    return time.perf_counter(), int(float(found[1]))
            await asyncio.sleep(START_SAMPLE_SECONDS)


def made(tenant: Tenant, run: str, turns: int, sessions: int, partitions: int) -> list[Outgoing]:
    """Small talk of many sessions, interleaved; the same run gives the same records. Order within a session is time."""
    choice = random.Random(run)  # noqa: S311 - nothing secret
    at = int(time.time() * 1000) - turns
    records = []
    for number in range(turns):
        session = choice.randrange(sessions)
        scope = Scope(tenant.id, f"{run}-u{session // 2}")
        key = route(scope, tenant.shards)
        turn = {
            "id": f"{run}-{number}",
            "tenant_id": scope.tenant,
            "user_id": scope.user,
            "session_id": f"{run}-s{session}",
            "role": "user",
            "content": choice.choice(TALK),
            "at": at + number,
        }
        records.append(Outgoing(TURNS, key, to_json(turn), (), partition_of_key(key, partitions)))
    return records


@asynccontextmanager
async def _admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    client = await connect(kafka_config(settings))
    try:
        yield client
    except KafkaError as error:
        raise Unavailable("kafka") from error
    finally:
        await client.close()


async def _until_idle(admin: AIOKafkaAdminClient, settings: Settings) -> None:
    """Return when no worker runs and nothing waits. Raises Misconfigured: the bench wants an engine of its own."""
    end = time.monotonic() + LEAVE_SECONDS
    while await members(admin, GROUP):
        if time.monotonic() > end:
            raise Misconfigured("a worker is running: stop it first, the bench starts its own")
        await asyncio.sleep(0.5)
    held = await committed(admin, GROUP)
    waiting = 0
    for topic in SOURCES:
        async with opened(kafka_config(settings), topic) as (consumer, parts):
            ends, begins = await consumer.end_offsets(parts), await consumer.beginning_offsets(parts)
        waiting += sum(ends[part] - max(held[part].offset if part in held else 0, begins[part]) for part in parts)
    if waiting:
        raise Misconfigured(f"{waiting} records wait for a worker: let one finish them, then stop it")
