"""Reading a topic at a terminal."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.commands.screen import say, visible
from streams.settings import Settings, kafka_config, load
from tables.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from aiokafka import ConsumerRecord

ROW_VERSION_MAX = 0x1F  # a table row begins with its version, which is no character


class Start(StrEnum):
    START = "start"
    END = "end"


def tail(
    topic: Annotated[str, typer.Argument(help="A topic, or a part of its name that no other has.")],
    begin: Annotated[Start, typer.Option("--from", help="Where to begin.")] = Start.START,
    count: Annotated[int, typer.Option(min=0, help="Stop after so many records; 0: never.")] = 0,
    once: Annotated[bool, typer.Option("--once", help="Stop at the end that the topic has now.")] = False,
) -> None:
    """Print the records of a topic, keys, headers and values, and go on until Ctrl-C.

    Values hold what people said: this is for your own terminal, not for a log. What is sealed stays sealed.

    \b
    python -m streams tail memory.changes --from end
    python -m streams tail conversation.turns.v1.dlq --count 1
    python -m streams tail memory.receipts --once
    """
    settings = load()
    asyncio.run(_tail(settings, full_name(topic), begin, count, once))


def full_name(given: str) -> str:
    """The topic meant by `given`. Raises Misconfigured when it is none of ours or could be several."""
    from connectors.kafka.topics import TOPICS

    names = [spec.name for spec in TOPICS]
    if given in names:
        return given
    found = [name for name in names if given in name and not (name.endswith(".dlq") and "dlq" not in given)]
    if len(found) != 1:
        near = found or names
        raise Misconfigured(f"{given!r} names {'no topic' if not found else 'several topics'}: {', '.join(near)}")
    return found[0]


async def _tail(settings: Settings, topic: str, begin: Start, count: int, once: bool) -> None:
    from aiokafka.errors import KafkaError

    from connectors.kafka.reader import opened

    async with opened(kafka_config(settings), topic) as (consumer, parts):
        ends = await consumer.end_offsets(parts)
        if begin is Start.END:
            await consumer.seek_to_end(*parts)
        say(f"{topic}: {len(parts)} partitions; Ctrl-C ends it")
        shown = 0
        while True:
            try:
                fetched = await consumer.getmany(timeout_ms=300)
            except KafkaError as error:
                raise Unavailable("kafka") from error
            for record in sorted((r for some in fetched.values() for r in some), key=lambda r: r.timestamp):
                if once and record.offset >= ends[parts[record.partition]]:
                    continue
                _print(shown_record(record))
                shown += 1
                if count and shown >= count:
                    return
            if once and all([await consumer.position(part) >= ends[part] for part in parts]):
                return


def _print(text: str) -> None:
    try:
        typer.echo(text)
    except BrokenPipeError:  # the reader has seen enough; it must not be taken for a broken connection
        raise typer.Exit from None


def shown_record(record: ConsumerRecord[bytes | None, bytes | None]) -> str:
    """A record as text that no terminal acts on."""
    at = datetime.fromtimestamp(record.timestamp / 1000, UTC).isoformat(timespec="milliseconds")
    lines = [f"── {record.topic}/{record.partition}@{record.offset}  {at}", f"key    {_text(record.key)}"]
    lines += [f"{name}  {_text(value)}" for name, value in record.headers]
    return "\n".join((*lines, value_text(record.value)))


def value_text(value: bytes | None) -> str:
    """A value: JSON spread out, a table row without its version byte, anything else as it is."""
    if value is None:
        return "(null)"
    body = value[1:] if value[:1] and value[0] <= ROW_VERSION_MAX else value
    try:
        data: Any = json.loads(body)
    except ValueError:
        return _text(value)
    return visible(json.dumps(data, ensure_ascii=False, indent=2), keep="\n")


def _text(raw: bytes | None) -> str:
    if raw is None:
        return "(null)"
    return visible(raw.decode("utf-8", "backslashreplace"))
