"""What the tests on the real parts share: a line to the bus, callers of the API, and looks behind every copy."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast
from urllib.parse import quote

import httpx
import jwt
import redis
from pymilvus import MilvusClient, MilvusException

from connectors.codec import to_json
from connectors.kafka.producer import Headers, KafkaBus, Outgoing
from connectors.kafka.reader import read_to_end
from connectors.kafka.registry import register
from connectors.kafka.routing import partition_of
from connectors.kafka.topics import TURNS
from connectors.milvus.config import MilvusConfig
from connectors.milvus.placement import choose
from connectors.milvus.schema import COLLECTION
from connectors.redis.config import RedisConfig
from connectors.redis.layout import Layout, progress_field
from connectors.signing import Signer
from deploy.local.engine import LocalEngine
from streams.commands.audit import _audit
from streams.settings import kafka_config, load
from tables.keys import Position, Scope, route
from tables.policy import Clock, Policy, Tenant

T = TypeVar("T")
Json = dict[str, Any]
Record: TypeAlias = Any  # a record as aiokafka gives it; its types are not read

PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 30.0
JSON = (("content-type", b"application/json"),)


def now_ms() -> int:
    return int(time.time() * 1000)


def fresh(name: str) -> str:
    """An id that no other test has."""
    return f"{name}-{uuid.uuid4().hex[:12]}"


def until(check: Callable[[], T], what: str, seconds: float = PATIENCE_SECONDS) -> T:
    """The first true answer of `check`; AssertionError naming `what` when there is none in time."""
    end = time.monotonic() + seconds
    while True:
        answer = check()
        if answer:
            return answer
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(PAUSE_SECONDS)


@contextmanager
def embedder(name: str) -> Iterator[None]:
    """What the workers and APIs that are started inside embed with: they inherit this process's environment."""
    before = os.environ.get("TWINSLUICE_EMBEDDER")
    os.environ["TWINSLUICE_EMBEDDER"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["TWINSLUICE_EMBEDDER"]
        else:
            os.environ["TWINSLUICE_EMBEDDER"] = before


class Wire:
    """The bus, for tests that are no coroutines: one producer, on an event loop in a thread of its own."""

    def __init__(self, engine: LocalEngine) -> None:
        self.settings = load(engine.settings())
        self.config = kafka_config(self.settings)
        self.signer = Signer({"k1": self.settings.signing_secret.encode()}, "k1")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)
        self._thread.start()
        self._bus = KafkaBus(self.config)
        self.run(self._bus.start())

    def close(self) -> None:
        self.run(self._bus.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 60.0) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def send(self, *records: Outgoing) -> list[Position]:
        """Send in order; returns when every record is acknowledged."""
        return self.run(self._bus.send_all(records))

    def turns(self, tenant: Tenant, *turns: Json) -> list[Position]:
        """Turns of one tenant, a record each, under the route's key."""
        return self.send(
            *(Outgoing(TURNS, route(Scope(tenant.id, t["user_id"]), tenant.shards), to_json(t)) for t in turns)
        )

    def signed(self, topic: str, tenant: Tenant, data: Json) -> Position:
        """A command or a delete as its rightful sender signs it."""
        key = route(Scope(tenant.id, data.get("user_id") or ""), tenant.shards)
        value = to_json(data)
        (position,) = self.send(Outgoing(topic, key, value, (*JSON, *self.signer.sign(key, value, tenant.id))))
        return position

    def read(self, topic: str) -> list[Record]:
        """Every record of the topic, up to the end that it has now."""

        async def collect() -> list[Record]:
            return [record async for record in read_to_end(self.config, topic)]

        return self.run(collect())

    def register(
        self, name: str = "t", *, tenant_id: str = "", clock: Clock = Clock.WALL, policy: Policy | None = None
    ) -> Tenant:
        one = tenant_id or fresh(name)
        tenant = Tenant(one, 1, clock, choose(one, 0), (policy or Policy(),))
        return self.run(register(self.config, self._bus, tenant))

    def partition(self, tenant: Tenant, user: str = "u") -> int:
        return partition_of(tenant, Scope(tenant.id, user), self.config.partitions)


class Caller:
    """One identity at the API."""

    def __init__(self, http: httpx.Client, token: str | None) -> None:
        self._http = http
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {**self.headers, **more.pop("headers", {})}
        return self._http.request(method, path, headers=headers, **more)

    def ok(self, method: str, path: str, **more: Any) -> Json:
        answer = self.request(method, path, **more)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return cast(Json, answer.json())

    def say(self, content: str, session: str = "s", **more: Any) -> str:
        """A turn of the user's own; returns the write's token."""
        turn = {"session_id": session, "role": "user", "content": content, **more}
        return str(self.ok("POST", "/v1/turns", json=turn)["token"])

    def recall(self, query: str, session: str = "s", **more: Any) -> Json:
        return self.ok("POST", "/v1/recall", json={"query": query, "session_id": session, **more})

    def memories(self, **query: Any) -> list[Json]:
        page = self.ok("GET", "/v1/memories", params={"limit": 300, **query})
        assert not page["stale"]
        return cast(list[Json], page["memories"])

    def questions(self, **query: Any) -> list[Json]:
        return cast(list[Json], self.ok("GET", "/v1/questions", params=query)["questions"])

    def erase(self, reach: str, *values: str, **more: Any) -> Json:
        selector = {"reach": reach, **({"values": list(values)} if values else {})}
        return self.ok("POST", "/v1/erasures", json={"selector": selector, **more})


class Site:
    """A running engine with its worker and API, as a test sees it."""

    def __init__(self, engine: LocalEngine, wire: Wire, address: str, worker: str = "worker-1") -> None:
        self.engine = engine
        self.wire = wire
        self.address = address
        self.worker = worker
        self.settings = wire.settings
        self.http = httpx.Client(base_url=address, timeout=15)
        self.layout = Layout(RedisConfig(self.settings.redis).prefix)

    def close(self) -> None:
        self.http.close()

    def token(self, tenant: str, sub: str, role: str = "user", *, seconds: int = 3600, secret: str = "") -> str:
        claims = {"tenant": tenant, "sub": sub, "role": role, "exp": int(time.time()) + seconds}
        return jwt.encode(claims, secret or self.settings.jwt_secret, algorithm="HS256")

    def client(self, tenant: Tenant | str, user: str = "u", role: str = "user") -> Caller:
        return Caller(self.http, self.token(tenant if isinstance(tenant, str) else tenant.id, user, role))

    def nobody(self, token: str | None = None) -> Caller:
        return Caller(self.http, token)

    def tenant(self, name: str = "t", **more: Any) -> Tenant:
        """A new tenant that the API knows."""
        tenant = self.wire.register(name, **more)
        caller = self.client(tenant)
        until(lambda: caller.request("GET", "/v1/memories").status_code != 403, "the API knows the tenant")
        return tenant

    def settled(self, *positions: Position, seconds: float = PATIENCE_SECONDS) -> None:
        """Returns when every effect of these records is done."""
        for position in positions:

            def done(place: Position = position) -> bool:
                return self.progress(place.topic, place.partition) >= place.offset

            until(done, f"{position} is done", seconds)

    def progress(self, topic: str, partition: int) -> int:
        with self.redis() as client:
            held = cast(bytes | None, client.hget(self.layout.progress, progress_field(topic, partition)))
        return -1 if held is None else int(held)

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.settings.redis)

    def equal(self, tenant: str = "", seconds: float = 10.0) -> None:
        """Ledger, index and Redis hold the same memories, each exactly once."""
        report = self.wire.run(_audit(self.settings, tenant, seconds))
        assert report.differences == ()

    def metrics(self) -> bytes:
        """Everything that the worker and the API measure, as they publish it."""
        port = self.engine.worker_settings(self.worker)["TWINSLUICE_WORKER_PORT"]
        worker = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=5)
        return worker.content + self.http.get("/metrics").content

    def logs(self) -> bytes:
        """Everything that the worker and the API have printed."""
        return self.engine.log(self.worker).read_bytes() + self.engine.log("api").read_bytes()

    def in_redis(self, words: str) -> list[str]:
        """Keys whose name or value holds these words, in any of the ways JSON writes them."""
        needles = spellings(words)
        with self.redis() as client:
            found = [(key, _everything(client, key)) for key in client.scan_iter(count=1000)]
        return [str(key) for key, held in found if any(n in key or n in held for n in needles)]

    def in_index(self, tenant: Tenant, words: str) -> int:
        """How many rows of the tenant's own partition hold these words."""
        rows = until(lambda: self._index_rows(tenant), "the index answers", 30)
        return sum(any(n in repr(row).encode() for n in spellings(words)) for row in rows)

    def _index_rows(self, tenant: Tenant) -> list[Json]:
        """All rows of the tenant's partition and one more; [] when the idle connection was closed under us."""
        config = MilvusConfig(self.settings.milvus)
        try:
            client = MilvusClient(config.uri, timeout=10)
        except MilvusException:
            return []
        try:
            found = client.query(
                COLLECTION,
                filter='memory_id != ""',
                output_fields=["*"],
                partition_names=[tenant.placement],
                consistency_level="Strong",
                limit=10_000,
            )
        finally:
            client.close()
        return [{}, *found]

    def letters(self, topic: str, since: Mapping[int, int] | None = None) -> list[Record]:
        """Dead letters of the topic, from these offsets on."""
        starts = since or {}
        return [r for r in self.wire.read(f"{topic}.dlq") if r.offset >= starts.get(r.partition, 0)]

    def run(self, *arguments: str, seconds: float = 60.0) -> subprocess.CompletedProcess[str]:
        """`python -m streams` with these arguments, on this engine."""
        return subprocess.run(
            [sys.executable, "-m", "streams", *arguments],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, **self.engine.settings()},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


@contextmanager
def own_site(folder: Path) -> Iterator[Site]:
    """A whole engine in `folder`, embedding by hashes; everything of it ends with the block."""
    with embedder("hash"), LocalEngine(folder) as engine:
        engine.start_parts()
        engine.provision()
        (worker,) = engine.start_worker()
        wire = Wire(engine)
        made = Site(engine, wire, engine.start_api(), worker)
        yield made
        made.close()
        wire.close()


def _everything(client: redis.Redis, key: bytes) -> bytes:
    """The whole value of a key, of whatever type."""
    kind = cast(bytes, client.type(key))
    if kind == b"hash":
        return repr(client.hgetall(key)).encode() + b"".join(
            part for pair in cast(dict[bytes, bytes], client.hgetall(key)).items() for part in pair
        )
    if kind == b"zset":
        return b"".join(cast(list[bytes], client.zrange(key, 0, -1)))
    if kind == b"string":
        return cast(bytes, client.get(key)) or b""
    assert kind == b"none", f"a key of a type that nobody expected: {kind!r}"
    return b""


def spellings(words: str) -> tuple[bytes, ...]:
    """The words as UTF-8, and as JSON with everything beyond ASCII escaped."""
    plain = words.encode("utf-8", "surrogatepass")
    return tuple({plain, words.encode("unicode_escape")})


def turn(tenant: Tenant | str, said: object, /, *, user: object = "u", session: object = "s", **more: Any) -> Json:
    """A turn as the platform sends it; a field given as `...` is left out."""
    fields = {
        "id": fresh("turn"),
        "tenant_id": tenant if isinstance(tenant, str) else tenant.id,
        "user_id": user,
        "session_id": session,
        "role": "user",
        "content": said,
        "at": now_ms(),
        **more,
    }
    return {name: value for name, value in fields.items() if value is not ...}


def headers_of(record: Record) -> dict[str, bytes]:
    return dict(record.headers)


def contents(answer: Json, *sections: str) -> list[str]:
    """What a recall offers: of these sections, or of all but the question."""
    held: Mapping[str, Sequence[Json]] = answer["sections"]
    names = sections or tuple(name for name in held if name != "question")
    return [str(item["content"]) for name in names for item in held[name]]


def segment(one: str) -> str:
    """An id as a path carries it; `.` and `..` alone would be a step in the path."""
    return one.replace(".", "%2E") if one in (".", "..") else quote(one, safe="")


def plain(headers: Headers) -> list[tuple[str, bytes]]:
    return list(headers)
