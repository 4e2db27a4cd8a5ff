"""A change of memory, Debezium-shaped: what downstream consumers and the outbox carry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tables.keys import Position, digest
from tables.memory import Memory


class Op(StrEnum):
    CREATE = "c"
    UPDATE = "u"
    DELETE = "d"


class Rule(StrEnum):
    """Why a memory changed, or why a candidate did not become one: the closed set of verdict reasons."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REPEATED = "repeated"  # the same statement delivered again: adds nothing
    SUPERSEDED = "superseded"
    REPLACES = "replaces"
    HISTORY = "history"  # older than the current version: enters history
    EVICTED = "evicted"
    FROZEN = "frozen"
    CONFIRMED = "confirmed"
    CORRECTED = "corrected"
    PINNED = "pinned"
    REVIEWED = "reviewed"
    EXPIRED = "expired"
    ERASED = "erased"
    PURGED = "purged"
    SYSTEM_UPDATE = "system_update"
    QUESTION = "question_opened"
    REJECTED_BEFORE = "rejected_before"
    OVER_BUDGET = "over_budget"
    TOO_LONG = "too_long"
    FENCED = "fenced"
    NO_CONSENT = "no_consent"
    SENSITIVE = "sensitive_refused"
    BEHIND = "already_applied"


@dataclass(frozen=True, slots=True)
class Change:
    """One step of one memory. `before`/`after` hold the record, None on create/delete.

    `id` is stable across retries (the event's `ce_id`); `position` is the source record that caused it; `at` its
    event time.
    """

    id: str
    op: Op
    rule: Rule
    before: Memory | None
    after: Memory | None
    at: int
    position: Position

    @property
    def memory(self) -> Memory:
        """The side that exists."""
        side = self.after if self.after is not None else self.before
        if side is None:
            raise ValueError("a change has at least one side")
        return side


def change_id(memory_id: str, version: int, op: Op, position: Position) -> str:
    """Stable across retries: the same step of the same memory caused by the same record has the same id."""
    return digest(
        "change", memory_id, str(version), op.value, position.topic, str(position.partition), str(position.offset)
    )
