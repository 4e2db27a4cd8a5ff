"""Our values as the API shows them: times as RFC 3339, 0 as null, ids as the client knows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from connectors.http.ports import Accepted, Page
from connectors.signing import shown_request_id
from tables.command import Outcome
from tables.context import SECTIONS, Context, Item
from tables.memory import Memory, Source
from tables.question import Question
from tables.receipt import Receipt

Plain = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(at: int) -> str | None:
    if not at:
        return None
    return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def recall_of(context: Context) -> Plain:
    return {
        "trace_id": context.trace_id,
        "at": time_of(context.at),
        "sections": {s.value: [item_of(item) for item in context.assembled.sections.get(s, ())] for s in SECTIONS},
        "questions": [question_of(question) for question in context.questions],
        "prompt": context.prompt or None,
        "lang": context.lang,
        "tokens": context.assembled.tokens,
        "max_tokens": context.max_tokens,
        "profile_version": context.profile_version,
        "stale": context.stale,
        "degraded": bool(context.degraded),
        "degraded_parts": list(context.degraded),
    }


def item_of(item: Item) -> Plain:
    parts = item.parts
    return {
        "id": item.id or item.key,
        "type": item.kind,
        "origin": item.origin.value,
        "confirmation": item.confirmation,
        "confidence": item.confidence,
        "at": time_of(item.at),
        "content": item.content,
        "tokens": item.tokens,
        "score": round(parts.score, 6) if parts else None,
        "parts": None
        if parts is None
        else {
            "relevance": parts.relevance,
            "scope": parts.scope,
            "recency": parts.recency,
            "source": parts.source,
        },
    }


def memory_of(memory: Memory) -> Plain:
    return {
        "id": memory.id,
        "type": memory.kind.value,
        "subject": memory.subject,
        "slot": memory.slot,
        "value": memory.value,
        "polarity": memory.polarity.value,
        "content": memory.content,
        "status": memory.status.value,
        "state": memory.state.value,
        "freeze": memory.freeze.value,
        "pin": memory.pin.value,
        "sensitivity": memory.sensitivity.value,
        "session_id": memory.session,
        "task_id": memory.task,
        "topic": memory.topic,
        "source_ids": [source.turn_id or source.turn for source in memory.sources],
        "sources": [source_of(source) for source in memory.sources],
        "created_at": time_of(memory.created_at),
        "updated_at": time_of(memory.updated_at),
        "expires_at": time_of(memory.expires_at),
        "last_mentioned_at": time_of(memory.last_mentioned_at),
        "last_access_at": time_of(memory.last_access_at),
        "hits": memory.hits,
        "version": memory.version,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "confirmation": memory.confirmation.value,
        "lang": memory.lang,
        "tokens": memory.tokens,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
    }


def source_of(source: Source) -> Plain:
    return {
        "turn": source.turn,
        "turn_id": source.turn_id,
        "session_id": source.session,
        "at": time_of(source.at),
        "confidence": source.confidence,
        "explicit": source.explicit,
    }


def page_of(page: Page) -> Plain:
    return {
        "memories": [memory_of(memory) for memory in page.memories],
        "cursor": page.cursor or None,
        "profile_version": page.profile_version,
        "stale": page.stale,
    }


def question_of(question: Question) -> Plain:
    return {
        "id": question.id,
        "kind": question.kind.value,
        "memory_id": question.memory_id,
        "text": question.text,
        "held": question.held,
        "proposed": question.proposed.content,
        "lang": question.lang,
        "status": question.status.value,
        "asked_at": time_of(question.asked_at),
    }


def outcome_of(outcome: Outcome, given: str = "") -> Plain:
    """`given`: the request id as the client has just written it, "" when it gave none."""
    return {
        "request_id": shown_request_id(outcome.request_id, given),
        "result": outcome.result.value,
        "reason": outcome.reason,
        "memory_ids": list(outcome.memory_ids),
        "version": outcome.version,
        "at": time_of(outcome.at),
    }


def receipt_of(receipt: Receipt, given: str = "") -> Plain:
    return {
        "request_id": shown_request_id(receipt.request_id, given),
        "reach": receipt.reach,
        "state": receipt.state.value,
        "asked_at": time_of(receipt.asked_at),
        "finished_at": time_of(receipt.finished_at),
        "attempts": receipt.attempts,
        "memories": receipt.memories,
        "copies": [
            {
                "copy": copy.copy,
                "before": copy.before,
                "after": copy.after,
                "queries": [{"name": query.name, "found": query.found} for query in copy.queries],
                "physical": copy.physical.value,
                "until": time_of(copy.until),
            }
            for copy in receipt.copies
        ],
    }


def accepted_of(accepted: Accepted, token: str, given: str = "") -> Plain:
    body: Plain = {"token": token}
    if accepted.request_id:
        body |= {"request_id": shown_request_id(accepted.request_id, given), "bus_id": accepted.request_id}
    if accepted.outcome is not None:
        body["outcome"] = outcome_of(accepted.outcome, given)
    if accepted.receipt is not None:
        body["receipt"] = receipt_of(accepted.receipt, given)
    return body
