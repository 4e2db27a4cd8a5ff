"""The routes that write: turns, commands, erasures. Each publishes and answers with a token, its place in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from connectors.http import models, views
from connectors.http.body import parsed, read_json
from connectors.http.caller import At, Called, Caller, Wait, json, path_id, query_time
from connectors.http.ports import Accepted, ErasureAsk
from connectors.http.problems import Problem, denied
from connectors.http.schema import errors, takes
from tables.candidate import Kind
from tables.command import CommandKind
from tables.erasure import Reach, Selector, parse_selector
from tables.errors import BadRecord, InvalidRecord
from tables.identity import Denial, may_command, may_erase
from tables.keys import Scope, checked_id

router: Final = APIRouter()

RequestId = Annotated[str | None, Query(description="Repeating it repeats nothing; the server picks one when absent.")]
_ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": models.AcceptedAnswer, "description": "Done: with the outcome or receipt"},
    202: {"model": models.AcceptedAnswer, "description": "The log has it, the worker will do it"},
}


@router.post(
    "/v1/turns",
    status_code=202,
    summary="Send turns of a conversation",
    description="One turn, or a list of at most 500 of one user; all are taken or none. Whose they are comes from the "
    "token: a body that names another tenant or user is refused.",
    tags=["turns"],
    responses={202: {"model": models.AcceptedAnswer}, **errors(400, 401, 403, 413, 415, 422, 503)},
    openapi_extra=takes(models.TurnBody, many=True),
)
async def post_turns(request: Request, caller: Called) -> Response:
    data = await read_json(request)
    listed = data if isinstance(data, list) else [data]
    bodies = [_turn(item, place) for place, item in enumerate(listed)]
    named = {(body.user_id, body.tenant_id) for body, _ in bodies}
    scopes = {caller.scope(user, tenant) for user, tenant in named} or {caller.scope()}
    if len(scopes) > 1:
        raise InvalidRecord(BadRecord.BAD_VALUE, "user_id")
    accepted = await caller.services.doors.turns(scopes.pop(), [turn for _, turn in bodies])
    return json(views.accepted_of(accepted, caller.token(accepted.positions)), 202)


@router.post(
    "/v1/commands",
    summary="Ask for a change: confirm, correct, pin, consent, reset …",
    description="Signed here and published. `review` is for reviewers, `system_update` and `tick` are for services.",
    tags=["commands"],
    responses={**_ACCEPTED, **errors(400, 401, 403, 413, 415, 422, 503)},
    openapi_extra=takes(models.CommandBody),
)
async def post_command(request: Request, caller: Called, wait: Wait = True) -> Response:
    body = parsed(models.CommandBody, await read_json(request))
    kind = CommandKind(body.kind)
    if not may_command(caller.identity.role, kind):
        raise denied(Denial.ROLE)
    if kind is CommandKind.TICK:
        scope = Scope(caller.scope_or_tenant(body.user_id, body.tenant_id).tenant, "")
    else:
        scope = caller.scope(body.user_id, body.tenant_id)
    command = body.model_dump(exclude_none=True, exclude={"user_id", "tenant_id"})
    accepted = await caller.services.doors.command(caller.identity, scope, command, wait=wait)
    return _answer(caller, accepted, body.request_id)


@router.post(
    "/v1/erasures",
    summary="Erase by any selector",
    description="Unreadable at once, erased in the background, proven by back-queries: see the receipt. `tenant` is "
    "for admins.",
    tags=["erasures"],
    responses={**_ACCEPTED, **errors(400, 401, 403, 413, 415, 422, 503)},
    openapi_extra=takes(models.ErasureBody),
)
async def post_erasure(request: Request, caller: Called, wait: Wait = True) -> Response:
    body = parsed(models.ErasureBody, await read_json(request))
    selector = parse_selector(body.selector.model_dump(exclude_none=True))
    if selector.reach is Reach.KIND and not set(selector.values) <= set(Kind):
        raise InvalidRecord(BadRecord.BAD_VALUE, "selector.values")
    if not may_erase(caller.identity.role, selector.reach):
        raise denied(Denial.ROLE)
    if selector.reach is Reach.TENANT:
        scope = Scope(caller.scope_or_tenant(body.user_id, body.tenant_id).tenant, "")
    else:
        scope = caller.scope(body.user_id, body.tenant_id)
    ask = ErasureAsk(selector, body.request_id or "", body.reason or "", body.at, wait)
    return _answer(caller, await caller.services.doors.erase(caller.identity, scope, ask), body.request_id)


@router.delete(
    "/v1/memories/{memory_id:path}",
    summary="Erase one memory",
    description="With every version of it. 404 for one that is not yours.",
    tags=["erasures"],
    responses={**_ACCEPTED, **errors(401, 403, 404, 422, 503)},
)
async def delete_memory(
    caller: Called, memory_id: str, request_id: RequestId = None, at: At = None, wait: Wait = True
) -> Response:
    if not memory_id:
        raise Problem("not-found")
    ask = _ask(Selector(Reach.MEMORY, (memory_id,)), request_id, at, wait)
    accepted = await caller.services.doors.forget(caller.identity, caller.scope(), memory_id, ask)
    if accepted is None:
        raise Problem("not-found")
    return _answer(caller, accepted, request_id)


@router.delete(
    "/v1/sessions/{session_id:path}",
    summary="Erase a session",
    description="Its window, and what was remembered from it alone. What was also said elsewhere stays.",
    tags=["erasures"],
    responses={**_ACCEPTED, **errors(401, 403, 422, 503)},
)
async def delete_session(
    request: Request, caller: Called, session_id: str, request_id: RequestId = None, at: At = None, wait: Wait = True
) -> Response:
    session = path_id(request, session_id, "session_id")
    ask = _ask(Selector(Reach.SESSION, (session,)), request_id, at, wait)
    return _answer(caller, await caller.services.doors.erase(caller.identity, caller.scope(), ask), request_id)


@router.delete(
    "/v1/user",
    summary="Erase everything of the user",
    description="Every session, every memory, every question.",
    tags=["erasures"],
    responses={**_ACCEPTED, **errors(401, 403, 422, 503)},
)
async def delete_user(caller: Called, request_id: RequestId = None, at: At = None, wait: Wait = True) -> Response:
    ask = _ask(Selector(Reach.USER), request_id, at, wait)
    return _answer(caller, await caller.services.doors.erase(caller.identity, caller.scope(), ask), request_id)


def _ask(selector: Selector, request_id: str | None, at: str | None, wait: bool) -> ErasureAsk:
    name = "" if request_id is None else checked_id(request_id, "request_id")
    return ErasureAsk(selector, name, at=query_time(at), wait=wait)


def _turn(item: object, place: int) -> tuple[models.TurnBody, Mapping[str, object]]:
    """The checked body, and what of it may go on: the fields we know, nothing else that a client may have put there."""
    try:
        body = parsed(models.TurnBody, item)
    except Problem as problem:
        listed = problem.more.get("errors")
        found = listed if isinstance(listed, list) else []
        raise Problem("invalid", errors=[{**e, "field": f"turns.{place}.{e['field']}"} for e in found]) from None
    return body, body.model_dump(exclude_none=True, exclude={"user_id", "tenant_id"})


def _answer(caller: Caller, accepted: Accepted, given: str | None) -> Response:
    done = accepted.outcome is not None or accepted.receipt is not None
    return json(views.accepted_of(accepted, caller.token(accepted.positions), given or ""), 200 if done else 202)
