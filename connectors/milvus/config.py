"""Settings of the vector index. Every timeout and limit says what goes wrong without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tables.errors import Misconfigured

DIMENSIONS: Final = 384
BODY_BYTES_MAX: Final = 65_535  # the greatest VARCHAR; a server counts bytes, Milvus Lite characters

SCHEMES = ("http://", "https://", "tcp://", "unix:")
NEIGHBOURS: Final = 100  # of a probe: a row that stayed is its own nearest; the rest allows for equal vectors


@dataclass(frozen=True, slots=True)
class MilvusConfig:
    """Where the index is and how long a call may take.

    uri                     a server or the local daemon; never a file: a file would start an engine inside this process
    timeout_seconds         deadline of every call; without one the client repeats a failing call 75 times (minutes)
    connect_timeout_seconds a black-holed address otherwise holds the first call for ten seconds
    health_timeout_seconds  a probe that waits longer tells nothing in time
    threads                 calls at once; the client is synchronous
    rows_per_upsert         one gRPC message stays far below the server's 64 MB with bodies of 64 KB
    ids_per_call            of one delete: a call that fails is repeated whole
    ids_per_query           of one `in` list when reading: fewer scans, while the filter stays below 64 KB
    page_rows               rows of one page of a full read, bodies included
    page_ids                the same for pages without bodies
    """

    uri: str
    token: str = field(default="", repr=False)
    timeout_seconds: float = 10.0
    connect_timeout_seconds: float = 3.0
    health_timeout_seconds: float = 1.5
    threads: int = 8
    rows_per_upsert: int = 100
    ids_per_call: int = 200
    ids_per_query: int = 1000
    page_rows: int = 500
    page_ids: int = 2000

    def __post_init__(self) -> None:
        if not self.uri.startswith(SCHEMES):
            raise Misconfigured("the Milvus uri must begin with http://, https://, tcp:// or unix:")
        limits = (
            self.threads,
            self.rows_per_upsert,
            self.ids_per_call,
            self.ids_per_query,
            self.page_rows,
            self.page_ids,
        )
        if min(limits) < 1 or self.ids_per_call > 200:
            raise Misconfigured("the Milvus limits must be 1 or more, and ids_per_call 200 at most")
