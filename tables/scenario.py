"""Scenarios: what is played on the engine and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tables.errors import BadRecord, InvalidRecord
from tables.expectation import Expectation
from tables.policy import Policy


class Group(StrEnum):
    RECENT_REFERENCE = "recent_reference"
    BACK_TO_TOPIC = "back_to_topic"
    PREFERENCE_UPDATE = "preference_update"
    SIMILAR_TASK = "similar_task"
    EXPIRY_NEW_CONVERSATION = "expiry_new_conversation"
    DELETION = "deletion"
    CROSS_USER = "cross_user"
    GATE_BOUNDED = "gate_bounded"
    GATE_FROZEN = "gate_frozen"
    WRITE_POLICY = "write_policy"


class Risk(StrEnum):
    NORMAL = "normal"
    HIGH = "high"


class Order(StrEnum):
    """What a `command` step orders."""

    CONFIRM = "confirm"
    REJECT = "reject"
    CORRECT = "correct"
    DELETE = "delete"
    RESET = "reset"
    PIN = "pin"
    UNPIN = "unpin"
    FEEDBACK = "feedback"
    CONSENT = "consent"
    REVIEW = "review"
    CLOSE_TASK = "close_task"
    SYSTEM_UPDATE = "system_update"


@dataclass(frozen=True, slots=True)
class Place:
    """Who and where a step is; "" = none."""

    tenant: str
    user: str
    session: str
    task: str
    topic: str


@dataclass(frozen=True, slots=True)
class Moment:
    """`number` of the step, from 1; `at` epoch ms and as it was written, with its offset."""

    number: int
    at: int
    said_at: str
    zone_minutes: int


@dataclass(frozen=True, slots=True)
class TurnStep:
    moment: Moment
    place: Place
    role: str
    text: str
    id: str = ""
    consent: bool | None = None
    minor: bool | None = None


@dataclass(frozen=True, slots=True)
class RecallStep:
    """`max_tokens` None = the engine's default; `as_of` "" = now."""

    moment: Moment
    place: Place
    query: str
    expected: tuple[Expectation, ...] = ()
    knowledge: tuple[str, ...] = ()
    strict: bool = False
    as_of: str = ""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ListStep:
    moment: Moment
    place: Place
    expected: tuple[Expectation, ...] = ()
    drafts: bool = False


@dataclass(frozen=True, slots=True)
class CommandStep:
    """`match` "" selects everything that the order looks at; `reach` is the key `scope`, `of_kind` the key `kind`."""

    moment: Moment
    place: Place
    order: Order
    match: str = ""
    reach: str = ""
    text: str = ""
    allow: bool | None = None
    of_kind: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class WaitStep:
    """The clock stands at `moment.at` afterwards."""

    moment: Moment


Step = TurnStep | RecallStep | ListStep | CommandStep | WaitStep


@dataclass(frozen=True, slots=True)
class Scenario:
    id: str
    group: Group
    lang: str
    risk: Risk
    policy: Policy
    steps: tuple[Step, ...]


class BadScenario(InvalidRecord):
    """The file can never be played. Its author: mend what the message names, `FILE: scenario id, step n: …`."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(BadRecord.BAD_VALUE, where)
        self.args = (f"{where}: {problem}",)
