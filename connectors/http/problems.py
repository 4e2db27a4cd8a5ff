"""RFC 9457 problem details for every error of the API. `type` is a stable relative URI; what was sent is not echoed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from connectors.codec import to_json
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.identity import Denial

MEDIA_TYPE: Final = "application/problem+json"

TITLES: Final[Mapping[str, tuple[int, str]]] = {
    "not-json": (400, "The body is not JSON"),
    "unauthenticated": (401, "A valid bearer token is needed"),
    "unknown-tenant": (403, "The token's tenant is not registered here"),
    "other-tenant": (403, "The request names a tenant that is not the token's"),
    "other-user": (403, "The request names a user that is not the token's"),
    "role": (403, "The token's role may not do this"),
    "not-found": (404, "There is no such thing, or it is not yours"),
    "method-not-allowed": (405, "The method is not allowed here"),
    "slow-body": (408, "The body did not arrive in time"),
    "too-large": (413, "The body is too large"),
    "unsupported-media-type": (415, "The body must be application/json"),
    "invalid": (422, "The request can never be right as it is"),
    "no-user": (422, "This role must say for which user: user_id"),
    "internal": (500, "Something went wrong here; the request may be repeated"),
    "unavailable": (503, "A part that this needs is away; repeat the request later"),
    "not-ready": (503, "Not every part can be reached"),
}

_DENIED: Final[Mapping[Denial, str]] = {
    Denial.OTHER_TENANT: "other-tenant",
    Denial.OTHER_USER: "other-user",
    Denial.NO_USER: "no-user",
    Denial.ROLE: "role",
}
_BY_STATUS: Final[Mapping[int, str]] = {
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
    415: "unsupported-media-type",
}


class Problem(Exception):
    """An answer that is an error. `more` are extension members: closed words, field names and numbers only."""

    def __init__(self, slug: str, headers: Mapping[str, str] | None = None, **more: object) -> None:
        super().__init__(slug)
        self.slug = slug
        self.status, self.title = TITLES[slug]
        self.headers = dict(headers or {})
        self.more = more


def denied(denial: Denial) -> Problem:
    return Problem(_DENIED[denial])


def unauthenticated(reason: str) -> Problem:
    """`reason` from a closed set: what is wrong with the token, not what is in it."""
    challenge = 'Bearer realm="twinsluice"' + (', error="invalid_token"' if reason != "missing" else "")
    return Problem("unauthenticated", {"WWW-Authenticate": challenge}, reason=reason)


def of_invalid(error: InvalidRecord) -> Problem:
    if error.reason is BadRecord.UNKNOWN_TENANT:
        return Problem("unknown-tenant")
    if error.reason is BadRecord.NOT_JSON:
        return Problem("not-json")
    return Problem("invalid", errors=[{"field": error.field, "reason": error.reason.value}])


def of_unavailable(error: Unavailable) -> Problem:
    seconds = max(1, round(error.retry_after_seconds))
    return Problem("unavailable", {"Retry-After": str(seconds)}, part=error.engine)


def of_validation(errors: Sequence[Mapping[str, object]]) -> Problem:
    """Where and of what kind, never the input. Keys of the client's own making are not echoed either."""
    listed = [{"field": _where(error.get("loc")), "reason": str(error.get("type", "invalid"))} for error in errors[:20]]
    return Problem("invalid", errors=listed)


def answer(problem: Problem) -> Response:
    body: dict[str, object] = {
        "type": f"/problems/{problem.slug}",
        "title": problem.title,
        "status": problem.status,
        **problem.more,
    }
    headers = {"Cache-Control": "no-store", **problem.headers}
    return Response(to_json(body), problem.status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make every error of the framework and of ours a problem."""

    async def on_problem(_: Request, error: Exception) -> Response:
        return answer(error if isinstance(error, Problem) else Problem("internal"))

    async def on_invalid(_: Request, error: Exception) -> Response:
        return answer(of_invalid(error) if isinstance(error, InvalidRecord) else Problem("internal"))

    async def on_unavailable(_: Request, error: Exception) -> Response:
        return answer(of_unavailable(error) if isinstance(error, Unavailable) else Problem("internal"))

    async def on_validation(_: Request, error: Exception) -> Response:
        return answer(of_validation(error.errors()) if isinstance(error, RequestValidationError) else _unknown())

    async def on_http(_: Request, error: Exception) -> Response:
        return answer(_of_http(error) if isinstance(error, HTTPException) else _unknown())

    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(InvalidRecord, on_invalid)
    app.add_exception_handler(Unavailable, on_unavailable)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(HTTPException, on_http)


def _unknown() -> Problem:
    return Problem("internal")


def _of_http(error: HTTPException) -> Problem:
    slug = _BY_STATUS.get(error.status_code)
    if slug is None:
        slug = "invalid" if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR else "internal"
    return Problem(slug, error.headers)


def _where(loc: object) -> str:
    parts = loc if isinstance(loc, tuple | list) else ()
    return ".".join(str(part) for part in parts[:4] if isinstance(part, int) or str(part).isidentifier())[:80]
