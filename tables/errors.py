"""The four failures of Twinsluice; there is no fifth.

    Failure
    ├── InvalidRecord    the input can never be right: dead-letter it (or answer 4xx), never retry
    ├── Unavailable      an engine is away or slow: back off, keep the order, try again
    └── Misconfigured    the settings cannot work: do not start
    (anything else is a bug: let it crash, the log replays it)

A refusal by a law (a gate, a conflict) is a value with a reason, never an exception.
No message carries content: facts are attributes, and reasons come from closed sets.
"""

from __future__ import annotations

from enum import StrEnum


class BadRecord(StrEnum):
    """Why a record can never be processed: the closed set of dead-letter reasons."""

    NOT_JSON = "not_json"
    NULL_VALUE = "null_value"
    WRONG_TYPE = "wrong_type"
    MISSING_FIELD = "missing_field"
    UNKNOWN_VERSION = "unknown_version"
    TOO_LARGE = "too_large"
    BLANK_CONTENT = "blank_content"
    BAD_TEXT = "bad_text"  # lone surrogates, NUL
    BAD_ID = "bad_id"
    BAD_TIME = "bad_time"  # not a time, no offset, before 2000 or after 2100
    FUTURE_TIME = "future_time"  # wall clock tenants: more than 5 minutes ahead
    KEY_MISMATCH = "key_mismatch"
    UNKNOWN_TENANT = "unknown_tenant"
    UNSIGNED = "unsigned"
    BAD_SIGNATURE = "bad_signature"
    UNKNOWN_KIND = "unknown_kind"
    BAD_VALUE = "bad_value"
    EXTRACTION_FAILED = "extraction_failed"


class Failure(Exception):
    """Root of the tree; never raised itself."""


class InvalidRecord(Failure):
    """The record can never be right. Operator: read the reason, mend the producer, send the dead letter back."""

    def __init__(self, reason: BadRecord, field: str = "") -> None:
        super().__init__(f"{reason.value}: {field}" if field else reason.value)
        self.reason = reason
        self.field = field


class Unavailable(Failure):
    """An engine is away. Operator: look at that engine; nothing is lost while the step waits."""

    def __init__(self, engine: str, retry_after_seconds: float = 1.0) -> None:
        super().__init__(f"{engine} is unavailable")
        self.engine = engine
        self.retry_after_seconds = retry_after_seconds


class Misconfigured(Failure):
    """The settings cannot work. Operator: do what the message says, then start again."""
