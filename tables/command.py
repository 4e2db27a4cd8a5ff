"""Commands: what a user, a reviewer or a business system asks to change, and the outcome that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tables.errors import BadRecord, InvalidRecord
from tables.keys import Scope, checked_id, optional_scope_user
from tables.turn import check_version, checked_text, optional_bool, optional_id, parse_time

IDS_MAX = 300


class CommandKind(StrEnum):
    CONFIRM = "confirm"
    REJECT = "reject"
    CORRECT = "correct"
    PIN = "pin"
    UNPIN = "unpin"
    REVIEW = "review"
    CONSENT = "consent"
    RESET = "reset"
    FEEDBACK = "feedback"
    CLOSE_TASK = "close_task"
    SYSTEM_UPDATE = "system_update"
    TICK = "tick"  # moves the clock of an event-time tenant


class ActorRole(StrEnum):
    USER = "user"
    SERVICE = "service"
    REVIEWER = "reviewer"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Actor:
    sub: str
    role: ActorRole


class Result(StrEnum):
    """How a command or delete ended: kept 24 h under its request id."""

    APPLIED = "applied"
    NOOP = "noop"
    CONFLICT = "conflict"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` from a closed set, never content; `version` the current version of the memory in a conflict."""

    request_id: str
    result: Result
    reason: str
    memory_ids: tuple[str, ...]
    version: int
    at: int


@dataclass(frozen=True, slots=True)
class Command:
    """`memory_ids` and `question_ids` name what it is about; `expected_version` 0 = any version."""

    request_id: str
    kind: CommandKind
    scope: Scope
    actor: Actor
    at: int
    zone_minutes: int
    memory_ids: tuple[str, ...] = ()
    question_ids: tuple[str, ...] = ()
    session: str = ""
    task: str = ""
    text: str = ""
    reach: str = ""  # reset: context | history | all
    pin: str = ""  # intern | core
    allow: bool | None = None
    of_kind: str = ""  # consent: a memory type or a sensitivity class
    record: str = ""  # system_update: the business record's id
    expected_version: int = 0


def parse_command(data: object) -> Command:
    """The command that `data` (a decoded JSON value) describes. Raises InvalidRecord naming reason and field."""
    if not isinstance(data, Mapping):
        raise InvalidRecord(BadRecord.WRONG_TYPE, "command")
    check_version(data)
    at, zone = parse_time(data.get("at"), "at")
    text = data.get("text")
    command = Command(
        request_id=checked_id(data.get("request_id"), "request_id"),
        kind=_kind(data.get("kind")),
        scope=Scope(checked_id(data.get("tenant_id"), "tenant_id"), optional_scope_user(data.get("user_id"))),
        actor=parse_actor(data.get("actor")),
        at=at,
        zone_minutes=zone,
        memory_ids=id_list(data, "memory_ids"),
        question_ids=id_list(data, "question_ids"),
        session=optional_id(data, "session_id"),
        task=optional_id(data, "task_id"),
        text=checked_text(text, "text") if text is not None else "",
        reach=optional_id(data, "scope"),
        pin=optional_id(data, "pin"),
        allow=optional_bool(data, "allow"),
        of_kind=optional_id(data, "of_kind"),
        record=optional_id(data, "record"),
        expected_version=_whole(data.get("expected_version", 0), "expected_version"),
    )
    _check_needs(command)
    return command


def parse_actor(data: object) -> Actor:
    if not isinstance(data, Mapping):
        raise InvalidRecord(BadRecord.MISSING_FIELD if data is None else BadRecord.WRONG_TYPE, "actor")
    role = data.get("role")
    if not isinstance(role, str) or role not in set(ActorRole):
        raise InvalidRecord(BadRecord.BAD_VALUE, "actor.role")
    return Actor(checked_id(data.get("sub"), "actor.sub"), ActorRole(role))


def id_list(data: Mapping[object, object], field: str) -> tuple[str, ...]:
    """The list of ids in `field`, () when absent. Raises InvalidRecord; a bare string is not a list of letters."""
    value = data.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    if len(value) > IDS_MAX:
        raise InvalidRecord(BadRecord.TOO_LARGE, field)
    return tuple(checked_id(item, field) for item in value)


def _kind(value: object) -> CommandKind:
    if value is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, "kind")
    if not isinstance(value, str) or value not in set(CommandKind):
        raise InvalidRecord(BadRecord.UNKNOWN_KIND, "kind")
    return CommandKind(value)


def _whole(value: object, field: str) -> int:
    if type(value) is not int or value < 0:
        raise InvalidRecord(BadRecord.WRONG_TYPE, field)
    return value


def _check_needs(command: Command) -> None:
    """What each kind cannot do without. Raises InvalidRecord(MISSING_FIELD | BAD_VALUE)."""
    missing = ""
    match command.kind:
        case CommandKind.CONFIRM | CommandKind.REJECT:
            missing = "" if command.memory_ids or command.question_ids else "question_ids"
        case CommandKind.CORRECT | CommandKind.SYSTEM_UPDATE:
            missing = "memory_ids" if not command.memory_ids else "" if command.text else "text"
        case CommandKind.PIN | CommandKind.UNPIN | CommandKind.REVIEW | CommandKind.FEEDBACK:
            missing = "" if command.memory_ids else "memory_ids"
        case CommandKind.CONSENT:
            missing = "allow" if command.allow is None else ""
        case CommandKind.CLOSE_TASK:
            missing = "" if command.task else "task_id"
        case CommandKind.RESET:
            if command.reach not in ("context", "history", "all"):
                raise InvalidRecord(BadRecord.BAD_VALUE, "scope")
            missing = "session_id" if command.reach == "context" and not command.session else ""
        case CommandKind.TICK:
            return
    if not command.scope.user:
        missing = "user_id"
    if command.pin not in ("", "intern", "core"):
        raise InvalidRecord(BadRecord.BAD_VALUE, "pin")
    if missing:
        raise InvalidRecord(BadRecord.MISSING_FIELD, missing)
