"""Bench: turns a second of one real worker over records a second of an empty Faust agent, in one run on one broker.

Both read the same bytes under the same keys, on the same partitions, with the same consumer settings and uvloop; all
records lie in the topic before the process starts. Start-up does not count:

* The empty agent takes the time itself, from the first to the last record it is given. It runs before and after the
  worker, the mean counts: a machine that others use drifts.
* The worker is watched from outside. It publishes, per partition, the contiguous source offsets whose every effect is
  done (session row in the ledger, copies, snapshots through extract and admit); those are sampled every few
  milliseconds. The clock runs from the first sample that shows progress, whose records are not counted, to the sample
  that shows the last offset. Then the committed offsets must reach the end as well: that is the durable ack.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from aiokafka.structs import TopicPartition

from connectors.codec import to_json
from connectors.kafka.admin import connect
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.reader import opened
from connectors.kafka.registry import register
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import GROUP, SOURCES, TURNS
from connectors.milvus.placement import choose
from connectors.redis.reader import RedisReader
from streams.bench_process import BenchFailed, Child, agent, worker
from streams.settings import Settings, kafka_config
from tables.errors import Misconfigured, Unavailable
from tables.keys import Position, Scope, route
from tables.policy import Tenant

TENANT: Final = "twinsluice-bench"
SHARDS_A_PARTITION: Final = 16  # keys spread over the partitions, as the users of a big tenant do
SAMPLE_SECONDS: Final = 0.01
COMMIT_SECONDS: Final = 30.0
LEAVE_SECONDS: Final = 15.0  # a worker that stopped is a member of its group for its session timeout
SEND_CHUNK: Final = 2000

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


@dataclass(frozen=True, slots=True)
class Result:
    """`agent`: before and after. `worker`: effects done. `committed_seconds`: from first progress to the last commit,
    which Faust makes once a second."""

    turns: int
    sessions: int
    partitions: int
    agent: tuple[Rate, ...]
    worker: Rate
    committed_seconds: float

    @property
    def agent_rate(self) -> float:
        return sum(rate.per_second for rate in self.agent) / len(self.agent)

    @property
    def ratio(self) -> float:
        return self.worker.per_second / self.agent_rate


@dataclass(slots=True)
class Watch:
    """How far a worker came, from samples of what it published. `ends`: per partition the offset after the last."""

    begins: dict[int, int]
    ends: dict[int, int]
    first_at: float = 0.0
    first_done: int = 0
    last_at: float = 0.0
    done: int = 0
    samples: list[tuple[float, int]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.ends[p] - self.begins[p] for p in self.ends)

    def take(self, at: float, offsets: dict[int, int]) -> bool:
        """Take a sample of last done offsets; whether everything is done."""
        done = sum(min(max(offsets[p] + 1, self.begins[p]), self.ends[p]) - self.begins[p] for p in self.ends)
        if done > self.done:
            if not self.first_at:
                self.first_at, self.first_done = at, done
            self.done, self.last_at = done, at
            self.samples.append((at, done))
        return self.done >= self.total

    def rate(self) -> Rate:
        return Rate(self.total - self.first_done, self.last_at - self.first_at)


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
            committed = await self._worker(watch, seconds)
        async with self._topic() as topic:
            await self._send(topic, records)
            after = await self._agent(topic, turns, seconds)
        return Result(turns, sessions, len(watch.ends), (before, after), watch.rate(), committed)

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

    async def _worker(self, watch: Watch, seconds: float) -> float:
        """Run a worker until everything is done and committed; the seconds from first progress to the last commit."""
        self._say(f"a worker over {watch.total} turns")
        async with Child(worker()) as child, _admin(self._settings) as admin:
            await self._sampled(watch, child, seconds)
            end = time.monotonic() + COMMIT_SECONDS
            while not await _is_committed(admin, watch):
                if time.monotonic() > end:
                    raise BenchFailed("the worker did its work but did not commit it")
                await asyncio.sleep(SAMPLE_SECONDS)
            return time.perf_counter() - watch.first_at

    async def _sampled(self, watch: Watch, child: Child, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            offsets = {p: await self._reader.progress(TURNS, p) for p in watch.ends}
            if watch.take(time.perf_counter(), offsets):
                return
            child.check()
            if time.monotonic() > end:
                raise BenchFailed(f"the worker did {watch.done} of {watch.total} turns in {seconds:.0f} s")
            await asyncio.sleep(SAMPLE_SECONDS)


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
    while await _members(admin):
        if time.monotonic() > end:
            raise Misconfigured("a worker is running: stop it first, the bench starts its own")
        await asyncio.sleep(0.5)
    held = await admin.list_consumer_group_offsets(GROUP)
    waiting = 0
    for topic in SOURCES:
        async with opened(kafka_config(settings), topic) as (consumer, parts):
            ends, begins = await consumer.end_offsets(parts), await consumer.beginning_offsets(parts)
        waiting += sum(ends[part] - max(held[part].offset if part in held else 0, begins[part]) for part in parts)
    if waiting:
        raise Misconfigured(f"{waiting} records wait for a worker: let one finish them, then stop it")


async def _members(admin: AIOKafkaAdminClient) -> int:
    """How many workers there are. A group that never was has none."""
    count = 0
    for response in await admin.describe_consumer_groups([GROUP]):
        for group in response.groups:
            count += len(group[5])
    return count


async def _is_committed(admin: AIOKafkaAdminClient, watch: Watch) -> bool:
    parts = [TopicPartition(TURNS, partition) for partition in watch.ends]
    held = await admin.list_consumer_group_offsets(GROUP, partitions=parts)
    return all(part in held and held[part].offset >= watch.ends[part.partition] for part in parts)
