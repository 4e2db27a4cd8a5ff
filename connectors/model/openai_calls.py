"""One endpoint, called with manners: bounded in time, again after a jittered pause, not at all while it rests.

`ask` never raises for anything that an endpoint does: how it went is a value. Which failures are a turn's own and which
are everyone's is decided by its caller.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import httpx
from tenacity import AsyncRetrying, retry_if_result, stop_after_attempt, wait_random_exponential

from connectors.metrics import EXTRACTOR_CALLS, EXTRACTOR_SECONDS
from connectors.model.openai_breaker import Breaker
from connectors.model.openai_config import OpenaiConfig
from connectors.model.openai_protocol import Outcome, Reply, reply

FAILURES: Final = frozenset({Outcome.TIMED_OUT, Outcome.UNREACHABLE, Outcome.SERVER_ERROR})
OWN: Final = frozenset({Outcome.REJECTED, Outcome.UNREADABLE, Outcome.DECLINED})  # perhaps that turn's own fault
_AGAIN: Final = FAILURES | {Outcome.THROTTLED, Outcome.UNREADABLE}
_REST_SECONDS: Final = 1.0  # after a 429 that does not say for how long

Sleep = Callable[[float], Awaitable[None]]


class OpenaiCalls:
    """The calls of one process to one endpoint. `seconds` is a monotonic clock, `now` epoch seconds."""

    def __init__(
        self,
        config: OpenaiConfig,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        seconds: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._config = config
        self._seconds = seconds
        self._now = now
        self._sleep = sleep
        self._rest_until = 0.0
        self._backoff = wait_random_exponential(multiplier=config.pause_seconds, max=config.pause_seconds_max)
        self._breaker = Breaker(
            failures=config.failures,
            open_seconds=config.open_seconds,
            open_seconds_max=config.open_seconds_max,
            seconds=seconds,
        )
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {config.key}"} if config.key else {},
            timeout=httpx.Timeout(config.timeout_seconds, connect=config.connect_timeout_seconds, pool=None),
            limits=httpx.Limits(max_connections=config.concurrency, max_keepalive_connections=config.concurrency),
            follow_redirects=False,  # the key goes where it was told to go
            transport=transport,
        )
        self._url = config.url.rstrip("/") + "/chat/completions"

    async def ask(self, body: bytes) -> list[Reply]:
        """Every reply to `body`, the last one deciding: repeated while that may help, `attempts` times at most."""
        replies: list[Reply] = []

        async def once() -> Reply:
            replies.append(await self.ask_once(body))
            return replies[-1]

        await AsyncRetrying(
            retry=retry_if_result(self._may_help),
            stop=stop_after_attempt(self._config.attempts),
            wait=self._backoff,  # full jitter; what the endpoint asked for is waited out by the call itself
            sleep=self._sleep,
            retry_error_callback=lambda _: replies[-1],
        )(once)
        return replies

    async def ask_once(self, body: bytes, *, is_probe: bool = False) -> Reply:
        """One call, or `HELD` when the endpoint is to be left alone. Waits out a short rest that it asked for.

        A probe is known to be readable: when it is not read, the endpoint counts as failing.
        """
        rest = self._rest_until - self._seconds()
        if rest > self._config.patience_seconds:
            return Reply(Outcome.HELD, retry_after=rest)
        if rest > 0:
            await self._sleep(rest)
        if (closed := self._breaker.admit()) > 0:
            return Reply(Outcome.HELD, retry_after=closed)
        try:
            told = await self._told(body)
        except BaseException:  # cancelled: whoever comes next may try
            self._breaker.failed()
            raise
        self._heed(told, is_probe)
        return told

    async def close(self) -> None:
        await self._client.aclose()

    def _heed(self, told: Reply, is_probe: bool) -> None:
        """What a reply says of the endpoint: a request refused is still the answer of a healthy one."""
        EXTRACTOR_CALLS.labels(told.outcome.value).inc()
        if told.outcome is Outcome.DENIED or (is_probe and told.outcome in OWN):
            self._breaker.failed(final=True)
        elif told.outcome in FAILURES:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        if told.outcome is Outcome.THROTTLED or told.retry_after:
            self._rest_until = self._seconds() + (told.retry_after or _REST_SECONDS)

    def _may_help(self, told: Reply) -> bool:
        return told.outcome in _AGAIN and told.retry_after <= self._config.patience_seconds

    async def _told(self, body: bytes) -> Reply:
        begun = self._seconds()
        try:
            async with asyncio.timeout(self._config.timeout_seconds):
                return await self._answered(body)
        except (TimeoutError, httpx.TimeoutException):
            return Reply(Outcome.TIMED_OUT)
        except httpx.DecodingError:
            return Reply(Outcome.UNREADABLE)
        except httpx.RequestError:  # its message may hold the address: it goes no further
            return Reply(Outcome.UNREACHABLE)
        finally:
            EXTRACTOR_SECONDS.observe(self._seconds() - begun)

    async def _answered(self, body: bytes) -> Reply:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        async with self._client.stream("POST", self._url, content=body, headers=headers) as response:
            taken = bytearray()
            async for piece in response.aiter_bytes():
                taken += piece
                if len(taken) > self._config.answer_bytes:
                    return Reply(Outcome.UNREADABLE, status=response.status_code)
            return reply(response.status_code, response.headers, bytes(taken), self._now())
