"""The engine's own processes on one machine: workers and the API, from their command line `python -m streams`."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping

from deploy.local.ports import HOST, Port
from deploy.local.process import Command, Part
from deploy.local.run import Run, python

READY_SECONDS = 120.0  # a worker first replays its changelogs, about 2,000 records a second
STOP_SECONDS = 30.0  # a worker finishes the batch it is in
PROVISION_SECONDS = 60.0


class ApplicationServer:
    """A process that says on `/readyz` of its port when it can do its work."""

    def __init__(self, name: str, argv: tuple[str, ...], environment: Mapping[str, str], port: Port) -> None:
        self.name = name
        self._argv = argv
        self.environment = environment
        self._port = port

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when `/readyz` has answered 200."""
        say("starting")
        port = self._port.give()
        command = Command(self.name, self._argv, self.environment, STOP_SECONDS)
        part = run.start(command)
        part.wait_ready(lambda: is_ready(port), READY_SECONDS, run.cancelled)
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


def provision(run: Run, environment: Mapping[str, str]) -> None:
    """Creates the topics, or verifies those that are there; PartFailed with its words when it refuses."""
    run.do(Command("topics", python("streams", "topics", "--create"), environment), PROVISION_SECONDS)
