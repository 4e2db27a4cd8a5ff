"""The trace of one recall: which rows were looked at, what became of each and why. Ids and reasons, never words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why something that was found is not in the context: the closed set, in the order the filters run."""

    FOREIGN = "foreign"  # not of this tenant and user: an engine answered wrongly
    MARKED = "marked"  # being erased
    STATUS = "status"
    DRAFT = "draft"
    EXPIRED = "expired"
    OTHER_TASK = "other_task"
    OTHER_TOPIC = "other_topic"
    SUPPRESSED = "suppressed"  # the user does not want to hear of it in this session
    OTHER_SESSION = "other_session"
    SUPERSEDED = "superseded"
    NOT_STRICT = "not_strict"
    BELOW_FLOOR = "below_floor"
    BEYOND_COUNT = "beyond_count"
    DUPLICATE = "duplicate"
    OVER_BUDGET = "over_budget"
    LAPSED = "lapsed"  # a window past its gap or its time to live


class Leg(StrEnum):
    DENSE = "dense"
    KEYWORD = "keyword"
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`id` of a memory, or the key of a window turn."""

    id: str
    kind: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where a leg put a memory: `rank` from 1, `score` 0..1 of that leg."""

    id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Kept under its id for debugging. `scope`, `session` and `task` are digests; `window` holds turn keys.

    `degraded` names what was away (closed words), `millis` the time of each part.
    """

    id: str
    at: int
    scope: str
    session: str
    task: str
    policy: int
    profile_version: int
    window: tuple[str, ...] = ()
    legs: Mapping[Leg, tuple[Ranked, ...]] | None = None
    left_out: tuple[LeftOut, ...] = ()
    injected: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    tokens: int = 0
    strict: bool = False
    stale: bool = False
    degraded: tuple[str, ...] = ()
    millis: Mapping[str, float] | None = None
