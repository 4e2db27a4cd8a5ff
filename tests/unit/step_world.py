"""A whole worker over fakes and real RocksDB: what lasts (`Machine`) and what dies with a process (`Process`)."""

from __future__ import annotations

import atexit
import inspect
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar, cast

from rocksdict import Options, Rdict

from connectors.codec import decode, decode_held, decode_row, to_json
from connectors.kafka.fake import FakeBus, Record
from connectors.kafka.producer import KafkaBus, Outgoing
from connectors.kafka.topics import CANDIDATES, COMMANDS, DELETE, EXPIRE, SNAPSHOTS, TABLES, TURNS, changelog
from connectors.ledger import Ledger, Store
from connectors.milvus.fake import FakeIndex
from connectors.milvus.placement import dedicated_name
from connectors.model.extractive import Extractive
from connectors.model.fake import FakeEmbedder
from connectors.redis.fake import FakeCopies, FakeReader, Shelf
from connectors.signing import Signer
from streams.admit import Admit
from streams.batch import Taken
from streams.collect import Collect
from streams.erase import Eraser
from streams.expire import Sweeper
from streams.extract import Extract
from streams.fence import Fencing
from streams.heal import Heal
from streams.persist import Persist
from streams.receipts import Receipts
from tables.candidate import SELF
from tables.keys import Scope, memory_id, route, row_key, turn_key
from tables.memory import Memory
from tables.policy import Clock, Policy, Tenant
from tables.session import Session
from tables.snapshot import Snapshot

T = TypeVar("T")

T0 = 1_772_355_600_000  # 2026-03-01T09:00:00Z
MINUTE = 60_000
HOUR = 60 * MINUTE
NOW = T0 + 24 * HOUR
SECRET = b"a-secret-of-at-least-32-bytes-for-tests"
OFFSET_KEY = b"__faust\x00offset__"
ME, YOU = Scope("acme", "u-1"), Scope("acme", "u-2")


def registered(name: str = "acme", *policies: Policy, clock: Clock = Clock.EVENT, shards: int = 1) -> Tenant:
    return Tenant(name, shards, clock, dedicated_name(name), policies or (Policy(),))


class FakeTenants:
    """The registry, as far as it was read."""

    def __init__(self, *tenants: Tenant) -> None:
        self.known = {tenant.id: tenant for tenant in tenants}

    def get(self, tenant: str) -> Tenant | None:
        return self.known.get(tenant)

    def all(self) -> tuple[Tenant, ...]:
        return tuple(self.known.values())

    def read_since(self, _: float) -> bool:
        return True


@dataclass
class TableStore:
    """What the ledger uses of Faust's store: one open database a partition."""

    _dbs: dict[int, Any]
    offset_key: bytes = OFFSET_KEY


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="ledger-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _database(table: str, partition: int) -> Any:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    return Rdict(f"{_folder()}/{table}-{partition}", options)


def emptied_stores(partitions: int) -> dict[str, TableStore]:
    """Every table, empty. Opening a database costs more than a test, so all tests of a process share them."""
    stores: dict[str, TableStore] = {}
    for table in TABLES:
        databases = {partition: _database(table, partition) for partition in range(partitions)}
        for database in databases.values():
            for key in list(database.keys()):
                del database[key]
        stores[table] = TableStore(databases)
    return stores


class Crash(Exception):
    """The process was killed."""


@dataclass
class Fuse:
    """Kills the process at await number `at` of all ports: before it, after it, or with half of a batch sent."""

    at: int = -1
    when: str = "before"
    passed: list[str] = field(default_factory=list)

    async def call(self, name: str, method: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
        mine = len(self.passed) == self.at
        self.passed.append(name)
        if mine and self.when == "before":
            raise Crash(name)
        if mine and self.when == "half":
            await method(list(args[0])[: len(args[0]) // 2], *args[1:], **more)
            raise Crash(name)
        result = await method(*args, **more)
        if mine:
            raise Crash(name)
        return result


class Wired:
    """A port with a fuse in every coroutine."""

    def __init__(self, target: object, fuse: Fuse) -> None:
        self._target = target
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        if not inspect.iscoroutinefunction(method):
            return method
        label = f"{type(self._target).__name__}.{name}"

        async def call(*args: Any, **more: Any) -> Any:
            return await self._fuse.call(label, method, args, more)

        return call


class Machine:
    """What outlives a process: the bus, the ledger's databases, Redis, the index, and how far each step has acked."""

    def __init__(self, *tenants: Tenant, partitions: int = 1) -> None:
        self.partitions = partitions
        self.tenants = FakeTenants(*(tenants or (registered(),)))
        self.bus = FakeBus(partitions)
        self.stores = emptied_stores(partitions)
        self.shelf = Shelf()
        self.copies = FakeCopies(self.shelf)
        self.reader = FakeReader(self.shelf)
        self.index = FakeIndex()
        self.embedder = FakeEmbedder()
        self.signer = Signer({"k1": SECRET})
        self.now = NOW
        self.acked: dict[tuple[str, int], int] = {}
        self.process = Process(self)

    @property
    def ledger(self) -> Ledger:
        return Ledger(cast("dict[str, Store]", self.stores), cast(KafkaBus, self.bus))

    def restart(self, fuse: Fuse | None = None) -> Process:
        """A new process: tables restored from their changelogs, nothing else remembered."""
        for (topic, partition), log in self.bus.logs.items():
            table = next((name for name in TABLES if changelog(name) == topic), None)
            if table is not None:
                self._restore(table, partition, log)
        self.process = Process(self, fuse)
        return self.process

    def _restore(self, table: str, partition: int, log: Sequence[Record]) -> None:
        database = self.stores[table]._dbs[partition]
        applied = database.get(OFFSET_KEY)
        for record in log[int(applied) + 1 if applied else 0 :]:
            if record.value is None:
                del database[record.key]
            else:
                database[record.key] = record.value
            database[OFFSET_KEY] = str(record.offset).encode()

    # what producers send

    def send(
        self, topic: str, value: object, scope: Scope, *, key: bytes | None = None, signed: bool | None = None
    ) -> Taken:
        """Put a record on the bus as a producer does; the record as collect will take it."""
        raw = value if isinstance(value, bytes) else to_json(value)
        tenant = self.tenants.get(scope.tenant)
        key = key if key is not None else route(scope, tenant.shards if tenant else 1)
        wants = topic in (COMMANDS, DELETE) if signed is None else signed
        headers = self.signer.sign(key, raw, scope.tenant) if wants else ()
        return taken(self.bus.append(Outgoing(topic, key, raw, headers)))

    def turn(self, content: str, turn_id: str, **fields: Any) -> Taken:
        value = turn_value(content, turn_id, **fields)
        return self.send(TURNS, value, Scope(value["tenant_id"], value["user_id"]))

    def command(self, kind: str, request_id: str, owner: Scope = ME, *, at: int = T0 + HOUR, **fields: Any) -> Taken:
        return self.send(COMMANDS, asked(owner, request_id, at) | {"kind": kind} | fields, owner)

    def delete(
        self,
        reach: str,
        *values: str,
        request_id: str = "e1",
        scope: Scope = ME,
        at: int = T0 + HOUR,
        before: int = 0,
    ) -> Taken:
        selector = (
            {"reach": reach} | ({"values": list(values)} if values else {}) | ({"before": before} if before else {})
        )
        return self.send(DELETE, asked(scope, request_id, at) | {"selector": selector}, scope)

    def due(self, one: str, due_at: int, scope: Scope = ME) -> Taken:
        value = {"tenant_id": scope.tenant, "user_id": scope.user, "id": one, "due_at": due_at, "kind": "memory"}
        return self.send(EXPIRE, value, scope)

    # the pipeline

    async def run(self, *records: Taken) -> None:
        """Collect `records` as one batch, then let everything behind it finish."""
        await self.process.collect(records)
        await self.drain()

    async def each(self, *records: Taken) -> None:
        """Every record a batch of its own."""
        for record in records:
            await self.run(record)

    async def drain(self, size: int = 500) -> None:
        """Extract and admit what lies before them, in batches of `size`, acking each."""
        await self.extract(size)
        await self.step(CANDIDATES, self.process.admit, size)

    async def extract(self, size: int = 500) -> None:
        await self.step(SNAPSHOTS, self.process.extract, size)

    async def step(self, topic: str, handle: Callable[[Sequence[Taken]], Any], size: int = 500) -> None:
        for partition in range(self.partitions):
            while batch := self.waiting(topic, partition)[:size]:
                await handle(batch)
                self.acked[topic, partition] = batch[-1].offset + 1

    def waiting(self, topic: str, partition: int = 0) -> list[Taken]:
        """The records that are not acked yet."""
        start = self.acked.get((topic, partition), 0)
        return [taken(record) for record in self.bus.records(topic, partition)[start:]]

    # what a test looks at

    def rows(self, table: str) -> dict[bytes, bytes]:
        return {key: raw for part in range(self.partitions) for key, raw in self.ledger.scan(table, part)}

    def memories(self, scope: Scope = ME) -> dict[str, Memory]:
        held = (decode_held(raw)[0] for raw in self.rows("memories").values())
        return {memory.id: memory for memory in held if memory.scope == scope}

    def contents(self, scope: Scope = ME) -> list[str]:
        """What is remembered and current, in the user's words."""
        return sorted(m.content for m in self.memories(scope).values() if m.recallable)

    def session(self, name: str = "s1", scope: Scope = ME) -> Session:
        raw = self.rows("sessions").get(row_key(*scope, name))
        return decode_row(Session, raw) if raw else Session()

    def window(self, name: str = "s1", scope: Scope = ME) -> list[str]:
        """The window in the ledger, once it is sure that its copy says the same."""
        session = self.session(name, scope)
        copy = self.shelf.sessions.get((scope, name), Session())
        assert copy.window == session.window
        assert copy.wishes == session.wishes
        return [turn.content for turn in session.window]

    def indexed(self, scope: Scope = ME) -> set[str]:
        tenant = self.tenants.known[scope.tenant]
        return {str(row["memory_id"]) for row in self.index._of(tenant, scope)}

    def snapshots(self, topic: str = SNAPSHOTS) -> list[Snapshot]:
        return [decode(Snapshot, record.value) for record in self.bus.records(topic)]

    def kinds(self, topic: str = SNAPSHOTS) -> list[str]:
        """The kinds of what was passed on, in order; progress marks left out."""
        return [s.kind.value for s in self.snapshots(topic) if s.kind.value != "progress"]

    def reasons(self, topic: str) -> list[tuple[str, str]]:
        """(reason, field) of every dead letter of `topic`."""
        return [(fact(r, "reason"), fact(r, "field")) for r in self.bus.records(f"{topic}.dlq")]


class Process:
    """The steps and their caches: gone with a crash. With a `fuse` every await of a port may be the last."""

    def __init__(self, machine: Machine, fuse: Fuse | None = None) -> None:
        def port(target: T) -> T:
            return cast(T, Wired(target, fuse)) if fuse is not None else target

        bus, copies, index = port(machine.bus), port(machine.copies), port(machine.index)
        stores = cast("dict[str, Store]", machine.stores)
        ledger = port(Ledger(stores, cast(KafkaBus, bus)))
        self.fencing = Fencing(ledger=ledger, copies=copies, now=lambda: machine.now)
        self.collect = Collect(
            ledger=ledger,
            bus=bus,
            copies=copies,
            tenants=machine.tenants,
            fencing=self.fencing,
            verify=machine.signer.verify,
            now=lambda: machine.now,
            partitions=machine.partitions,
        )
        self.extract = Extract(bus=bus, tenants=machine.tenants, extractor=Extractive(), embedder=machine.embedder)
        self.persist = Persist(ledger=ledger, index=index, copies=copies, bus=bus, embedder=machine.embedder)
        self.pauses: list[float] = []
        receipts = Receipts(ledger=ledger, bus=bus, copies=copies, read=machine.reader.receipt)
        eraser = Eraser(
            ledger=ledger,
            index=index,
            copies=copies,
            receipts=receipts,
            persist=self.persist,
            now=lambda: machine.now,
            pause=self._pause,
        )
        self.admit = Admit(
            ledger=ledger,
            tenants=machine.tenants,
            copies=copies,
            bus=bus,
            persist=self.persist,
            eraser=eraser,
            fencing=self.fencing,
        )
        self.heal = Heal(
            ledger=ledger,
            copies=copies,
            fencing=self.fencing,
            receipts=receipts,
            tenant=machine.tenants.get,
            now=lambda: machine.now,
        )
        self.sweeper = Sweeper(
            ledger=ledger,
            bus=bus,
            tenants=machine.tenants,
            now=lambda: machine.now,
            clock=self.collect.clock,
        )

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


def taken(record: Record) -> Taken:
    return Taken(record.topic, record.partition, record.offset, record.key, record.value, tuple(record.headers))


def turn_value(content: str, turn_id: str = "", scope: Scope = ME, **fields: Any) -> dict[str, Any]:
    """A user's turn in session s1 at T0, with `fields` of its own; one given as None is left out."""
    base: Mapping[str, Any] = {
        "id": turn_id,
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "session_id": "s1",
        "role": "user",
        "content": content,
        "at": T0,
    }
    return {name: value for name, value in {**base, **fields}.items() if value is not None}


def asked(scope: Scope, request_id: str, at: int) -> dict[str, Any]:
    user = {"user_id": scope.user} if scope.user else {}
    actor = {"sub": scope.user or "root", "role": "user" if scope.user else "admin"}
    return {"request_id": request_id, "tenant_id": scope.tenant, "actor": actor, "at": at, **user}


def made(turn_id: str, slot: str, value: str, scope: Scope = ME, *, session: str = "s1", polarity: str = "pos") -> str:
    """The id of the memory that a turn gives rise to."""
    return memory_id(turn_key(scope, session, turn_id), SELF, slot, value, polarity)


def again(record: Taken, **changes: Any) -> Taken:
    return replace(record, **changes)


def fact(record: Record, name: str) -> str:
    """One `dlq.*` header of a dead letter."""
    return dict(record.headers).get(f"dlq.{name}", b"").decode()


def ids_of(records: Iterable[Record]) -> list[str]:
    """The `ce_id` of every event, in order."""
    return [dict(record.headers)["ce_id"].decode() for record in records]
