"""Apache Kafka on one machine: a single KRaft node on loopback."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import shutil
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from deploy.local import jars
from deploy.local.class_archive import ClassArchive
from deploy.local.errors import JarsUnavailable, PartFailed
from deploy.local.java import Java, find_java
from deploy.local.ports import HOST, Port
from deploy.local.process import Command, Part
from deploy.local.run import Run, python

READY_SECONDS = 60.0
FORMAT_SECONDS = 60.0
FETCH_SECONDS = 600.0
STOP_SECONDS = 20.0  # the first stop on a machine also writes the class archive
# Heap and collector must be the same in every call, or the class archive of one does not fit the other.
JAVA_OPTIONS = (
    "-Xms64m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
)
# Without a language set, as in many containers, Java cannot open a folder whose name is not ASCII.
ENVIRONMENT = {"LC_ALL": "C.UTF-8"}
META = "meta.properties"
_HERE = Path(__file__).resolve().parent


class KafkaServer:
    """The broker: its jars, its formatted folder, its process."""

    name = "kafka"

    def __init__(self, folder: Path, client_port: Port, control_port: Port, partitions: int) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._client_port = client_port
        self._control_port = control_port
        self._partitions = partitions
        self._java: Java | None = None

    def start(self, run: Run, say: Callable[[str], None]) -> Part:
        """Returns when the broker has answered a metadata request."""
        java = self._java = self._java or find_java()
        archive = ClassArchive(jars.cache_folder(), java)
        classes = self._provide_jars(run, say)
        archive.make_base(JAVA_OPTIONS)
        if not (self._data / META).exists():
            say("formatting its storage")
            self._format(run, self._java_command(java, classes, archive.use()))
        say(f"starting on {java}")
        command = Command(
            self.name,
            (
                *self._java_command(java, classes, archive.use() + archive.record()),
                "kafka.Kafka",
                str(self._configure(self._data, self._client_port.give(), self._control_port.give())),
            ),
            ENVIRONMENT,
            stop_seconds=STOP_SECONDS,
            after=archive.keep,
        )
        part = run.start(command)
        part.wait_ready(lambda: has_metadata(self._client_port.number), READY_SECONDS, run.cancelled)
        return part

    def _provide_jars(self, run: Run, say: Callable[[str], None]) -> Path:
        folder = jars.jars_folder()
        if not jars.are_there(folder):
            say("fetching its jars (43 MB, once)")
            try:
                run.do(Command("kafka-jars", python("deploy.local.jars", str(folder))), FETCH_SECONDS, say)
            except PartFailed as failure:
                raise JarsUnavailable(f"Kafka's jars are not to be had. {failure}") from failure
        return folder

    def _java_command(self, java: Java, classes: Path, sharing: tuple[str, ...]) -> tuple[str, ...]:
        # In a fixed order and each by name: a class archive fits only the class path it was made with.
        class_path = os.pathsep.join(str(classes / name) for name in sorted(jars.expected()))
        logging = f"-Dlog4j2.configurationFile={_HERE / 'log4j2.properties'}"
        return (str(java.path), *JAVA_OPTIONS, *sharing, logging, "-cp", class_path)

    def _format(self, run: Run, java_command: tuple[str, ...]) -> None:
        """Formats beside and renames, so that a folder with meta.properties is always a whole one.

        What Kafka's tool writes is the same every time but for two names, so the next folder is made from a copy: a
        Java less to start.
        """
        new, blank = self._folder / "data.new", jars.cache_folder() / f"kafka-{jars.VERSION}.blank"
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(self._data, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        if (blank / META).exists():
            shutil.copytree(blank, new)
            (new / META).write_text(f"version=1\ncluster.id={_name()}\nnode.id=1\ndirectory.id={_name()}\n")
        else:
            self._format_by_tool(run, java_command, new)
            _keep(new, blank)
        new.rename(self._data)

    def _format_by_tool(self, run: Run, java_command: tuple[str, ...], new: Path) -> None:
        configuration = str(self._configure(new, self._client_port.number, self._control_port.number))
        tool = ("kafka.tools.StorageTool", "format", "-t", _name(), "-c", configuration)
        run.do(Command("kafka-format", (*java_command, *tool), ENVIRONMENT), FORMAT_SECONDS)

    def _configure(self, data: Path, client_port: int, control_port: int) -> Path:
        path = self._folder / "server.properties"
        settings = configuration(data, client_port, control_port, self._partitions)
        path.write_text("".join(f"{name}={_escaped(value)}\n" for name, value in settings.items()), "ascii")
        return path


def _name() -> str:
    """A fresh name of a cluster or folder, as Kafka writes its UUIDs: a leading "-" would be taken for an option."""
    return base64.urlsafe_b64encode(b"tw" + secrets.token_bytes(14)).decode().rstrip("=")


def _keep(formatted: Path, blank: Path) -> None:
    """A copy for later folders, in one step; without one they are formatted by the tool again."""
    partial = blank.with_name(f"{blank.name}.{secrets.token_hex(4)}.partial")
    with contextlib.suppress(OSError):
        shutil.copytree(formatted, partial)
        partial.rename(blank)
    shutil.rmtree(partial, ignore_errors=True)


def configuration(data: Path, client_port: int, control_port: int, partitions: int) -> dict[str, str]:
    """The broker's settings: small, strict as a production cluster where that can be seen, and quick to start."""
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{control_port}",
        "listeners": f"PLAINTEXT://{HOST}:{client_port},CONTROLLER://{HOST}:{control_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{client_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
        # What producers and consumers meet.
        "auto.create.topics.enable": "false",
        "num.partitions": str(partitions),
        "message.max.bytes": str(9 * 1024**2),  # a record of 8 MiB and its envelope
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "6000",
        # A killed broker may come back only when its session is over; the default would be a wait of 9 s.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        # One node holds the only copy of everything.
        "default.replication.factor": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        # Small: the cleaner's buffer alone would take a third of the heap.
        "num.network.threads": "2",
        "num.io.threads": "2",
        "background.threads": "2",
        "log.cleaner.dedupe.buffer.size": str(4 * 1024**2),
        "log.index.size.max.bytes": str(1024**2),
    }


def _escaped(value: str) -> str:
    """A value as Java's properties files have it: Latin-1 with the rest of Unicode escaped, so plain ASCII here."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(chr(code) if code < 127 else f"\\u{code:04x}" for code in codes)


def has_metadata(port: int) -> bool:
    """Whether the broker names itself as a live broker; OSError while it does not answer.

    An open port is not enough: it opens before the broker has joined its own cluster.
    """
    metadata_key, version, correlation, client, all_topics = 3, 1, 1, b"twinsluice", -1
    request = struct.pack(">hhih", metadata_key, version, correlation, len(client)) + client
    request += struct.pack(">i", all_topics)
    with socket.create_connection((HOST, port), timeout=1) as connection:
        connection.settimeout(5)
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as answer:
            head = answer.read(12)  # length, correlation, count of brokers
    if len(head) < 12:
        return False
    brokers: int = struct.unpack(">iii", head)[2]
    return brokers > 0
