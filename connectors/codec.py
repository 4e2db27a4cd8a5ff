"""Bytes and back: JSON by orjson, typed rows by pydantic's adapters over our plain dataclasses (design §11.9).

A value has clear fields (ids, types, status, times, numbers, version `v`) and a `body {enc, kid, data}` with everything
that was said. A table row is one version byte and then that JSON; rows of an older version are upgraded on read.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeVar, cast

import orjson
from pydantic import TypeAdapter, ValidationError

from tables.book import Book
from tables.candidate import Candidate
from tables.change import Change
from tables.errors import BadRecord, InvalidRecord
from tables.memory import Memory
from tables.question import Question
from tables.session import Session
from tables.snapshot import Snapshot

T = TypeVar("T")

ROW_VERSION: Final = 1
VALUE_VERSION: Final = 1

SAID: Final[dict[type, frozenset[str]]] = {
    Memory: frozenset({"subject", "value", "content", "span", "review"}),
    Candidate: frozenset({"subject", "value", "content", "span", "vector"}),
    Question: frozenset({"held", "proposed", "text"}),
    Change: frozenset({"before", "after"}),
    Session: frozenset({"window", "wishes"}),
    Book: frozenset({"outbox"}),
    Snapshot: frozenset({"turn", "command", "candidates"}),
}
"""The fields of each type that hold something said: they travel in the body, sealed once keys exist."""


def parse_json(raw: bytes | None) -> object:
    """The JSON value in `raw`. Raises InvalidRecord(NULL_VALUE | NOT_JSON); the message holds no content."""
    if raw is None:
        raise InvalidRecord(BadRecord.NULL_VALUE)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        reason = BadRecord.BAD_TEXT if _has_lone_surrogate(raw) else BadRecord.NOT_JSON
        raise InvalidRecord(reason) from None


def to_json(value: object) -> bytes:
    """Compact UTF-8 JSON of plain values and dataclasses."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)


def encode(value: object) -> bytes:
    """The topic value of one of our types: clear fields, `v`, and the body."""
    fields = _fields(value)
    said = SAID.get(type(value), frozenset())
    clear = {name: fields[name] for name in fields if name not in said}
    body = {name: fields[name] for name in fields if name in said}
    if body:
        clear["body"] = {"enc": "none", "kid": "", "data": body}
    clear["v"] = VALUE_VERSION
    return to_json(clear)


def decode(kind: type[T], raw: bytes | None) -> T:
    """The value that `encode` wrote. Raises InvalidRecord with its reason when it is not one."""
    return _decode(kind, parse_json(raw))


def _decode(kind: type[T], data: object) -> T:
    if not isinstance(data, dict):
        raise InvalidRecord(BadRecord.WRONG_TYPE)
    if data.pop("v", VALUE_VERSION) != VALUE_VERSION:
        raise InvalidRecord(BadRecord.UNKNOWN_VERSION, "v")
    body = data.pop("body", None)
    if body is not None:
        if not isinstance(body, dict) or body.get("enc") != "none" or not isinstance(body.get("data"), dict):
            raise InvalidRecord(BadRecord.UNKNOWN_VERSION, "body.enc")
        data.update(body["data"])
    return from_plain(kind, data)


def encode_row(value: object) -> bytes:
    return bytes((ROW_VERSION,)) + encode(value)


def decode_row(kind: type[T], raw: bytes) -> T:
    """The row that `encode_row` wrote. Raises InvalidRecord(UNKNOWN_VERSION) for a row of a newer build."""
    if not raw or raw[0] != ROW_VERSION:
        raise InvalidRecord(BadRecord.UNKNOWN_VERSION, "row")
    return decode(kind, raw[1:])


def encode_held(memory: Memory, vector: Sequence[float]) -> bytes:
    """The row of the table `memories`: the record, and its vector as base64 of little-endian float16."""
    packed = b64encode(struct.pack(f"<{len(vector)}e", *vector)).decode()
    body = {"enc": "none", "kid": "", "data": packed}
    return bytes((ROW_VERSION,)) + orjson.dumps({"memory": orjson.Fragment(encode(memory)), "vector": body})


def decode_held(raw: bytes) -> tuple[Memory, tuple[float, ...]]:
    """The record and vector that `encode_held` wrote. Raises InvalidRecord(UNKNOWN_VERSION)."""
    if not raw or raw[0] != ROW_VERSION:
        raise InvalidRecord(BadRecord.UNKNOWN_VERSION, "row")
    data = orjson.loads(raw[1:])
    packed = b64decode(data["vector"]["data"])
    return _decode(Memory, data["memory"]), struct.unpack(f"<{len(packed) // 2}e", packed)


def from_plain(kind: type[T], data: object) -> T:
    """`data` (plain JSON values) as `kind`. Raises InvalidRecord(WRONG_TYPE) naming the field, never the value."""
    try:
        value: T = _adapter(cast(Any, kind)).validate_python(data)
        return value
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_context=False)[0]["loc"][:3])
        raise InvalidRecord(BadRecord.WRONG_TYPE, where) from None


def json_schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type, as the contracts publish it."""
    return _adapter(kind).json_schema()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _fields(value: object) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}  # type: ignore[attr-defined]  # only dataclasses come here


def _plain(value: object) -> object:
    if isinstance(value, tuple):  # named tuples: orjson wants plain ones
        return list(value)
    raise TypeError(type(value).__name__)


def _has_lone_surrogate(raw: bytes) -> bool:
    lowered = raw.lower()
    return b"\\ud" in lowered or b"\xed\xa0" in raw or b"\xed\xb0" in raw
