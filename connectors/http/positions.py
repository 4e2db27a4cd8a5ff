"""The token of an accepted write (design §11.3): where it lies in the log, opaque to clients, checked on its return.

It is bound to the tenant and carries a check value: a made-up or foreign token is refused, never waited for.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import orjson

from connectors.signing import derive
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position

_CHECK_BYTES: Final = 12
TOKEN_CHARS_MAX: Final = 65_536  # a delete of a tenant holds one position a shard


@dataclass(frozen=True, slots=True)
class PositionTokens:
    secret: bytes

    def mint(self, tenant: str, positions: tuple[Position, ...]) -> str:
        raw = orjson.dumps([[p.topic, p.partition, p.offset] for p in positions])
        return base64.urlsafe_b64encode(self._check(tenant, raw) + raw).rstrip(b"=").decode()

    def read(self, tenant: str, token: str) -> tuple[Position, ...]:
        """The positions in a token of this tenant. Raises InvalidRecord(BAD_VALUE, "after") for anything else."""
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise InvalidRecord(BadRecord.BAD_VALUE, "after") from None
        raw = data[_CHECK_BYTES:]
        if not hmac.compare_digest(data[:_CHECK_BYTES], self._check(tenant, raw)):
            raise InvalidRecord(BadRecord.BAD_VALUE, "after")
        return tuple(Position(topic, partition, offset) for topic, partition, offset in orjson.loads(raw))

    def _check(self, tenant: str, raw: bytes) -> bytes:
        return hmac.digest(derive(self.secret, tenant, "", "position"), raw, sha256)[:_CHECK_BYTES]
