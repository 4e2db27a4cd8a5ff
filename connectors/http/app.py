"""The HTTP application: routes, the guard around them, metrics and health. It is handed everything it needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final
from weakref import WeakKeyDictionary

import structlog
from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from connectors.http import models, problems, reads, schema, writes
from connectors.http.body import BODY_BYTES_MAX, BoundedBody
from connectors.http.caller import Wiring, json
from connectors.http.ports import Services
from connectors.http.positions import PositionTokens
from connectors.http.problems import Problem, answer
from connectors.http.tokens import Verifier

log = structlog.get_logger()

VERSION: Final = "0.1.0"
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_HISTOGRAMS: Final[WeakKeyDictionary[CollectorRegistry, Histogram]] = WeakKeyDictionary()
_DESCRIPTION: Final = (
    "Long-term memory for conversation platforms: bounded, protected, current and erasable. "
    "Tenant and user come from the bearer token, never from a field. Every error is an RFC 9457 problem."
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]


def build(
    services: Services,
    verifier: Verifier,
    positions: PositionTokens,
    registry: CollectorRegistry,
    *,
    lifespan: Lifespan | None = None,
    body_bytes_max: int = BODY_BYTES_MAX,
) -> FastAPI:
    """The application over these services. `lifespan` starts and stops what the wiring has built.

    Metrics go to `registry` and are served from it at `/metrics`, together with whatever else it holds.
    """
    app = FastAPI(
        title="Twinsluice",
        version=VERSION,
        description=_DESCRIPTION,
        docs_url=None,  # the pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # "a/" is another id than "a"
        lifespan=lifespan,
    )
    app.state.wiring = Wiring(services, verifier, positions)
    app.include_router(reads.router)
    app.include_router(writes.router)
    _add_operations(app, registry)
    problems.install(app)
    schema.install(app)
    app.add_middleware(BoundedBody, limit=body_bytes_max)
    app.add_middleware(Guard, histogram=_histogram(registry))
    return app


class Guard:
    """The outermost layer: times every request and turns a bug into a problem without a word of what was sent."""

    def __init__(self, app: ASGIApp, histogram: Histogram) -> None:
        self._app = app
        self._histogram = histogram

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            log.error("request failed", route=_route(scope), error=type(error).__name__, at=_place(error))
            if status:  # half an answer is out: the connection must end, the client must not take it for whole
                raise
            await answer(Problem("internal"))(scope, receive, noting)
        finally:
            labels = (_route(scope), _method(scope), f"{status // 100}xx" if status else "gone")
            self._histogram.labels(*labels).observe(time.perf_counter() - started)


def _add_operations(app: FastAPI, registry: CollectorRegistry) -> None:
    @app.get(
        "/healthz", tags=["operations"], summary="The process answers", responses={200: {"model": models.HealthAnswer}}
    )
    async def healthz() -> Response:
        return json({"status": "ok"})

    @app.get(
        "/readyz",
        tags=["operations"],
        summary="Every part can be reached",
        responses={200: {"model": models.HealthAnswer}, **schema.errors(503)},
    )
    async def readyz(request: Request) -> Response:
        wiring: Wiring = request.app.state.wiring
        parts = dict(await wiring.services.health.ready())
        if not all(parts.values()):
            raise Problem("not-ready", parts=parts)
        return json({"status": "ready", "parts": parts})

    @app.get(
        "/metrics",
        tags=["operations"],
        summary="Prometheus metrics",
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        response_class=Response,
    )
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _histogram(registry: CollectorRegistry) -> Histogram:
    """One per registry: several applications of one process, as in tests, share it."""
    held = _HISTOGRAMS.get(registry)
    if held is None:
        held = Histogram(
            "twinsluice_http_seconds",
            "Time of one request. Rising on one route only: look at the engine behind it.",
            ["route", "method", "status"],
            buckets=_BUCKETS,
            registry=registry,
        )
        _HISTOGRAMS[registry] = held
    return held


def _route(scope: Scope) -> str:
    """The template of the route, never the path: ids are no labels."""
    return str(getattr(scope.get("route"), "path", "") or "unmatched")


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


def _place(error: BaseException) -> str:
    """Where it was raised; the message itself may quote what was said."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
