"""The two long-running processes: a worker and the API."""

from __future__ import annotations

import socket

from streams.settings import Settings, load
from tables.errors import Misconfigured


def worker() -> None:
    """Run one worker until SIGTERM or Ctrl-C; start as many as there are partitions to share the load.

    Logs are JSON lines on standard error; `/healthz`, `/readyz` and `/metrics` are on TWINSLUICE_WORKER_PORT. Each
    worker of one machine needs its own TWINSLUICE_WORKER_ID, TWINSLUICE_WORKER_PORT and TWINSLUICE_DATA.

    \b
    python -m streams worker
    TWINSLUICE_WORKER_ID=w2 TWINSLUICE_WORKER_PORT=8082 TWINSLUICE_DATA=.local/w2 python -m streams worker
    """
    settings = load()
    from streams.commands import logs

    logs.set_up(settings.log_level)
    _make(settings)
    from streams.app import run

    run(settings)


def api() -> None:
    """Run the API until SIGTERM or Ctrl-C. It describes itself at `/openapi.json`.

    \b
    python -m streams api
    curl -s localhost:8080/readyz
    """
    settings = load()
    from streams.commands import logs

    logs.set_up(settings.log_level)
    import uvicorn

    from streams.api import create

    door = _listen(settings)
    config = uvicorn.Config(
        create(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    uvicorn.Server(config).run(sockets=[door])


def _make(settings: Settings) -> None:
    """The folder of the tables. Raises Misconfigured."""
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(f"{settings.data} cannot be made ({error.strerror}): set TWINSLUICE_DATA") from error


def _listen(settings: Settings) -> socket.socket:
    """The bound socket. Raises Misconfigured when the address is taken or not this machine's."""
    family = socket.AF_INET6 if ":" in settings.api_host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((settings.api_host, settings.api_port))
    except OSError as error:
        door.close()
        raise Misconfigured(
            f"{settings.api_host}:{settings.api_port} cannot be listened on ({error.strerror}): "
            f"set TWINSLUICE_API_HOST and TWINSLUICE_API_PORT"
        ) from error
    return door
