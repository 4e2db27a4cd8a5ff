"""A real HTTP server on loopback that speaks the chat protocol, well and badly, as it is told for each turn."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.model.openai import Openai
from connectors.model.openai_config import OpenaiConfig

KEY = "sk-secret"
FACT = {
    "kind": "preference",
    "slot": "preference.likes",
    "object": None,
    "subject": "self",
    "value": "",
    "polarity": "pos",
    "time": "lasting",
    "until": None,
    "confidence": 0.95,
    "quote": "",
}


def fact(quote: str, value: str, **fields: Any) -> dict[str, Any]:
    return FACT | {"quote": quote, "value": value} | fields


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def text(self) -> str:
        """The turn in the user message."""
        quoted = self.body["messages"][1]["content"]
        return str(json.loads(quoted[quoted.index("{") :])["turn"])


Act = Callable[[asyncio.StreamWriter], Awaitable[None]]


def http(status: int, body: bytes, **headers: str) -> Act:
    """An answer, whole."""

    async def act(writer: asyncio.StreamWriter) -> None:
        named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{named}\r\n"
        writer.write(head.encode() + body)

    return act


def content(text: str | None, finish: str = "stop", **message: Any) -> Act:
    """A chat completion whose message says `text`."""
    said = {"role": "assistant", "content": text, **message}
    choices = [{"index": 0, "finish_reason": finish, "message": said}]
    return http(200, json.dumps({"object": "chat.completion", "choices": choices}).encode())


def facts(*some: Mapping[str, Any]) -> Act:
    return content(json.dumps({"facts": some}, ensure_ascii=False))


def status(code: int, **headers: str) -> Act:
    """An error as such servers put it, the key and the turn in its message."""
    return http(code, b'{"error": {"message": "sk-secret I love jazz", "type": "x"}}', **headers)


async def cut(writer: asyncio.StreamWriter) -> None:
    """The connection breaks in the middle of the body."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + b'{"choices": [')
    await writer.drain()
    writer.transport.abort()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """The connection breaks before a byte of the answer."""
    writer.transport.abort()


async def silent(_: asyncio.StreamWriter) -> None:
    """Nothing comes; the connection stays."""
    await asyncio.sleep(30)


async def dripping(writer: asyncio.StreamWriter) -> None:
    """A byte now and then: never silent for long, never done."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n")
    for _ in range(900):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless(writer: asyncio.StreamWriter) -> None:
    """A body that does not end, as fast as it is taken."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b" " * 65_536)
        await writer.drain()


@dataclass
class Server:
    """`tell` says how the next requests for a turn are answered; the last act stays. Unknown turns have no facts."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    delay: float = 0.0
    _acts: dict[str, deque[Act]] = field(default_factory=lambda: defaultdict(deque))
    _rest: deque[Act] = field(default_factory=lambda: deque([facts()]))

    def tell(self, text: str, *acts: Act) -> None:
        self._acts[text] = deque(acts)

    def tell_all(self, *acts: Act) -> None:
        """How every turn without words of its own is answered."""
        self._rest = deque(acts)

    def calls(self, text: str | None = None) -> int:
        """How often it was asked for that turn, or at all."""
        return sum(text is None or one.text == text for one in self.asked)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                asked = await _request(reader)
                self.asked.append(asked)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    await asyncio.sleep(self.delay)
                    await self._next(asked.text)(writer)
                    await writer.drain()
                finally:
                    self.at_once -= 1
        writer.close()

    def _next(self, text: str) -> Act:
        acts = self._acts[text] or self._rest
        return acts.popleft() if len(acts) > 1 else acts[0]


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return Asked(first.split(" ")[1], headers, await reader.readexactly(int(headers["content-length"])))


@asynccontextmanager
async def running() -> AsyncIterator[Server]:
    """A server on a free loopback port; every connection is closed at the end."""
    server = Server()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def config(server: Server, **fields: Any) -> OpenaiConfig:
    """Quick pauses, so that tests are quick."""
    base = OpenaiConfig(server.url, "some-model", KEY, timeout_seconds=0.5, pause_seconds=0.001, open_seconds=0.02)
    return replace(base, **fields)


@asynccontextmanager
async def opened(settings: OpenaiConfig, **more: Any) -> AsyncIterator[Openai]:
    extractor = Openai(settings, **more)
    try:
        yield extractor
    finally:
        await extractor.close()
