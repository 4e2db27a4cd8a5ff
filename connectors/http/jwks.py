"""The public keys of an identity provider: from a file or a URL, kept for a while, fetched again for an unknown key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import jwt

from connectors.codec import parse_json
from tables.errors import InvalidRecord, Misconfigured, Unavailable

FETCH_SECONDS: Final = 2.0
AGAIN_SECONDS: Final = 30.0  # made-up key ids must not turn into a flood of fetches
KEPT_SECONDS: Final = 600.0  # a withdrawn key is believed no longer than this
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_FAMILY: Final = {"RS256": "RSA", "ES256": "EC"}


class KeySet:
    """`place` is a path or a URL (https, or http to this machine). Raises Misconfigured for any other."""

    def __init__(
        self,
        place: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        parts = urlsplit(place)
        self._is_url = parts.scheme in ("http", "https")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise Misconfigured("keys must come over https")
        self._place = place
        self._transport = transport
        self._seconds = seconds
        self._keys: dict[tuple[str, str], Any] = {}
        self._read_at: float | None = None
        self._lock = asyncio.Lock()

    async def find(self, kid: object, algorithm: str) -> Any | None:
        """The key of this id for this algorithm; None when there is none. Raises Unavailable("identity")."""
        name = (kid if isinstance(kid, str) else "", algorithm)
        async with self._lock:
            age = None if self._read_at is None else self._seconds() - self._read_at
            if age is None or age > KEPT_SECONDS or (name not in self._keys and age > AGAIN_SECONDS):
                await self._refresh()
            return self._keys.get(name)

    async def _refresh(self) -> None:
        try:
            raw = await (self._fetched() if self._is_url else asyncio.to_thread(Path(self._place).read_bytes))
            keys = _usable(parse_json(raw))
        except (httpx.HTTPError, OSError, InvalidRecord) as error:
            raise Unavailable("identity") from error
        self._keys = keys
        self._read_at = self._seconds()

    async def _fetched(self) -> bytes:
        async with httpx.AsyncClient(timeout=FETCH_SECONDS, transport=self._transport) as client:
            response = await client.get(self._place)
            response.raise_for_status()
            return response.content


def _usable(data: object) -> dict[tuple[str, str], Any]:
    """The signature keys by (kid, algorithm). A key serves the one algorithm of its family, whatever it claims."""
    found: dict[tuple[str, str], Any] = {}
    listed = data.get("keys") if isinstance(data, Mapping) else None
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, Mapping) or entry.get("use", "sig") != "sig":
            continue
        for algorithm, family in _FAMILY.items():
            if entry.get("kty") == family and entry.get("alg", algorithm) == algorithm:
                try:
                    found[str(entry.get("kid", "")), algorithm] = jwt.PyJWK(dict(entry), algorithm).key
                except jwt.PyJWTError:
                    continue
    return found
