"""The wiring of a worker: the only place that builds real things, and the only one that knows Faust.

Faust gives partition assignment, fetching, commits and the restore of tables from their changelogs. Everything that
decides or writes is ours: three agents hand their records to `OrderedBatches`, whose steps write the ledger themselves.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import faust
import structlog
import uvloop

from connectors.kafka import lenient
from connectors.kafka.topics import CANDIDATES, GROUP, SNAPSHOTS, SOURCES, TABLES
from connectors.ledger import Ledger, Store
from connectors.metrics import STEP_FIRST, STEP_RECORDS, STEP_SECONDS, STEP_WAITING
from streams.batch import Handle, OrderedBatches, Taken
from streams.health import serve
from streams.parts import Parts, until_there
from streams.settings import Settings
from streams.worker import Steps
from tables.errors import Misconfigured

log = structlog.get_logger()

EXIT_CONFIG = 78  # EX_CONFIG: starting again changes nothing
EXIT_BUG = 70  # EX_SOFTWARE: the supervisor restarts the process, the log replays what was not acked
SESSION_TIMEOUT_SECONDS = 10.0  # a killed worker's partitions are served again after this
RESIDENT_BYTES = 8 * 1024 * 1024  # RocksDB's block cache per table and partition: its default is 2 GiB each

_RAW = {"key_type": bytes, "value_type": bytes, "key_serializer": "raw", "value_serializer": "raw"}


class EngineApp(faust.App):  # type: ignore[misc]  # Faust ships no types
    """A Faust application that is ready to work before it joins its group: no record is fetched for nobody."""

    before_start: Callable[[], Awaitable[None]]

    async def on_first_start(self) -> None:
        await super().on_first_start()
        await self.before_start()


def create_app(settings: Settings) -> EngineApp:
    """A Faust application with the delivery settings that the notes on Faust ask for; no agents yet."""
    lenient.install()
    return EngineApp(
        GROUP,
        broker=[f"kafka://{broker}" for broker in settings.brokers.split(",")],
        store="rocksdb://",
        datadir=str(settings.data),
        processing_guarantee="at_least_once",
        broker_session_timeout=SESSION_TIMEOUT_SECONDS,
        broker_heartbeat_interval=2.0,
        broker_rebalance_timeout=30.0,
        broker_request_timeout=90.0,
        broker_commit_interval=1.0,
        broker_max_poll_records=1000,
        consumer_auto_offset_reset="earliest",
        consumer_group_instance_id=settings.worker_id,
        topic_allow_declare=False,
        topic_partitions=settings.partitions,
        topic_replication_factor=settings.replication,
        topic_disable_leader=True,
        table_standby_replicas=0,
        stream_wait_empty=False,
        stream_buffer_maxsize=4096,
        web_enabled=False,
    )


class Worker:
    """One worker process: an app, its tables, three agents and what runs beside them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app = create_app(settings)
        self.tables = {name: self._table(name) for name in TABLES}
        self.batches: list[OrderedBatches] = []
        self.parts: Parts | None = None
        self.steps: Steps | None = None
        self._agents()
        self.app.before_start = self._start
        self.app.task(self._beside)
        self.app.on_partitions_assigned.connect(self._forget)
        self.app.on_partitions_revoked.connect(self._forget)

    def _table(self, name: str) -> faust.Table:
        options = {"block_cache_size": RESIDENT_BYTES, "write_buffer_size": RESIDENT_BYTES, "bloom_filter_size": 10}
        return self.app.Table(
            name,
            partitions=self.settings.partitions,
            key_type=bytes,  # which makes the changelog raw: anything else would be decoded as JSON in the restore
            value_type=bytes,
            options=options,
        )

    def _agents(self) -> None:
        for name, topics in (("collect", SOURCES), ("extract", (SNAPSHOTS,)), ("admit", (CANDIDATES,))):
            batches = OrderedBatches(
                self._step(name),
                ack=self._ack,
                alive=self._alive,
                crash=self._crash,
                waiting=_waiting(name),
                size=self.settings.batch_size,
            )
            self.batches.append(batches)
            self.app.agent(self.app.topic(*topics, **_RAW), name=name, concurrency=1)(_intake(batches, name))
            self.app.task(_named(batches.run, name))

    def _step(self, name: str) -> Handle:
        async def handle(batch: Any) -> None:
            begun = time.perf_counter()
            await self._ready_steps().of(name)(batch)
            STEP_SECONDS.labels(name).observe(time.perf_counter() - begun)
            STEP_RECORDS.labels(name, "done").inc(len(batch))

        return handle

    def _ack(self, record: Taken) -> None:
        event: Any = record.handle
        event.ack()

    def _alive(self, record: Taken) -> bool:
        return bool(record.generation == self.app.consumer_generation_id)

    async def _crash(self, error: BaseException) -> None:
        end_process(error)

    async def _start(self) -> None:
        """Everything that the steps stand on, before the first record: engines that are away are waited for."""
        try:
            await serve(self.settings.worker_port, unready=self._unready, stuck=self._stuck)
            self.parts = parts = Parts.make(self.settings)
            model = asyncio.create_task(parts.embedder.passages(["hello"]), name="model")  # not in the first turn
            await until_there(parts.connect)
            await until_there(parts.index.ensure)
            await model
            ledger = Ledger({name: _store(table) for name, table in self.tables.items()}, parts.bus)
            self.steps = Steps(self.settings, parts, ledger)
        except Exception as error:
            end_process(error)

    async def _beside(self) -> None:
        try:
            await self._ready_steps().beside(self.assigned_partitions)
        except Exception as error:
            end_process(error)

    def _ready_steps(self) -> Steps:
        if self.steps is None:
            raise RuntimeError("the application starts its tasks after `before_start`")
        return self.steps

    async def _unready(self) -> list[str]:
        return await self.steps.unready(self.assigned_partitions()) if self.steps else ["starting"]

    def _stuck(self) -> str:
        return self.steps.stuck(sum(batches.pending for batches in self.batches)) if self.steps else ""

    def assigned_partitions(self) -> frozenset[int]:
        """Partitions whose tables are restored and whose records this worker now works on."""
        if self.app.rebalancing or self.app.in_recovery or not self.app.flow_control.is_active():
            return frozenset()
        return frozenset(tp.partition for tp in self.app.assignor.assigned_actives() if tp.topic == SOURCES[0])

    async def _forget(self, *_: object, **__: object) -> None:
        if self.steps is not None:
            self.steps.forget()


def _store(table: faust.Table) -> Store:
    store: Store = table.data
    return store


def _intake(batches: OrderedBatches, step: str) -> Callable[[Any], Awaitable[None]]:
    async def take(stream: Any) -> None:
        first = True
        async for event in stream.noack().events():
            if first:
                STEP_FIRST.labels(step).set_to_current_time()
                first = False
            message = event.message
            await batches.put(
                Taken(
                    topic=message.topic,
                    partition=message.partition,
                    offset=message.offset,
                    key=message.key,
                    value=message.value,
                    pairs=_pairs(message.headers),
                    timestamp=int((message.timestamp or 0) * 1000),
                    generation=message.generation_id,
                    handle=event,
                )
            )

    return take


def _pairs(headers: Any) -> tuple[tuple[str, bytes], ...]:
    return tuple(headers.items() if isinstance(headers, dict) else headers or ())


def _waiting(step: str) -> Callable[[str | None], None]:
    held: set[str] = set()

    def waiting(engine: str | None) -> None:
        if engine is None:
            while held:
                STEP_WAITING.labels(step, held.pop()).set(0)
        elif engine not in held:
            held.add(engine)
            STEP_WAITING.labels(step, engine).set(1)
            log.warning("waiting", step=step, engine=engine)

    return waiting


def _named(run: Callable[[], Awaitable[None]], name: str) -> Callable[[], Awaitable[None]]:
    async def task() -> None:
        await run()

    task.__name__ = f"batches_{name}"
    task.__qualname__ = task.__name__
    return task


def run(settings: Settings) -> NoReturn:
    """Run a worker in this process until SIGTERM or SIGINT; the caller has set up logging."""
    uvloop.install()
    worker = Worker(settings)
    faust.Worker(
        worker.app, loglevel="warning", logfile=None, quiet=True, override_logging=False, redirect_stdouts=False
    ).execute_from_commandline()
    raise SystemExit(0)


def end_process(error: BaseException) -> NoReturn:
    """A bug, or settings that cannot work: say what kind, never what was said, and stop at once without acking."""
    if isinstance(error, Misconfigured):
        log.error("misconfigured", problem=str(error))
        os._exit(EXIT_CONFIG)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    log.error("stopping", error=type(error).__name__, at=" ".join(frames[-6:]))
    os._exit(EXIT_BUG)
