"""HMAC signatures of commands and deletes on the bus (design §11.15), and request ids bound to who made the request.

A key is derived per purpose and tenant from one secret, so a signature of one tenant is worth nothing in another.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from tables.errors import BadRecord, InvalidRecord, Misconfigured
from tables.keys import DIGEST_BYTES, ID_BYTES_MAX, Scope, digest, row_key

SIG: Final = "sig"
KID: Final = "kid"
SECRET_BYTES_MIN: Final = 32
Headers = tuple[tuple[str, bytes], ...]

_TAG_CHARS: Final = DIGEST_BYTES  # 64 bits of hex: guessing one takes 2⁶³ requests
_HEAD_BYTES_MAX: Final = ID_BYTES_MAX - _TAG_CHARS - 1


def derive(secret: bytes, tenant: str, kid: str, purpose: str = "bus") -> bytes:
    """The tenant's key of generation `kid` for one purpose."""
    return hmac.digest(secret, row_key("twinsluice", purpose, tenant, kid), sha256)


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with `current`, verifies with every secret it knows: old and new overlap while a secret is changed.

    secrets  kid → secret of at least 32 bytes. Raises Misconfigured for a shorter one or an unknown `current`.
    """

    secrets: Mapping[str, bytes]
    current: str = "k1"

    def __post_init__(self) -> None:
        if self.current not in self.secrets:
            raise Misconfigured("the current signing key is not among the signing secrets")
        if any(len(secret) < SECRET_BYTES_MIN for secret in self.secrets.values()):
            raise Misconfigured(f"a signing secret has fewer than {SECRET_BYTES_MIN} bytes")

    def sign(self, key: bytes, value: bytes, tenant: str) -> Headers:
        """The headers to send with this record."""
        kid = self.current
        return ((SIG, self._mac(key, value, tenant, kid).hex().encode()), (KID, kid.encode()))

    def verify(self, key: bytes | None, value: bytes | None, headers: Mapping[str, bytes], tenant: str) -> None:
        """Return when the record is signed by a key of this tenant. Raises InvalidRecord(UNSIGNED | BAD_SIGNATURE)."""
        signature, kid = headers.get(SIG), headers.get(KID)
        if not signature or not kid:
            raise InvalidRecord(BadRecord.UNSIGNED)
        try:
            name = kid.decode("ascii")
            given = bytes.fromhex(signature.decode("ascii"))
        except ValueError:
            raise InvalidRecord(BadRecord.BAD_SIGNATURE) from None
        if name not in self.secrets:
            raise InvalidRecord(BadRecord.BAD_SIGNATURE, KID)
        if not hmac.compare_digest(given, self._mac(key or b"", value or b"", tenant, name)):
            raise InvalidRecord(BadRecord.BAD_SIGNATURE)

    def _mac(self, key: bytes, value: bytes, tenant: str, kid: str) -> bytes:
        signed = len(key).to_bytes(8, "big") + key + value  # the length keeps a byte from moving between the two
        return hmac.digest(derive(self.secrets[kid], tenant, kid), signed, sha256)


@dataclass(frozen=True, slots=True)
class RequestIds:
    """Request ids as the bus sees them: the client's own id and a tag of the scope that made the request.

    Outcomes are kept under tenant and request id. With the tag two users may pick the same id and never meet, and
    nobody can ask for another's outcome: the tag of one scope is not the tag of any other.
    """

    secret: bytes

    def bound(self, scope: Scope, given: str) -> str:
        """The id on the bus for the client's `given`; the same again for the same scope and id."""
        if self.owns(scope, given):
            return given
        head = given if len(given.encode()) <= _HEAD_BYTES_MAX else digest("request", given)
        return f"{head}~{self._tag(scope, head)}"

    def owns(self, scope: Scope, bound: str) -> bool:
        head, mark, tag = bound.rpartition("~")
        return bool(mark) and hmac.compare_digest(tag.encode(), self._tag(scope, head).encode())

    def _tag(self, scope: Scope, head: str) -> str:
        key = derive(self.secret, scope.tenant, "", "request-id")
        return hmac.digest(key, row_key(scope.user, head), sha256).hex()[:_TAG_CHARS]


def shown_request_id(bound: str, given: str = "") -> str:
    """The client's own id in an id that `RequestIds.bound` made; any other id as it is.

    `given` as the client has just written it: an id that was too long to travel whole cannot be read out of `bound`.
    """
    if given and given != bound:
        return given
    head, mark, tag = bound.rpartition("~")
    is_tag = len(tag) == _TAG_CHARS and all(c in "0123456789abcdef" for c in tag)
    return head if mark and head and is_tag else bound
