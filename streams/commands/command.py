"""Signed commands: what a user, a reviewer or a business system asks to change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.commands.screen import print_fields, print_json, say
from streams.commands.values import legal_id, now_text
from streams.settings import Settings, load
from tables.command import ActorRole, CommandKind, Outcome, Result, parse_command
from tables.keys import Scope

if TYPE_CHECKING:
    from streams.commands.signed import Published

EXIT_NOT_DONE = 1

HELP = """Sign a command with TWINSLUICE_SIGNING_SECRET, send it, and print its outcome.

Exit code 1 when it was refused or in conflict, 69 when no outcome came in time.

\b
python -m streams command confirm --tenant acme --user u1 --question 4f…
python -m streams command correct --tenant acme --user u1 --memory 9a… --text "我住在杭州"
python -m streams command pin --tenant acme --user u1 --memory 9a… --pin core
python -m streams command consent --tenant acme --user u1 --refuse --of-kind health
python -m streams command reset --tenant acme --user u1 --session s1 --scope context
python -m streams command review --tenant acme --user u1 --memory 9a… --as reviewer --actor desk
python -m streams command tick --tenant acme --at 2026-03-01T09:00:00+08:00
"""

FIELDS = {
    "kind": "kind",
    "tenant": "tenant_id",
    "user": "user_id",
    "memory": "memory_ids",
    "question": "question_ids",
    "session": "session_id",
    "task": "task_id",
    "text": "text",
    "scope": "scope",
    "pin": "pin",
    "allow": "allow",
    "of_kind": "of_kind",
    "record": "record",
    "expected_version": "expected_version",
    "at": "at",
}
"""Option → field of the value."""


def command(
    kind: Annotated[CommandKind, typer.Argument(help="What to do.", show_choices=True)],
    tenant: Annotated[str, typer.Option(help="Tenant id.")],
    user: Annotated[str | None, typer.Option(help="User id; every kind but tick needs it.")] = None,
    memory: Annotated[list[str] | None, typer.Option(help="Memory id; may be repeated.")] = None,
    question: Annotated[list[str] | None, typer.Option(help="Question id; may be repeated.")] = None,
    session: Annotated[str | None, typer.Option(help="Session id, for reset.")] = None,
    task: Annotated[str | None, typer.Option(help="Task id, for close_task.")] = None,
    text: Annotated[str | None, typer.Option(help="New content, for correct, feedback, system_update.")] = None,
    scope: Annotated[str | None, typer.Option(help="context, history or all, for reset.")] = None,
    pin: Annotated[str | None, typer.Option(help="intern or core, for pin.")] = None,
    allow: Annotated[bool | None, typer.Option("--allow/--refuse", help="For consent.")] = None,
    of_kind: Annotated[str | None, typer.Option(help="A memory type or a sensitive class, for consent.")] = None,
    record: Annotated[str | None, typer.Option(help="The business record's id, for system_update.")] = None,
    expected_version: Annotated[int | None, typer.Option(min=0, help="Refuse if the memory has another.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When; now by default.")] = None,
    request_id: Annotated[str | None, typer.Option(help="The same id again is the same request.")] = None,
    actor: Annotated[str, typer.Option(help="Who asks.")] = "operator",
    role: Annotated[ActorRole, typer.Option("--as", help="In which role.")] = ActorRole.ADMIN,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="Wait for the outcome; 0: only send.")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send a command; `HELP` says it all."""
    given = dict(locals())
    settings = load()
    data = _data(given)
    published, outcome = asyncio.run(_command(settings, kind, Scope(tenant, user or ""), data, request_id, wait))
    _report(published, outcome, as_json)
    if wait and kind is not CommandKind.TICK:
        _leave(outcome)


def _data(given: Mapping[str, Any]) -> dict[str, Any]:
    """The value to send, from the options by name."""
    data = {name: given[option] for option, name in FIELDS.items() if given[option] not in (None, [])}
    data["tenant_id"] = legal_id(data["tenant_id"], "--tenant")
    data["at"] = data.get("at") or now_text()
    data["actor"] = {"sub": given["actor"], "role": given["role"].value}
    return data


async def _command(
    settings: Settings, kind: CommandKind, scope: Scope, data: dict[str, Any], given: str | None, seconds: float
) -> tuple[Published, Outcome | None]:
    from connectors.kafka.topics import COMMANDS
    from streams.commands import engines, signed

    tick = kind is CommandKind.TICK
    data["request_id"] = signed.request_id(settings, scope, given)
    parse_command(data)
    published = await signed.publish(settings, COMMANDS, scope, data, whole=tick and not scope.user)
    if not seconds or tick:
        return published, None
    async with engines.reader(settings) as reader:
        ask = signed.waited(lambda: reader.outcome(scope.tenant, published.request_id), seconds)
        return published, await ask


def _report(published: Published, outcome: Outcome | None, as_json: bool) -> None:
    fields: dict[str, Any] = {
        "request": published.request_id,
        "landed": " ".join(f"{p.topic}/{p.partition}@{p.offset}" for p in published.positions),
    }
    if outcome is not None:
        fields["outcome"] = outcome.result.value
        fields |= {"reason": outcome.reason} if outcome.reason else {}
        fields |= {"memories": " ".join(outcome.memory_ids)} if outcome.memory_ids else {}
        fields |= {"version": outcome.version} if outcome.result is Result.CONFLICT else {}
    (print_json if as_json else print_fields)(fields)


def _leave(outcome: Outcome | None) -> None:
    if outcome is None:
        say("no outcome yet: is a worker running?")
        raise typer.Exit(69)
    if outcome.result in (Result.REFUSED, Result.CONFLICT):
        raise typer.Exit(EXIT_NOT_DONE)
