"""Sending turns: one from the command line, or a stream of them from a file."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from streams.commands.screen import print_fields, print_json, say
from streams.commands.values import now_text
from streams.settings import Settings, kafka_config, load
from tables.errors import InvalidRecord, Misconfigured
from tables.keys import Position, Scope, route
from tables.turn import Role, Turn, parse_turn

if TYPE_CHECKING:
    from connectors.kafka.producer import KafkaBus, Outgoing
    from tables.policy import Tenant

CHUNK_BYTES = 64 * 1024  # some hundred turns: sent together, awaited together
_NOWHERE = Position("", 0, 0)


@dataclass(slots=True)
class Sent:
    """What was sent: how many turns, and the last position on each partition."""

    turns: int = 0
    last: dict[int, Position] = field(default_factory=dict)
    tenants: set[str] = field(default_factory=set)

    def add(self, tenant_ids: Iterable[str], positions: Sequence[Position]) -> None:
        self.turns += len(positions)
        self.tenants.update(tenant_ids)
        for position in positions:
            self.last[position.partition] = position


def send(
    text: Annotated[str | None, typer.Argument(help="What was said.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant id.")] = None,
    user: Annotated[str | None, typer.Option(help="User id.")] = None,
    session: Annotated[str | None, typer.Option(help="Session id.")] = None,
    role: Annotated[Role, typer.Option(help="Who said it.")] = Role.USER,
    task: Annotated[str | None, typer.Option(help="Task id.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When: RFC 3339 with an offset; now by default.")
    ] = None,
    turn_id: Annotated[str | None, typer.Option("--id", help="Turn id: the same id again is the same turn.")] = None,
    file: Annotated[str | None, typer.Option(metavar="JSONL", help="A turn a line; - is standard input.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send a turn, or a file of turns, to `conversation.turns.v1`, and print where it landed.

    The token that is printed makes a recall wait until the turn has taken effect: pass it on as `after`. A line of a
    file is a JSON object with tenant_id, user_id, session_id, role, content, at (task_id, id, consent, lang); what the
    options give is put in where a line has nothing.

    \b
    python -m streams send --tenant acme --user u1 --session s1 "我平时喜欢喝无糖的奶茶"
    python -m streams send --file turns.jsonl
    jq -c '.[]' chat.json | python -m streams send --tenant acme --file -
    """
    settings = load()
    given = {"tenant_id": tenant, "user_id": user, "session_id": session, "task_id": task}
    defaults: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if (text is None) == (file is None):
        raise typer.BadParameter("give either the text of one turn or --file")
    if file is not None:
        if at is not None or turn_id is not None:
            raise typer.BadParameter("--at and --id belong to one turn, not to a file")
        sent = asyncio.run(_send_file(settings, file, {"role": role.value, **defaults}))
        _report(settings, sent, as_json, {})
        return
    data = {**defaults, "role": role.value, "content": text, "at": at or now_text(), "id": turn_id or uuid.uuid4().hex}
    sent = asyncio.run(_send_one(settings, data))
    _report(settings, sent, as_json, {"id": data["id"]})


async def _send_one(settings: Settings, data: dict[str, Any]) -> Sent:
    from streams.commands import engines

    turn = parse_turn(data, _NOWHERE)
    tenant = await engines.tenant_named(settings, turn.scope.tenant)
    sent = Sent()
    async with engines.bus(settings) as bus:
        await _deliver(bus, [(turn, _outgoing(data, turn.scope, tenant))], sent)
    return sent


async def _send_file(settings: Settings, path: str, defaults: dict[str, Any]) -> Sent:
    from connectors.kafka.registry import registered
    from streams.commands import engines

    sent, lines = Sent(), 0
    with _opened(path) as source:
        tenants = await registered(kafka_config(settings))
        async with engines.bus(settings) as bus:
            async for chunk in _chunks(source):
                batch = list(_turns(chunk, lines, defaults, tenants))
                lines += len(chunk)
                await _deliver(bus, batch, sent)
                _progress(f"{sent.turns} turns sent")
    _progress("")
    return sent


async def _deliver(bus: KafkaBus, batch: Sequence[tuple[Turn, Outgoing]], sent: Sent) -> None:
    positions = await bus.send_all([outgoing for _, outgoing in batch])
    sent.add((turn.scope.tenant for turn, _ in batch), positions)


async def _chunks(source: BufferedReader) -> AsyncIterator[list[bytes]]:
    """The lines that are there, without waiting for more: a slow source is sent as it comes."""
    rest = b""
    while data := await asyncio.to_thread(source.read1, CHUNK_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]


def _turns(
    lines: Sequence[bytes], before: int, defaults: dict[str, Any], tenants: dict[str, Tenant]
) -> Iterator[tuple[Turn, Outgoing]]:
    """Each line as a turn to send. Raises InvalidRecord naming the first line that is none, Misconfigured."""
    from connectors.codec import parse_json

    for number, line in enumerate(lines, before + 1):
        if not line.strip():
            continue
        try:
            data = parse_json(line)
            if isinstance(data, dict):
                data = {**defaults, **data}
            turn = parse_turn(data, _NOWHERE)
        except InvalidRecord as error:
            raise InvalidRecord(error.reason, f"{error.field or 'turn'} in line {number}") from None
        tenant = tenants.get(turn.scope.tenant)
        if tenant is None:
            raise Misconfigured(f"the tenant of line {number} is not registered: python -m streams tenant add ID")
        yield turn, _outgoing(data, turn.scope, tenant)


def _progress(line: str) -> None:
    """Shown on a terminal only, in place of the line before."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _outgoing(data: object, scope: Scope, tenant: Tenant) -> Outgoing:
    from connectors.codec import to_json
    from connectors.kafka.producer import Outgoing
    from connectors.kafka.topics import TURNS

    return Outgoing(TURNS, route(scope, tenant.shards), to_json(data))


@contextmanager
def _opened(path: str) -> Iterator[BufferedReader]:
    if path == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    try:
        source = open(path, "rb")  # noqa: SIM115 - only its opening may fail here
    except OSError as error:
        raise Misconfigured(f"{path}: {error.strerror}") from None
    with source:
        yield source


def _report(settings: Settings, sent: Sent, as_json: bool, more: dict[str, Any]) -> None:
    positions = tuple(sent.last[partition] for partition in sorted(sent.last))
    token = _token(settings, sent.tenants, positions)
    where = [f"{p.topic}/{p.partition}@{p.offset}" for p in positions]
    if as_json:
        landed = [{"topic": p.topic, "partition": p.partition, "offset": p.offset} for p in positions]
        print_json({**more, "turns": sent.turns, "positions": landed, "after": token})
        return
    print_fields({**more, "turns": sent.turns, "landed": " ".join(where), **({"after": token} if token else {})})
    if sent.turns and not token:
        say("no token: it takes TWINSLUICE_SIGNING_SECRET, and turns of one tenant only")


def _token(settings: Settings, tenants: set[str], positions: tuple[Position, ...]) -> str:
    """The token of a recall's `after`, "" where there is none: it is one tenant's, and signed."""
    from connectors.http.positions import PositionTokens

    if len(tenants) != 1 or not settings.signing_secret:
        return ""
    return PositionTokens(settings.signing_secret.encode()).mint(next(iter(tenants)), positions)
