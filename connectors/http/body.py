"""Bodies: bounded while they stream in, JSON by one strict parser, then the fields of one model."""

from __future__ import annotations

import asyncio
from typing import Final, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from connectors.codec import parse_json
from connectors.http.problems import Problem, answer, of_validation

BODY_BYTES_MAX: Final = 1024 * 1024
DRAINED_BYTES_MAX: Final = 64 * 1024 * 1024
BODY_SECONDS: Final = 10.0  # a body that trickles in must not hold a connection for ever

M = TypeVar("M", bound=BaseModel)


class BoundedBody:
    """ASGI middleware: reads the body up to the limit before the application sees the request; beyond it, 413.

    What is too large is read on and thrown away, within bounds: a connection that is closed while the client still
    sends is reset, and the client never sees why.
    """

    def __init__(self, app: ASGIApp, limit: int = BODY_BYTES_MAX, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            await answer(Problem("slow-body", {"Connection": "close"}))(scope, receive, send)
            return
        if body is None:
            problem = Problem("too-large", {"Connection": "close"}, limit=self._limit)
            await answer(problem)(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body, or None when it is too large, whatever Content-Length says. Never holds more than that."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        too_large = declared.isdigit() and (len(declared) > 18 or int(declared) > self._limit)
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":  # the client went away: let the application notice
                return None if too_large else b"".join(chunks)
            chunk = message.get("body", b"")
            size += len(chunk)
            too_large = too_large or size > self._limit
            if too_large:
                chunks.clear()
            else:
                chunks.append(chunk)
            if not message.get("more_body", False) or size > DRAINED_BYTES_MAX:
                return None if too_large else b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def once() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


async def read_json(request: Request) -> object:
    """The JSON value of the body. Raises Problem(415), InvalidRecord(NOT_JSON | BAD_TEXT)."""
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Problem("unsupported-media-type")
    return parse_json(await request.body())


def parsed(model: type[M], data: object) -> M:
    """`data` as `model`. Raises Problem(422) naming fields, never values."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise of_validation([dict(e) for e in error.errors(include_input=False, include_url=False)]) from None
