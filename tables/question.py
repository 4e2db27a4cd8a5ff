"""Open conflicts to ask the user about: a question never changes a memory, its answer does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tables.candidate import Candidate


class QuestionKind(StrEnum):
    CONTRADICTION = "contradiction"
    SUSPECTED = "suspected"
    PREFERENCE_CHANGE = "preference_change"
    CONFIRM_DRAFT = "confirm_draft"
    CONSENT_NEEDED = "consent_needed"
    KNOWLEDGE_CONFLICT = "knowledge_conflict"


class QuestionStatus(StrEnum):
    OPEN = "open"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Question:
    """`memory_id` is what would change, `held` what it says, `proposed` what was said; `text` asks in `lang`."""

    id: str
    kind: QuestionKind
    memory_id: str
    held: str
    proposed: Candidate
    text: str
    lang: str
    asked_at: int
    status: QuestionStatus = QuestionStatus.OPEN
    answered_at: int = 0
