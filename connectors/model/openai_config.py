"""Settings of the `openai` extractor. Every timeout and limit says what goes wrong without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tables.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class OpenaiConfig:
    """Where the endpoint is and how much it is asked.

    url              base URL, as "https://host/v1"; "/chat/completions" is added
    key              sent as a bearer token when there is one; never shown, also not by `repr`
    concurrency      calls at once: more would only be throttled, or run a local server out of memory
    timeout_seconds  of one call, its whole answer included: a server that drips must not hold a turn for ever
    connect_timeout_seconds  a black-holed address is told apart from a slow answer
    attempts         calls for a turn before the batch waits: what passes by itself costs no pause of the batch
    pause_seconds    the first pause between them, doubled each time up to `pause_seconds_max`, all of it jitter
    patience_seconds the longest Retry-After that is waited for in place; a longer one makes the batch wait
    answer_bytes     of an answer at most: a server gone mad must not fill the memory
    failures         calls in a row that fail before the breaker opens
    open_seconds     how long it then stays open at first; doubled up to `open_seconds_max`
    poison_calls     failed calls of one turn after which it is asked whether the turn is to blame
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    concurrency: int = 4
    timeout_seconds: float = 30.0
    connect_timeout_seconds: float = 5.0
    attempts: int = 3
    pause_seconds: float = 0.5
    pause_seconds_max: float = 8.0
    patience_seconds: float = 10.0
    answer_bytes: int = 1024 * 1024
    failures: int = 5
    open_seconds: float = 2.0
    open_seconds_max: float = 60.0
    poison_calls: int = 9

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            legal = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            legal = False
        if not legal or not self.url.isascii() or not self.url.isprintable() or parts.query or parts.fragment:
            raise Misconfigured("the extractor's url must be like https://host/v1")
        if parts.username or parts.password:
            raise Misconfigured("the extractor's url must not hold a name or password: give the key by itself")
        if not self.model:
            raise Misconfigured("the extractor's model is missing")
        if not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise Misconfigured("the extractor's key must be printable ASCII without spaces")
        if min(self.concurrency, self.attempts, self.failures, self.poison_calls) < 1 or self.timeout_seconds <= 0:
            raise Misconfigured("the extractor's limits must be 1 or more")
