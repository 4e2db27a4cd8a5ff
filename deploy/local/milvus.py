"""Milvus Lite on one machine: starts the daemon of `deploy.local.milvus_daemon`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from deploy.local.ports import Port
from deploy.local.process import Command, Part
from deploy.local.run import Run, python

READY_SECONDS = 60.0  # opening many collections takes seconds
STOP_SECONDS = 30.0  # closing writes out what is in memory and lets a running compaction end


class MilvusServer:
    """The daemon and its data."""

    name = "milvus"

    def __init__(self, folder: Path, port: Port) -> None:
        self._folder = folder
        self._port = port

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when the daemon has answered itself."""
        say("starting Milvus Lite")
        self._folder.mkdir(parents=True, exist_ok=True)
        port, owner = str(self._port.give()), str(os.getpid())
        arguments = python("deploy.local.milvus_daemon", "--data", str(self._folder), "--port", port, "--owner", owner)
        part = run.start(Command(self.name, arguments, stop_seconds=STOP_SECONDS))
        ready = f"READY {port}\n".encode()
        part.wait_ready(lambda: part.said(ready), READY_SECONDS, run.cancelled)
        return part
