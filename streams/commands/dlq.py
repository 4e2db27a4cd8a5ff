"""Dead letters: see why records could not be processed, and send them back once the reason is mended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.commands.screen import print_json, print_table, say
from streams.commands.tail import shown_record
from streams.settings import Settings, kafka_config, load
from tables.errors import BadRecord

if TYPE_CHECKING:
    from streams.redrive import Letter, Wanted

app = typer.Typer(no_args_is_help=True, help="List dead letters and send them back.")

Topic = Annotated[str, typer.Option(help="Only of this topic, as in conversation.turns.v1.")]
Reason = Annotated[BadRecord | None, typer.Option(help="Only with this reason.", show_choices=False)]
Offset = Annotated[str, typer.Option(metavar="P:O", help="Only the letter at this partition and offset.")]


@app.command("list")
def list_(
    topic: Topic = "",
    reason: Reason = None,
    offset: Offset = "",
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    show: Annotated[bool, typer.Option("--show", help="Print the records themselves, with what was said.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List dead letters: where they came from, and why. What was said is only printed with --show.

    \b
    python -m streams dlq list
    python -m streams dlq list --topic conversation.turns.v1 --reason bad_time
    python -m streams dlq list --topic conversation.turns.v1 --offset 2:17 --show
    """
    settings = load()
    letters, total = asyncio.run(_newest(settings, wanted(topic, reason, offset), limit))
    if show:
        typer.echo("\n".join(shown_record(letter.record) for letter in letters))
    elif as_json:
        print_json([facts(letter) for letter in letters])
    else:
        columns = ("letter", "from", "stage", "reason", "field", "items", "attempts", "bytes", "sent back")
        rows = [[facts(letter)[column] for column in columns] for letter in letters]
        print_table(columns, rows, right=("attempts", "bytes"))
    say(f"{total} dead letters" if total == len(letters) else f"the newest {len(letters)} of {total} dead letters")


@app.command()
def redrive(
    topic: Topic = "",
    reason: Reason = None,
    offset: Offset = "",
    again: Annotated[bool, typer.Option("--again", help="Also those that were sent back before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many would go.")] = False,
) -> None:
    """Send dead letters back to their topic: same bytes, key, headers and partition.

    Each goes once: what was sent back is remembered by the consumer group twinsluice-redrive. The number of attempts
    travels with the record, so a letter that comes back counts on.

    \b
    python -m streams dlq redrive --dry-run
    python -m streams dlq redrive --topic conversation.turns.v1 --reason unknown_tenant
    python -m streams dlq redrive --topic conversation.turns.v1 --offset 2:17 --again
    """
    settings = load()
    sent = asyncio.run(_redrive(settings, wanted(topic, reason, offset), again, dry_run))
    typer.echo(f"{sent} {'would be sent back' if dry_run else 'sent back'}")


def wanted(topic: str, reason: BadRecord | None, place: str) -> Wanted:
    """Which letters the options mean. Raises typer.BadParameter, Misconfigured."""
    from streams.redrive import Wanted

    partition = offset = None
    if place:
        first, colon, second = place.partition(":")
        if not (colon and first.isdecimal() and second.isdecimal()):
            raise typer.BadParameter(f"--offset: {place!r} is no partition and offset, as in 2:17")
        if not topic:
            raise typer.BadParameter("--offset needs --topic: every topic has a letter of that place")
        partition, offset = int(first), int(second)
    chosen = Wanted(topic, reason.value if reason else "", partition, offset)
    chosen.topics()
    return chosen


def facts(letter: Letter) -> dict[str, Any]:
    """What may be shown of a letter: nothing that was said."""
    record, given = letter.record, letter.facts
    return {
        "letter": f"{record.topic.removesuffix('.dlq')} {record.partition}:{record.offset}",
        "from": f"{given.get('original-partition', '?')}@{given.get('original-offset', '?')}",
        "stage": given.get("stage", ""),
        "reason": given.get("reason", ""),
        "field": given.get("field", ""),
        "items": given.get("items", ""),
        "attempts": given.get("attempts", ""),
        "bytes": 0 if record.value is None else len(record.value),
        "sent back": "yes" if letter.sent_back else "",
    }


async def _newest(settings: Settings, wanted: Wanted, limit: int) -> tuple[list[Letter], int]:
    from streams.redrive import Redrive

    newest: list[Letter] = []
    total = 0
    async for letter in Redrive(kafka_config(settings)).letters(wanted):
        total += 1
        newest.append(letter)
        if len(newest) >= limit * 2:
            newest = _by_time(newest)[-limit:]
    return _by_time(newest)[-limit:], total


def _by_time(letters: list[Letter]) -> list[Letter]:
    return sorted(letters, key=lambda letter: letter.record.timestamp)


async def _redrive(settings: Settings, wanted: Wanted, again: bool, dry_run: bool) -> int:
    from streams.commands import engines
    from streams.redrive import Redrive

    redrive = Redrive(kafka_config(settings))
    if dry_run:
        return sum([1 async for letter in redrive.letters(wanted) if again or not letter.sent_back])
    async with engines.bus(settings) as bus:
        return await redrive.send_back(bus, wanted, again=again)
