"""A conversation turn as the platform sends it, checked to the last field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, Scope, checked_id, turn_key, turn_key_at

VERSION = 1
CONTENT_CHARS_MAX = 32_768  # longer text is a document, not a turn: it would fail its whole batch downstream
EARLIEST_MS = 946_684_800_000  # 2000-01-01: an epoch-zero default is a fault of the producer, not a time
LATEST_MS = 4_102_444_800_000  # 2100-01-01
FUTURE_GRACE_MS = 5 * 60 * 1000


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `at` is epoch milliseconds; `zone_minutes` is the UTC offset it was said in.

    `key` is the id everywhere inside the engine; `id` is the platform's own, "" when it gave none.
    `consent` is what the turn itself says: True, False, or None when it says nothing.
    """

    key: str
    id: str
    scope: Scope
    session: str
    task: str
    topic: str
    role: Role
    content: str
    at: int
    zone_minutes: int
    consent: bool | None
    lang: str
    minor: bool
    position: Position
    asked: str = ""  # the assistant's question right before it, where a bare answer may need it


def parse_turn(data: object, position: Position) -> Turn:
    """The turn that `data` (a decoded JSON value) describes.

    Raises InvalidRecord with the reason and the field's name; unknown extra fields are ignored (only optional
    fields ever come or go).
    """
    if not isinstance(data, Mapping):
        raise InvalidRecord(BadRecord.WRONG_TYPE, "turn")
    check_version(data)
    scope = Scope(checked_id(data.get("tenant_id"), "tenant_id"), checked_id(data.get("user_id"), "user_id"))
    session = checked_id(data.get("session_id"), "session_id")
    turn_id = optional_id(data, "id")
    at, zone_minutes = parse_time(data.get("at"), "at")
    key = turn_key(scope, session, turn_id) if turn_id else turn_key_at(scope, session, position)
    return Turn(
        key=key,
        id=turn_id,
        scope=scope,
        session=session,
        task=optional_id(data, "task_id"),
        topic=optional_id(data, "topic"),
        role=_role(data.get("role")),
        content=checked_text(data.get("content"), "content"),
        at=at,
        zone_minutes=zone_minutes,
        consent=optional_bool(data, "consent"),
        lang=optional_id(data, "lang"),
        minor=bool(optional_bool(data, "minor")),
        position=position,
    )


def check_version(data: Mapping[object, object]) -> None:
    """Raises InvalidRecord(UNKNOWN_VERSION) unless `v` is absent or a version that this build reads."""
    version = data.get("v", VERSION)
    if type(version) is not int:
        raise InvalidRecord(BadRecord.WRONG_TYPE, "v")
    if version != VERSION:
        raise InvalidRecord(BadRecord.UNKNOWN_VERSION, "v")


def checked_text(value: object, field: str) -> str:
    """`value` as text that every later step can encode. Raises InvalidRecord; never shows the text."""
    if value is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, field)
    if not isinstance(value, str):
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    if len(value) > CONTENT_CHARS_MAX:
        raise InvalidRecord(BadRecord.TOO_LARGE, field)
    if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value if not value.isascii()):
        raise InvalidRecord(BadRecord.BAD_TEXT, field)
    if not value.strip():
        raise InvalidRecord(BadRecord.BLANK_CONTENT, field)
    return value


def parse_time(value: object, field: str) -> tuple[int, int]:
    """(epoch milliseconds, UTC offset in minutes) of an RFC 3339 text with an offset, or of whole milliseconds.

    Raises InvalidRecord(MISSING_FIELD | WRONG_TYPE | BAD_TIME).
    """
    if value is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, field)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    if isinstance(value, int):
        at, zone = value, 0
    else:
        at, zone = _parse_text_time(value, field)
    if not EARLIEST_MS <= at < LATEST_MS:
        raise InvalidRecord(BadRecord.BAD_TIME, field)
    return at, zone


def _parse_text_time(value: str, field: str) -> tuple[int, int]:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidRecord(BadRecord.BAD_TIME, field) from error
    offset = moment.utcoffset()
    if offset is None:
        raise InvalidRecord(BadRecord.BAD_TIME, field)
    try:
        delta = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except OverflowError as error:
        raise InvalidRecord(BadRecord.BAD_TIME, field) from error
    at = (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000
    return at, int(offset.total_seconds() // 60)


def optional_id(data: Mapping[object, object], field: str) -> str:
    """The id in `field`, or "" when it is absent, null or empty. Raises InvalidRecord for an illegal one."""
    value = data.get(field)
    return "" if value is None or value == "" else checked_id(value, field)


def optional_bool(data: Mapping[object, object], field: str) -> bool | None:
    value = data.get(field)
    if value is not None and not isinstance(value, bool):
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    return value


def _role(value: object) -> Role:
    if value is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, "role")
    if not isinstance(value, str):
        raise InvalidRecord(BadRecord.WRONG_TYPE, "role")
    try:
        return Role(value)
    except ValueError as error:
        raise InvalidRecord(BadRecord.BAD_VALUE, "role") from error
