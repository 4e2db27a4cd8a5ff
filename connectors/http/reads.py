"""The routes that read: recall, memories, questions, receipts, outcomes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from connectors.http import models, views
from connectors.http.body import parsed, read_json
from connectors.http.caller import After, At, Called, found, json, path_id, query_time
from connectors.http.ports import Listing
from connectors.http.schema import errors, takes
from tables.candidate import Kind
from tables.context import Knowledge, Message, Purpose, RecallRequest
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, checked_id
from tables.memory import Status
from tables.turn import checked_text, parse_time

router: Final = APIRouter()
PAGE_MAX: Final = 300

KindName = Literal[
    "identity", "health", "boundary", "value", "preference", "commitment", "fact", "task", "plan"
]  # fmt: skip


@router.post(
    "/v1/recall",
    summary="The right memories for a question",
    description="Scope first, similarity second. Sections of whole items within `max_tokens`, and a prompt in which "
    "memory is quoted data. `degraded` says what was away; nothing is guessed at then.",
    tags=["recall"],
    responses={200: {"model": models.RecallAnswer}, **errors(400, 401, 403, 413, 415, 422)},
    openapi_extra=takes(models.RecallBody),
)
async def recall(request: Request, caller: Called) -> Response:
    body = parsed(models.RecallBody, await read_json(request))
    scope = caller.scope(body.user_id, body.tenant_id)
    context = await caller.services.recalls.recall(scope, _recall_request(body, caller.after(body.after)))
    return json(views.recall_of(context))


@router.get(
    "/v1/memories",
    summary="What is remembered of a user",
    description="Newest first, a page at a time. Drafts only if asked for; what is being erased never.",
    tags=["memories"],
    responses={200: {"model": models.PageAnswer}, **errors(401, 403, 422, 503)},
)
async def list_memories(
    caller: Called,
    status: Annotated[Literal["active", "superseded", "expired"], Query()] = "active",
    drafts: Annotated[bool, Query(description="Drafts too: what is not yet sure enough to be recalled.")] = False,
    type: Annotated[list[KindName] | None, Query(description="Of these types only.")] = None,  # noqa: A002
    task_id: Annotated[str | None, Query(description='Of this task only; "" = of no task.')] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = 100,
    cursor: Annotated[str, Query(max_length=512, description="From the page before.")] = "",
    at: At = None,
    after: After = None,
) -> Response:
    listing = Listing(
        status=Status(status),
        drafts=drafts,
        kinds=tuple(Kind(name) for name in type or ()),
        task=task_id,
        limit=limit,
        cursor=cursor,
        at=query_time(at),
        after=caller.after(after),
    )
    return json(views.page_of(await caller.services.memories.listed(caller.scope(), listing)))


@router.get(
    "/v1/memories/{memory_id:path}",
    summary="One memory",
    description="404 for one that does not exist, is not yours, or is being erased: the three are never told apart.",
    tags=["memories"],
    responses={200: {"model": models.MemoryAnswer}, **errors(401, 403, 404, 422, 503)},
)
async def get_memory(caller: Called, memory_id: str) -> Response:
    memory = await caller.services.memories.memory(caller.scope(), memory_id)
    return found(None if memory is None else views.memory_of(memory))


@router.get(
    "/v1/questions",
    summary="Open conflicts to ask the user about",
    description="Answer one with a `confirm` or `reject` command.",
    tags=["memories"],
    responses={200: {"model": models.QuestionsAnswer}, **errors(401, 403, 422, 503)},
)
async def list_questions(caller: Called, after: After = None) -> Response:
    asked = await caller.services.memories.questions(caller.scope(), caller.after(after))
    return json({"questions": [views.question_of(q) for q in asked.questions], "stale": asked.stale})


@router.get(
    "/v1/commands/{request_id:path}",
    summary="How a command ended",
    description="Kept 24 hours. 404 until the worker has it, and for a request that is not yours.",
    tags=["commands"],
    responses={200: {"model": models.OutcomeAnswer}, **errors(401, 403, 404, 422, 503)},
)
async def get_outcome(request: Request, caller: Called, request_id: str) -> Response:
    name = path_id(request, request_id, "request_id")
    outcome = await caller.services.doors.outcome(caller.identity, caller.scope_or_tenant(), name)
    return found(None if outcome is None else views.outcome_of(outcome, name))


@router.get(
    "/v1/erasures/{request_id:path}",
    summary="The receipt of an erasure",
    description="Copy by copy what was found before and after, and which back-queries say so. It holds no content.",
    tags=["erasures"],
    responses={200: {"model": models.ReceiptAnswer}, **errors(401, 403, 404, 422, 503)},
)
async def get_receipt(request: Request, caller: Called, request_id: str) -> Response:
    name = path_id(request, request_id, "request_id")
    receipt = await caller.services.doors.receipt(caller.scope_or_tenant(), name)
    return found(None if receipt is None else views.receipt_of(receipt, name))


def _recall_request(body: models.RecallBody, after: tuple[Position, ...]) -> RecallRequest:
    return RecallRequest(
        query=checked_text(body.query, "query"),
        session=checked_id(body.session_id, "session_id"),
        task=checked_id(body.task_id, "task_id") if body.task_id else "",
        topic=checked_id(body.topic, "topic") if body.topic else "",
        messages=tuple(_message(m, f"messages.{n}") for n, m in enumerate(body.messages)),
        knowledge=tuple(_knowledge(k, f"knowledge.{n}") for n, k in enumerate(body.knowledge)),
        max_tokens=body.max_tokens,
        strict=body.strict,
        at=body.at,
        as_of=body.as_of,
        after=after,
        purpose=Purpose(body.purpose),
        render=body.render,
    )


def _message(body: models.MessageBody, field: str) -> Message:
    return Message(body.role, checked_text(body.content, field), _time(body.at, field), _id(body.id, field))


def _knowledge(body: str | models.KnowledgeBody, field: str) -> Knowledge:
    if isinstance(body, str):
        return Knowledge(checked_text(body, field))
    return Knowledge(checked_text(body.content, field), _id(body.id, field), _time(body.at, field))


def _time(value: Any, field: str) -> int:
    return 0 if value is None else parse_time(value, field)[0]


def _id(value: str | None, field: str) -> str:
    if value == "":
        raise InvalidRecord(BadRecord.BAD_ID, field)
    return "" if value is None else checked_id(value, field)
