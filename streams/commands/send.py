"""Sending turns: one from the command line, or a stream of them from a file."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from streams.commands.screen import print_fields, print_json, say
from streams.commands.values import now_text
from streams.settings import Settings, load
from tables.errors import InvalidRecord, Misconfigured
from tables.keys import Position, Scope, route
from tables.turn import Role, Turn, parse_turn

if TYPE_CHECKING:
    from connectors.kafka.producer import KafkaBus, Outgoing
    from tables.policy import Tenant

BATCH = 500
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

    turn = _checked(data, "")
    tenant = await engines.tenant_named(settings, turn.scope.tenant)
    sent = Sent()
    async with engines.bus(settings) as bus:
        await _deliver(bus, [(turn, _outgoing(data, turn.scope, tenant))], sent)
    return sent


async def _send_file(settings: Settings, path: str, defaults: dict[str, Any]) -> Sent:
    from connectors.kafka.registry import registered
    from streams.commands import engines
    from streams.commands.config import kafka_config

    sent = Sent()
    with _opened(path) as lines:
        tenants = await registered(kafka_config(settings))
        async with engines.bus(settings) as bus:
            async for batch in _batches(_turns(lines, defaults, tenants)):
                await _deliver(bus, batch, sent)
    return sent


async def _deliver(bus: KafkaBus, batch: Sequence[tuple[Turn, Outgoing]], sent: Sent) -> None:
    positions = await bus.send_all([outgoing for _, outgoing in batch])
    sent.add((turn.scope.tenant for turn, _ in batch), positions)


async def _batches(turns: Iterator[tuple[Turn, Outgoing]]) -> AsyncIterator[list[tuple[Turn, Outgoing]]]:
    """At most BATCH at a time; a slow source is sent as it comes. Says how far it got, on a terminal."""
    batch: list[tuple[Turn, Outgoing]] = []
    total, told = 0, time.monotonic()
    while (item := await asyncio.to_thread(next, turns, None)) is not None:
        batch.append(item)
        if len(batch) >= BATCH or time.monotonic() - told > 0.5:
            total += len(batch)
            yield batch
            batch = []
            if sys.stderr.isatty() and time.monotonic() - told > 0.5:
                told = time.monotonic()
                sys.stderr.write(f"\r{total} turns sent ")
                sys.stderr.flush()
    if batch:
        yield batch
    if sys.stderr.isatty() and total:
        sys.stderr.write("\r\x1b[K")


def _turns(
    lines: Iterable[bytes], defaults: dict[str, Any], tenants: dict[str, Tenant]
) -> Iterator[tuple[Turn, Outgoing]]:
    """Each line as a turn to send. Raises Misconfigured naming the first line that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}: "
        try:
            data = json.loads(line)
        except ValueError:
            raise Misconfigured(f"{where}not JSON") from None
        if not isinstance(data, dict):
            raise Misconfigured(f"{where}not an object")
        data = {**defaults, **data}
        turn = _checked(data, where)
        tenant = tenants.get(turn.scope.tenant)
        if tenant is None:
            raise Misconfigured(f"{where}its tenant is not registered: python -m streams tenant add ID")
        yield turn, _outgoing(data, turn.scope, tenant)


def _checked(data: dict[str, Any], where: str) -> Turn:
    try:
        return parse_turn(data, _NOWHERE)
    except InvalidRecord as error:
        raise Misconfigured(f"{where}{error}") from None


def _outgoing(data: dict[str, Any], scope: Scope, tenant: Tenant) -> Outgoing:
    from connectors.codec import to_json
    from connectors.kafka.producer import Outgoing
    from connectors.kafka.topics import TURNS

    return Outgoing(TURNS, route(scope, tenant.shards), to_json(data))


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    with ExitStack() as stack:
        try:
            source = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        except OSError as error:
            raise Misconfigured(f"{path}: {error.strerror}") from None
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
