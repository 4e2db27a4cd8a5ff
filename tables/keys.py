"""Ids, scopes, routes and row keys: who a thing belongs to, byte for byte.

An id is 1–128 UTF-8 bytes without control characters or lone surrogates; nothing is folded or trimmed.
Composite keys are length-prefixed, so no two different scopes can ever meet in one key.
"""

from __future__ import annotations

import unicodedata
import zlib
from hashlib import blake2b
from typing import NamedTuple

from tables.errors import BadRecord, InvalidRecord

ID_BYTES_MAX = 128
DIGEST_BYTES = 16  # 128 bits: no collisions to plan for, 32 hex characters, fits every engine's key


class Scope(NamedTuple):
    """One user of one tenant: the scope that every read and write carries."""

    tenant: str
    user: str


class Position(NamedTuple):
    """Where a record lies in the log. `item` counts turns inside one record."""

    topic: str
    partition: int
    offset: int
    item: int = 0


def checked_id(value: object, field: str) -> str:
    """Return `value` when it is a legal id, byte-exact.

    Raises InvalidRecord(MISSING_FIELD | WRONG_TYPE | BAD_ID) naming the field, never the value.
    """
    if value is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, field)
    if not isinstance(value, str):
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    if not is_legal_id(value):
        raise InvalidRecord(BadRecord.BAD_ID, field)
    return value


def is_legal_id(value: str) -> bool:
    """Whether `value` is 1–128 UTF-8 bytes with no control character (category Cc) and no lone surrogate."""
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    if value.isascii():
        return 1 <= size <= ID_BYTES_MAX and value.isprintable()
    return 1 <= size <= ID_BYTES_MAX and not any(unicodedata.category(c) == "Cc" for c in value)


def row_key(*parts: str) -> bytes:
    """Length-prefixed concatenation: injective over any sequence of strings, and prefix-safe for scans."""
    pieces: list[bytes] = []
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        pieces.append(len(raw).to_bytes(4, "big"))
        pieces.append(raw)
    return b"".join(pieces)


def key_parts(key: bytes) -> tuple[str, ...]:
    """Inverse of `row_key`. Raises ValueError when `key` was not made by it."""
    parts: list[str] = []
    at = 0
    while at < len(key):
        size = int.from_bytes(key[at : at + 4], "big")
        end = at + 4 + size
        if end > len(key):
            raise ValueError("not a row key")
        parts.append(key[at + 4 : end].decode("utf-8", "surrogatepass"))
        at = end
    return tuple(parts)


def digest(*parts: str) -> str:
    """32 hex characters of blake2b over the length-prefixed parts: what Milvus, Redis keys and metrics may see."""
    return blake2b(row_key(*parts), digest_size=DIGEST_BYTES).hexdigest()


def scope_digest(scope: Scope) -> str:
    return digest("scope", scope.tenant, scope.user)


def tenant_digest(tenant: str) -> str:
    return digest("tenant", tenant)


def session_digest(scope: Scope, session: str) -> str:
    return digest("session", scope.tenant, scope.user, session)


def task_digest(scope: Scope, task: str) -> str:
    """Digest of a task; the empty string for "no task"."""
    return digest("task", scope.tenant, scope.user, task) if task else ""


def turn_key(scope: Scope, session: str, turn_id: str) -> str:
    """Key of a turn with an id: the same id in the same tenant, user and session is the same turn."""
    return digest("turn", scope.tenant, scope.user, session, turn_id)


def turn_key_at(scope: Scope, session: str, position: Position) -> str:
    """Key of a turn without an id: its place in the log, so a replay gives the same key."""
    place = (position.topic, str(position.partition), str(position.offset), str(position.item))
    return digest("turn-at", scope.tenant, scope.user, session, *place)


def memory_id(source_turn_key: str, subject: str, slot: str, value: str, polarity: str) -> str:
    """Id of the memory that a turn gives rise to; `value` is the normalised value. Replay gives the same id."""
    return digest("memory", source_turn_key, subject, slot, value, polarity)


def encoded_tenant(tenant: str) -> str:
    """The tenant as it stands in Kafka keys: `%`, `#` and `/` percent-encoded, everything else as it is."""
    return tenant.replace("%", "%25").replace("#", "%23").replace("/", "%2F")


def route(scope: Scope, shards: int = 1) -> bytes:
    """Kafka key of everything that concerns this user: `tenant`, or `tenant#n` with n = crc32(user) mod shards."""
    name = encoded_tenant(scope.tenant)
    if shards > 1:
        name = f"{name}#{zlib.crc32(scope.user.encode('utf-8')) % shards}"
    return name.encode("utf-8")


def tenant_routes(tenant: str, shards: int = 1) -> tuple[bytes, ...]:
    """Every route of a tenant, in shard order."""
    name = encoded_tenant(tenant)
    if shards <= 1:
        return (name.encode("utf-8"),)
    return tuple(f"{name}#{n}".encode() for n in range(shards))


def optional_scope_user(value: object) -> str:
    """A user id, or "" for a request that concerns the whole tenant."""
    return "" if value is None or value == "" else checked_id(value, "user_id")
