"""Settings of the copies in Redis. Every timeout and limit says what goes wrong without it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tables.errors import Misconfigured

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class RedisConfig:
    """Where the copies are and how long a call may take.

    The server wants `appendonly yes` and `maxmemory-policy noeviction`: a mark that is forgotten or evicted shows what
    was erased. With `appendfsync everysec` a killed server keeps every mark and a power cut may lose the last second;
    from Redis 7.2 on each mark waits until the log is on disk (WAITAOF), before that use `appendfsync always`.

    prefix                  begins every key: installations (and tests) may share a server
    connect_timeout_seconds, timeout_seconds  a frozen server must become Unavailable, not a frozen worker
    max_connections         a burst of recalls queues here instead of running the server out of descriptors
    fsync_timeout_ms        how long a mark waits to be on disk before its writer is told to repeat
    garbage_ms              how much longer than its TTL a session copy stays: reads compare times, not keys
    outcome_ms, receipt_ms  how long the answer of a request is kept
    scan_count              keys a step of SCAN looks at: few steps, none long enough to hold others up
    """

    url: str = field(repr=False)
    prefix: str = "tw"
    connect_timeout_seconds: float = 2.0
    timeout_seconds: float = 2.0
    max_connections: int = 64
    fsync_timeout_ms: int = 1000
    garbage_ms: int = 7 * DAY_MS
    outcome_ms: int = DAY_MS
    receipt_ms: int = 400 * DAY_MS
    scan_count: int = 2000

    def __post_init__(self) -> None:
        if not self.url.startswith(("redis://", "rediss://", "unix://")):
            raise Misconfigured("the Redis url must begin with redis://, rediss:// or unix://")
        if not re.fullmatch(r"[a-z0-9_-]{1,32}", self.prefix):
            raise Misconfigured("the Redis prefix is 1–32 of a–z, 0–9, - and _")
        if self.fsync_timeout_ms >= self.timeout_seconds * 1000:
            raise Misconfigured("the Redis fsync timeout must be shorter than the call timeout")
