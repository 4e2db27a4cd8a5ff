"""Erasure: selectors, fences and unreadable marks. What is fenced never comes back, whatever road it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tables.command import Actor, id_list, parse_actor
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, Scope, checked_id, optional_scope_user
from tables.turn import check_version, optional_id, parse_time


class Reach(StrEnum):
    """What an erasure, a fence or a mark speaks of. Exactly one."""

    MEMORY = "memory"  # by memory id
    SOURCE = "source"  # by source turn id
    SESSION = "session"
    TASK = "task"
    USER = "user"
    TENANT = "tenant"
    KIND = "kind"


@dataclass(frozen=True, slots=True)
class Selector:
    """`values`: memory ids, source turn ids, session ids, task ids or kinds; empty for USER and TENANT.

    `before` (epoch ms, 0 = no bound) keeps what was said at or after it.
    """

    reach: Reach
    values: tuple[str, ...] = ()
    before: int = 0


@dataclass(frozen=True, slots=True)
class Erasure:
    """A request to erase. The same `request_id` any number of times leaves the same state and the same receipt."""

    request_id: str
    scope: Scope
    selector: Selector
    reason: str
    actor: Actor
    at: int


@dataclass(frozen=True, slots=True)
class Fence:
    """Deleted-before mark: a source is fenced if its `at` ≤ the fence's, or it lies below the recorded log position.

    `positions`: per source topic, the first offset on this partition that was not yet taken when the fence was set.
    """

    selector: Selector
    at: int
    request_id: str
    positions: Mapping[str, int] = field(default_factory=dict)

    def holds(self, at: int, position: Position | None) -> bool:
        """Whether a statement said at `at` and lying at `position` is behind this fence in time."""
        if self.selector.before and at >= self.selector.before:
            return False
        if at <= self.at:
            return True
        return position is not None and position.offset < self.positions.get(position.topic, 0)


@dataclass(frozen=True, slots=True)
class Mark:
    """What the readers must not show: written before anything is erased, read after everything is gathered.

    value          as in the selector ("" for USER and TENANT), one mark a value
    confirmed      the worker's fence stands behind it; an unconfirmed mark lapses 10 minutes after `set_at`
    """

    reach: Reach
    value: str
    at: int
    before: int
    set_at: int
    confirmed: bool


MARK_LAPSE_MS = 10 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader is about to show, as the marks see it. `said` = (turn id, session, at) of each statement."""

    memory_id: str
    kind: str
    task: str
    said: tuple[tuple[str, str, int], ...]
    sensitivity: str = ""


def hides(mark: Mark, shown: Shown, now: int) -> bool:
    """Whether `mark` makes `shown` unreadable at `now` (epoch ms of the wall clock). Any hidden statement hides all."""
    if not mark.confirmed and now - mark.set_at > MARK_LAPSE_MS:
        return False
    match mark.reach:
        case Reach.USER | Reach.TENANT:
            touched = [at for _, _, at in shown.said]
        case Reach.SESSION:
            touched = [at for _, session, at in shown.said if session == mark.value]
        case Reach.SOURCE:
            touched = [at for turn_id, _, at in shown.said if turn_id == mark.value]
        case Reach.MEMORY:
            touched = [at for _, _, at in shown.said] if shown.memory_id == mark.value else []
        case Reach.TASK:
            touched = [at for _, _, at in shown.said] if shown.task == mark.value else []
        case Reach.KIND:
            named = mark.value in (shown.kind, shown.sensitivity)
            touched = [at for _, _, at in shown.said] if named else []
    return any(at <= mark.at and (not mark.before or at < mark.before) for at in touched)


def parse_erasure(data: object) -> Erasure:
    """The erasure that `data` (a decoded JSON value) describes. Raises InvalidRecord naming reason and field."""
    if not isinstance(data, Mapping):
        raise InvalidRecord(BadRecord.WRONG_TYPE, "delete")
    check_version(data)
    at, _ = parse_time(data.get("at"), "at")
    erasure = Erasure(
        request_id=checked_id(data.get("request_id"), "request_id"),
        scope=Scope(checked_id(data.get("tenant_id"), "tenant_id"), optional_scope_user(data.get("user_id"))),
        selector=parse_selector(data.get("selector")),
        reason=optional_id(data, "reason"),
        actor=parse_actor(data.get("actor")),
        at=at,
    )
    whole = erasure.selector.reach is Reach.TENANT
    if whole == bool(erasure.scope.user):
        raise InvalidRecord(BadRecord.BAD_VALUE if whole else BadRecord.MISSING_FIELD, "user_id")
    return erasure


def parse_selector(data: object) -> Selector:
    if not isinstance(data, Mapping):
        raise InvalidRecord(BadRecord.MISSING_FIELD if data is None else BadRecord.WRONG_TYPE, "selector")
    reach = data.get("reach")
    if not isinstance(reach, str) or reach not in set(Reach):
        raise InvalidRecord(BadRecord.BAD_VALUE, "selector.reach")
    values = id_list(data, "values")
    whole = Reach(reach) in (Reach.USER, Reach.TENANT)
    if whole == bool(values):
        raise InvalidRecord(BadRecord.BAD_VALUE if whole else BadRecord.MISSING_FIELD, "selector.values")
    before = parse_time(data["before"], "selector.before")[0] if data.get("before") is not None else 0
    return Selector(Reach(reach), values, before)
