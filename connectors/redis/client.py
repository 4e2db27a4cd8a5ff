"""The connection and the wall: whatever Redis or the network raises leaves as Unavailable("redis")."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError

from connectors.redis.config import RedisConfig
from tables.errors import Unavailable

RETRIES: Final = 1  # a pooled connection that the server closed while idle; a timeout is not waited for twice


def connect(config: RedisConfig) -> Redis:
    """A client that opens connections when it needs them. Whoever calls this closes it (`aclose`)."""
    pool = BlockingConnectionPool.from_url(
        config.url,
        max_connections=config.max_connections,
        timeout=config.timeout_seconds,
        socket_connect_timeout=config.connect_timeout_seconds,
        socket_timeout=config.timeout_seconds,
        retry=Retry(NoBackoff(), RETRIES, supported_errors=(LostConnection,)),
        protocol=2,
    )
    return Redis.from_pool(pool)


@contextmanager
def wall() -> Iterator[None]:
    """Errors of the client become ours, with the cause kept."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise Unavailable("redis") from error
