"""The whole engine on one machine: Kafka, Redis, Milvus Lite, workers and the API, on free loopback ports.

    with LocalEngine(Path(".local/dev")) as engine:
        engine.start()
        ...  # engine.settings() is the environment that reaches it

`start` is `start_parts`, `provision`, `start_worker` and `start_api`, at the same time as far as they can be.

The data stay in the folder and are found again by the next engine of the same folder; ports are new in each run.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from deploy.local.application import ApplicationServer, ProvisionedKafka
from deploy.local.errors import Interrupted, PartFailed
from deploy.local.kafka import KafkaServer
from deploy.local.milvus import MilvusServer
from deploy.local.ports import HOST, Port, free_port
from deploy.local.process import Part
from deploy.local.redis_server import RedisServer
from deploy.local.run import Run, python, write_private
from deploy.local.topics import provision

SECRET_BYTES = 32


class Server(Protocol):
    """Something the engine can start, and start again after its end."""

    name: str

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns the process when it is ready; LocalError otherwise, and then it is gone."""


class LocalEngine:
    """The parts of one folder. Everything it started ends with it, in whatever way it ends.

    A failed `start_parts` stops everything; after any other failure the rest goes on, and leaving the `with` block, or
    `stop`, ends it. `on_progress` is told, one line at a time and never concurrently, what is being done.
    """

    def __init__(
        self,
        folder: Path,
        *,
        partitions: int = 4,
        fresh: bool = False,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Takes the folder and the ports; starts nothing yet. `fresh` forgets the data of earlier engines there.

        FolderInUse when another engine lives in the folder, NoSpace when its disk is too full. What a killed engine
        left running in the folder is ended first.
        """
        self.folder = folder.absolute()
        self._on_progress = on_progress
        self._say_guard = threading.Lock()
        self._run = Run(self.folder, fresh=fresh)
        self._ports: list[Port] = []
        self._servers: dict[str, Server] = {}
        self._parts: dict[str, Part] = {}
        self._workers = 0
        try:
            if self._run.ended_leftovers:
                self._say(f"ended {self._run.ended_leftovers} processes of an earlier run")
            self._settings = self._make_settings(partitions)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """The base address of the API."""
        return f"http://{HOST}:{self._settings['TWINSLUICE_API_PORT']}"

    def settings(self) -> dict[str, str]:
        """The environment variables that reach this engine."""
        return dict(self._settings)

    def start(self) -> str:
        """Starts everything there is, one worker and the API included; returns the API's base address.

        Worker and API load while the parts start, and begin when those are ready and the topics made. When one fails
        everything is stopped, and the failure is raised.
        """
        kafka, api, worker = self._servers["kafka"], self._servers["api"], self._worker()
        assert isinstance(kafka, KafkaServer)
        assert isinstance(api, ApplicationServer)
        parts = [ProvisionedKafka(kafka, self._settings), self._servers["redis"], self._servers["milvus"]]
        try:
            self._start(parts, [worker, api])
        except BaseException:
            self.stop()
            raise
        return self.address

    def start_parts(self) -> None:
        """Starts Kafka, Redis and Milvus Lite at the same time; returns when all of them answer.

        When one fails everything is stopped, and the failure is raised.
        """
        try:
            self._start([self._servers[name] for name in ("kafka", "redis", "milvus")])
        except BaseException:
            self.stop()
            raise

    def provision(self) -> None:
        """Creates or verifies the topics."""
        self._say("topics: provisioning")
        provision(self._settings, self._run.cancelled)

    def start_worker(self, n: int = 1) -> list[str]:
        """Starts `n` more workers, each with its own id, port and data; returns their names when they are ready."""
        workers = [self._worker() for _ in range(n)]
        self._start(workers)
        return [worker.name for worker in workers]

    def start_api(self) -> str:
        """Starts the API; returns its base address when it is ready."""
        self._start([self._servers["api"]])
        return self.address

    def worker_settings(self, name: str) -> dict[str, str]:
        """The environment of one worker."""
        server = self._servers[name]
        assert isinstance(server, ApplicationServer)
        return dict(server.environment)

    def pid(self, name: str) -> int:
        """The process number of a started part."""
        return self._parts[name].pid

    def lives(self, name: str) -> bool:
        """Whether a part was started and has not ended."""
        return name in self._parts and self._parts[name].lives

    def log(self, name: str) -> Path:
        """Where a started part writes what it prints."""
        return self._parts[name].log

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Sends a signal to a part; after SIGKILL returns when it is gone."""
        self._parts[name].send(number)

    def restart(self, name: str) -> None:
        """Stops a part, if it lives, and starts it on its port and data again; returns when it is ready."""
        self._parts[name].stop()
        self._start([self._servers[name]])

    def check(self) -> None:
        """PartFailed for a part that has ended although nobody stopped it."""
        for part in self._parts.values():
            if not part.lives:
                raise PartFailed(part.name, "has ended by itself.", part.log)

    def stop(self) -> None:
        """Stops everything, worker and API first, and gives folder and ports back. May be called again.

        Takes no notice of Ctrl-C: it is bounded, and what is half stopped would have to be stopped all the same.
        """
        with _deaf_to_interrupts():
            self._run.end()
            for port in self._ports:
                port.drop()

    def _start(self, servers: Sequence[Server], then: Sequence[ApplicationServer] = ()) -> None:
        """Starts servers at the same time. When one fails, the others are called off before its failure is raised.

        Those in `then` load meanwhile, and begin when all of `servers` are ready.
        """
        begin = self.folder / "begin"
        begin.unlink(missing_ok=True)
        with ThreadPoolExecutor(len(servers) + len(then)) as pool:
            first = [pool.submit(self._start_one, server) for server in servers]
            started = first + [pool.submit(self._start_one, server.after(begin)) for server in then]
            for future in first:
                future.add_done_callback(lambda _: begin.touch() if all(map(_is_well, first)) else None)
            try:
                wait(started, return_when=FIRST_EXCEPTION)
            finally:
                if not all(map(_is_well, started)):
                    self._run.cancelled.set()
        self._run.cancelled.clear()
        _raise_first(started)

    def _start_one(self, server: Server) -> None:
        self._parts[server.name] = server.start(self._run, lambda line: self._say(f"{server.name}: {line}"))
        self._say(f"{server.name}: ready")

    def _say(self, line: str) -> None:
        with self._say_guard:
            self._on_progress(line)

    def _worker(self) -> ApplicationServer:
        self._workers += 1
        name = f"worker-{self._workers}"
        port = self._worker_port if self._workers == 1 else self._port(f"metrics of {name}")
        data = Path(self._settings["TWINSLUICE_DATA"]) / name
        data.mkdir(parents=True, exist_ok=True)
        own = {
            "TWINSLUICE_WORKER_ID": name,
            "TWINSLUICE_WORKER_PORT": str(port.number),
            "TWINSLUICE_DATA": str(data),
        }
        worker = self._servers[name] = ApplicationServer(
            name, python("streams", "worker"), {**self._settings, **own}, port
        )
        return worker

    def _make_settings(self, partitions: int) -> dict[str, str]:
        kafka, control = self._port("Kafka"), self._port("Kafka's controller")
        redis, milvus = self._port("Redis"), self._port("Milvus Lite")
        api, self._worker_port = self._port("the API"), self._port("metrics of worker-1")
        settings = {
            "TWINSLUICE_BROKERS": f"{HOST}:{kafka.number}",
            "TWINSLUICE_REDIS": f"redis://{HOST}:{redis.number}/0",
            "TWINSLUICE_MILVUS": f"http://{HOST}:{milvus.number}",
            "TWINSLUICE_PARTITIONS": str(partitions),
            "TWINSLUICE_DATA": str(self.folder / "workers"),
            "TWINSLUICE_API_PORT": str(api.number),
            "TWINSLUICE_WORKER_PORT": str(self._worker_port.number),
            **_secrets(self.folder),
        }
        for server in (
            KafkaServer(self.folder / "kafka", kafka, control, partitions),
            RedisServer(self.folder / "redis", redis),
            MilvusServer(self.folder / "milvus", milvus),
            ApplicationServer("api", python("streams", "api"), settings, api),
        ):
            self._servers[server.name] = server
        self._run.settle(settings)
        return settings

    def _port(self, purpose: str) -> Port:
        port = free_port(purpose)
        self._ports.append(port)
        return port


def _secrets(folder: Path) -> dict[str, str]:
    """The secrets of this folder's data, made once: what was signed in one run is verified in the next."""
    path = folder / "secrets.json"
    with contextlib.suppress(OSError, ValueError):
        return {str(name): str(value) for name, value in json.loads(path.read_text()).items()}
    made = {name: secrets.token_hex(SECRET_BYTES) for name in ("TWINSLUICE_JWT_SECRET", "TWINSLUICE_SIGNING_SECRET")}
    write_private(path, json.dumps(made))
    return made


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # interrupts reach the main thread only
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_well(future: Future[None]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _raise_first(started: Sequence[Future[None]]) -> None:
    """Raises the failure that came first: the others were only called off because of it."""
    errors = [error for future in started if (error := future.exception()) is not None]
    causes = [error for error in errors if not isinstance(error, Interrupted)]
    for error in causes or errors:
        raise error
