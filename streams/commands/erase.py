"""Erasures: a signed request, and the receipt that proves what became of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from streams.commands.screen import print_fields, print_table, say
from streams.commands.values import legal_id, now_text, time_ms
from streams.settings import Settings, load
from tables.command import ActorRole
from tables.erasure import Reach, parse_erasure
from tables.keys import Scope
from tables.receipt import Receipt, ReceiptState

EXIT_FAILED = 1
REACHES = (Reach.MEMORY, Reach.SOURCE, Reach.SESSION, Reach.TASK, Reach.KIND)

HELP = """Erase memories, what was said in a turn, a session or a task, or everything of a user or tenant.

With --wait the receipt is printed, copy by copy; exit code 1 when residue was found, 69 when no receipt came in
time (it still will: ask again with the same --request-id).

\b
python -m streams erase --tenant acme --user u1 --memory 9a… --wait
python -m streams erase --tenant acme --user u1 --session s1 --session s2
python -m streams erase --tenant acme --user u1 --everything --reason gdpr-17 --wait
python -m streams erase --tenant acme --everything --yes --wait
"""

STATES = {
    ReceiptState.PENDING: "some copies are not proven clean yet",
    ReceiptState.VERIFIED: "every readable copy is proven clean",
    ReceiptState.FAILED: "residue was found; it stays unreadable",
}


def erase(
    tenant: Annotated[str, typer.Option(help="Tenant id.")],
    user: Annotated[str | None, typer.Option(help="User id; without one --everything means the whole tenant.")] = None,
    memory: Annotated[list[str] | None, typer.Option(help="Memory id; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Id of a turn; may be repeated.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Session id; may be repeated.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="Task id; may be repeated.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Memory type; may be repeated.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All of the user, or of the tenant.")] = False,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="Keep what was said from then on.")] = None,
    reason: Annotated[str | None, typer.Option(help="A word for the record, no content.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was asked; now by default.")] = None,
    request_id: Annotated[str | None, typer.Option(help="The same id again is the same request.")] = None,
    actor: Annotated[str, typer.Option(help="Who asks.")] = "operator",
    role: Annotated[ActorRole, typer.Option("--as", help="In which role.")] = ActorRole.ADMIN,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the receipt and print it.")] = False,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait.")] = 30.0,
    yes: Annotated[bool, typer.Option("--yes", help="Erase a whole tenant without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send an erasure; `HELP` says it all."""
    settings = load()
    chosen = dict(zip(REACHES, (memory, source, session, task, kind), strict=True))
    selector = selected({reach: values for reach, values in chosen.items() if values}, bool(user), everything)
    if before is not None:
        selector["before"] = time_ms(before)
    if selector["reach"] is Reach.TENANT and not yes:
        typer.confirm(f"erase everything of the whole tenant {tenant}?", abort=True, err=True)
    data: dict[str, Any] = {
        "tenant_id": legal_id(tenant, "--tenant"),
        "user_id": user,
        "selector": selector,
        "reason": reason,
        "actor": {"sub": actor, "role": role.value},
        "at": at or now_text(),
    }
    data = {name: value for name, value in data.items() if value is not None}
    receipt = asyncio.run(_erase(settings, Scope(tenant, user or ""), data, request_id, timeout if wait else 0.0))
    if wait:
        _leave(receipt, as_json)


def selected(chosen: dict[Reach, list[str]], has_user: bool, everything: bool) -> dict[str, Any]:
    """The selector that the options ask for. Raises typer.BadParameter unless it is exactly one."""
    if len(chosen) + everything != 1:
        raise typer.BadParameter(
            "give exactly one of --memory, --source, --session, --task, --kind (each may be repeated) and --everything"
        )
    if everything:
        return {"reach": Reach.USER if has_user else Reach.TENANT}
    if not has_user:
        raise typer.BadParameter("--user is missing: only --everything can mean a whole tenant")
    reach, values = next(iter(chosen.items()))
    return {"reach": reach, "values": values}


async def _erase(
    settings: Settings, scope: Scope, data: dict[str, Any], given: str | None, seconds: float
) -> Receipt | None:
    from connectors.kafka.topics import DELETE
    from streams.commands import engines, signed

    data["request_id"] = signed.request_id(settings, scope, given)
    erasure = parse_erasure(data)
    whole = erasure.selector.reach is Reach.TENANT
    published = await signed.publish(settings, DELETE, scope, data, whole=whole)
    landed = " ".join(f"{p.topic}/{p.partition}@{p.offset}" for p in published.positions)
    say(f"request {published.request_id} landed at {landed}")
    if not seconds:
        return None
    async with engines.reader(settings) as reader:

        async def final() -> Receipt | None:
            receipt = await reader.receipt(scope.tenant, published.request_id)
            return None if receipt is None or receipt.state is ReceiptState.PENDING else receipt

        return await signed.waited(final, seconds)


def _leave(receipt: Receipt | None, as_json: bool) -> None:
    if receipt is None:
        say("no receipt yet: is a worker running? Ask again with the same --request-id")
        raise typer.Exit(69)
    if as_json:
        from connectors.codec import to_json

        typer.echo(to_json(receipt).decode())
    else:
        _print(receipt)
    if receipt.state is ReceiptState.FAILED:
        raise typer.Exit(EXIT_FAILED)


def _print(receipt: Receipt) -> None:
    print_fields(
        {
            "request": receipt.request_id,
            "state": f"{receipt.state.value}: {STATES[receipt.state]}",
            "reach": receipt.reach,
            "memories": receipt.memories,
            "asked": _time(receipt.asked_at),
            "finished": _time(receipt.finished_at),
            "attempts": receipt.attempts,
        }
    )
    rows = [
        (
            copy.copy,
            copy.before,
            copy.after,
            " ".join(f"{query.name}:{query.found}" for query in copy.queries),
            copy.physical.value + (f" until {_time(copy.until)}" if copy.until else ""),
        )
        for copy in receipt.copies
    ]
    print_table(("copy", "before", "after", "found by", "bytes"), rows, right=("before", "after"))


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds") if at else "-"
