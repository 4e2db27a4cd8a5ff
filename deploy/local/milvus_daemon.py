"""Milvus Lite as a daemon that several processes share: `python -m deploy.local.milvus_daemon --data D --port P`.

It is Milvus Lite's own service behind a read/write lock. Without one, readers that meet a flush see deleted rows again
and miss living ones, because the table in memory is swapped before the frozen one is published.

Prints READY and the port when it has answered itself. SIGTERM and SIGINT write everything out and close. Ends in the
same way when the process that started it is gone. Serves loopback only; it has no authentication.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent import futures
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deploy.local.read_write_lock import ReadWriteLock

if TYPE_CHECKING:
    import grpc
    from milvus_lite.db import MilvusLite

HOST = "127.0.0.1"
WORKERS = 10
MAX_MESSAGE_BYTES = 256 * 1024**2  # what a Milvus server accepts
# Rows that are not yet flushed are searched one by one (40 to 60 µs each), so the table in memory is kept small.
MEMTABLE_VARIABLE, MEMTABLE_BYTES = "MILVUS_LITE_MEMTABLE_MEMORY_LIMIT_BYTES", str(4 * 1024**2)
GRACE_SECONDS = 3.0
OWNER_POLL_SECONDS = 0.5
# Calls that touch no rows need no lock; those named here only read; every other call is taken for a writer.
FREE = frozenset({"Connect", "GetVersion", "CheckHealth"})
READERS = ("Query", "Search", "HybridSearch", "Get", "Describe", "Show", "Has", "List")


class GuardedService:
    """A Milvus service whose readers and writers are kept apart by a lock."""

    def __init__(self, service: object) -> None:
        self._service = service
        self._lock = ReadWriteLock()

    def __getattr__(self, name: str) -> Callable[[Any, Any], Any]:
        """The service's method of that name, under the lock it needs."""
        method: Callable[[Any, Any], Any] = getattr(self._service, name)
        if name in FREE:
            return method
        entered = self._lock.reading if name.startswith(READERS) else self._lock.writing

        def guarded(request: Any, context: Any) -> Any:
            with entered():
                return method(request, context)

        return guarded


def open_database(data: Path) -> MilvusLite:
    """The database with every collection open; another process's hold on the folder is an error of Milvus Lite.

    They are opened here because two readers that come first at the same time would each open a collection, and one of
    the two would be forgotten with what it holds.
    """
    from milvus_lite.db import MilvusLite
    from milvus_lite.exceptions import MilvusLiteError

    database = MilvusLite(str(data))
    for name in database.list_databases():
        for collection in database.list_collections(database_name=name):
            try:
                database.get_collection(collection, database_name=name)
            except (MilvusLiteError, OSError, ValueError) as error:
                print(f"collection {collection} of {name} cannot be opened: {error}", flush=True)
    return database


def serve(database: MilvusLite, port: int) -> tuple[grpc.Server, int]:
    """Starts to answer on loopback; RuntimeError when the port is taken, also by a server of the same kind."""
    import grpc
    from milvus_lite.adapter.grpc.servicer import MilvusServicer
    from pymilvus.grpc_gen import milvus_pb2_grpc

    server = grpc.server(
        futures.ThreadPoolExecutor(WORKERS),
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.so_reuseport", 0),  # else two daemons share a port and each gets half of the calls
        ],
    )
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(GuardedService(MilvusServicer(database)), server)
    bound: int = server.add_insecure_port(f"{HOST}:{port}")
    server.start()
    return server, bound


def answers(port: int, seconds: float = 10.0) -> bool:
    """Whether a Milvus says its version on that port of loopback."""
    import grpc
    from pymilvus.grpc_gen import milvus_pb2, milvus_pb2_grpc

    with grpc.insecure_channel(f"{HOST}:{port}") as channel:
        stub = milvus_pb2_grpc.MilvusServiceStub(channel)
        try:
            return bool(stub.GetVersion(milvus_pb2.GetVersionRequest(), timeout=seconds).version)
        except grpc.RpcError:
            return False


class NoPandas(MetaPathFinder):
    """Arrow would import pandas at the first write and keep it waiting for a second; nobody here has data frames."""

    def find_spec(self, name: str, *_: object) -> None:
        """ModuleNotFoundError for pandas, as if it were not installed; None, "ask the others", for all else."""
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name, name=name)


def hide_pandas() -> None:
    """From here on this process is without pandas."""
    import connectors.milvus.client  # noqa: F401  # first: it loads Milvus's client without pandas

    sys.meta_path.insert(0, NoPandas())


def heed_signals() -> threading.Event:
    """From here on SIGTERM and SIGINT only set the returned event."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    return asked


def main(arguments: Sequence[str]) -> int:
    """Serves until asked to end; 0 after everything was written out."""
    parser = argparse.ArgumentParser(
        prog="python -m deploy.local.milvus_daemon", description="Milvus Lite as a daemon."
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the collections are kept")
    parser.add_argument("--port", type=int, default=0, help=f"port of {HOST}; 0 takes a free one")
    parser.add_argument("--owner", type=int, default=os.getppid(), metavar="PID", help="end when this parent is gone")
    options = parser.parse_args(arguments)
    os.environ.setdefault(MEMTABLE_VARIABLE, MEMTABLE_BYTES)  # read when Milvus Lite is imported, so not earlier
    asked = heed_signals()
    hide_pandas()
    database = open_database(options.data)
    try:
        server, port = serve(database, options.port)
        if not answers(port):
            print(f"no answer on port {port} of {HOST}", flush=True)
            return 1
        print("READY", port, flush=True)
        while os.getppid() == options.owner and not asked.wait(OWNER_POLL_SECONDS):
            pass
        server.stop(GRACE_SECONDS).wait()
    finally:
        database.close()
    print("CLOSED", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
