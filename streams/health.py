"""A worker's own small door: is it alive, is it ready and why not, its metrics. Nothing of anybody's memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import generate_latest

from connectors.codec import to_json
from connectors.metrics import REGISTRY
from tables.errors import Misconfigured

Reasons = Callable[[], Awaitable[list[str]]]


async def serve(port: int, *, unready: Reasons, stuck: Callable[[], str]) -> web.AppRunner:
    """Serve `/healthz`, `/readyz`, `/metrics` on loopback.

    unready   why the worker cannot work now, empty when it can
    stuck     why it should be restarted, "" when it is alive: it has records and has not finished any for too long
    Raises Misconfigured when the port is taken.
    """

    async def healthz(_: web.Request) -> web.Response:
        reason = stuck()
        return _json({"status": "stuck" if reason else "ok", "reason": reason}, 503 if reason else 200)

    async def readyz(_: web.Request) -> web.Response:
        reasons = await unready()
        return _json({"status": "not ready" if reasons else "ready", "reasons": reasons}, 503 if reasons else 200)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(REGISTRY), headers={"content-type": "text/plain; version=0.0.4"})

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        raise Misconfigured(f"port {port} is taken: set TWINSLUICE_WORKER_PORT") from error
    return runner


def _json(value: object, status: int) -> web.Response:
    return web.Response(body=to_json(value), status=status, content_type="application/json")
