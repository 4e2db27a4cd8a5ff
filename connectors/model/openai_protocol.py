"""The wire of an OpenAI-compatible chat endpoint, without the wire: request bytes, and what an answer says.

Answers are read strictly: JSON of exactly our schema, finished, from one choice. Anything else is `UNREADABLE`, also an
empty answer; only a well-formed list without facts means that nothing was found. No value of an answer is ever shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from connectors.codec import parse_json, to_json
from tables.candidate import Kind, Polarity
from tables.errors import InvalidRecord
from tables.openai_prompt import Lasts, messages, schema
from tables.openai_reading import Fact
from tables.turn import Turn

RETRY_AFTER_MAX: Final = 600.0  # seconds: whoever says more is asked again after ten minutes all the same
_SCHEMA: Final = {"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": schema()}}
_SETTINGS_AT_FAULT: Final = frozenset({401, 402, 404, 405, 407, 410, 501})
_PASSING: Final = frozenset({408, 409, 425})


class Outcome(StrEnum):
    """How a call went: the closed set, also the label of its metric."""

    READ = "read"
    THROTTLED = "throttled"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"  # refused, cut, no such host, no TLS
    SERVER_ERROR = "server_error"
    DENIED = "denied"  # key, model, address or account: every turn would be denied
    REJECTED = "rejected"  # this request was: the turn is to blame, or the settings are
    UNREADABLE = "unreadable"  # an answer that does not keep to the schema
    DECLINED = "declined"  # the model would not answer
    HELD = "held"  # not called: the breaker is open, or the endpoint asked for rest


@dataclass(frozen=True, slots=True)
class Reply:
    """`retry_after` in seconds, 0.0 when the endpoint did not say; `status` 0 when there was no answer."""

    outcome: Outcome
    facts: tuple[Fact, ...] = ()
    retry_after: float = 0.0
    status: int = 0


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class _Fact(_Strict):
    kind: Kind
    slot: str
    object: str | None
    subject: str
    value: str
    polarity: Polarity
    time: Lasts
    until: date | None
    confidence: float
    quote: str


class _Answer(_Strict):
    facts: tuple[_Fact, ...]


def request(model: str, turn: Turn, text: str) -> bytes:
    """The body of the call for a turn. The same turn, text and model give the same bytes."""
    body = {"model": model, "messages": messages(turn, text), "temperature": 0, "response_format": _SCHEMA}
    return to_json(body)


def reply(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Reply:
    """What an answer says. `headers` with lower-case names; `now` in epoch seconds, for a Retry-After with a date."""
    if 200 <= status < 300:
        outcome, facts = _facts(body)
        return Reply(outcome, facts, 0.0, status)
    return Reply(_failure(status), (), retry_after(headers.get("retry-after", ""), now), status)


def retry_after(value: str, now: float) -> float:
    """Seconds to wait by a Retry-After header, in seconds or as a date; 0.0 for none and for nonsense."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), RETRY_AFTER_MAX) if math.isfinite(seconds) else 0.0


def _failure(status: int) -> Outcome:
    if status == 429:
        return Outcome.THROTTLED
    if status in _SETTINGS_AT_FAULT or 300 <= status < 400:
        return Outcome.DENIED
    if status in _PASSING or status >= 500:
        return Outcome.SERVER_ERROR
    return Outcome.REJECTED if 400 <= status < 500 else Outcome.UNREADABLE


def _facts(body: bytes) -> tuple[Outcome, tuple[Fact, ...]]:
    choice = _choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        return Outcome.UNREADABLE, ()
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return Outcome.DECLINED, ()
    content = message.get("content")
    if not isinstance(content, str) or choice.get("finish_reason") == "length":
        return Outcome.UNREADABLE, ()
    try:
        answer = _Answer.model_validate_json(content)
    except ValidationError:
        return Outcome.UNREADABLE, ()
    return Outcome.READ, tuple(_fact(fact) for fact in answer.facts)


def _choice(body: bytes) -> dict[str, Any]:
    """The first choice of an answer; {} when it has none."""
    try:
        data = parse_json(body)
    except InvalidRecord:
        return {}
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _fact(said: _Fact) -> Fact:
    return Fact(
        kind=said.kind,
        subject=said.subject,
        slot=said.slot,
        object=said.object or "",
        value=said.value,
        polarity=said.polarity,
        time=said.time,
        until=said.until,
        confidence=said.confidence,
        quote=said.quote,
    )
