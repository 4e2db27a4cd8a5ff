"""Dead letters: the original bytes, key and headers, with `dlq.*` headers that say where, why and how often.

No header holds content: reasons and field names come from closed sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from connectors.kafka.producer import Headers, Outgoing
from connectors.kafka.topics import GROUP, dead_letter
from connectors.metrics import DEAD_LETTERS
from streams.batch import Taken
from streams.ports import Bus
from tables.errors import InvalidRecord

VERSION = "0.1.0"
HEADER = "dlq."
ITEMS_MAX = 1000  # bad items named: the headers of a letter must not outgrow what the broker takes
ATTEMPTS_DIGITS_MAX = 6


def letter(record: Taken, stage: str, error: InvalidRecord, items: Sequence[int] = ()) -> Outgoing:
    """The dead letter of `record`; `items` names the bad ones of a record that holds several.

    It lies on the partition of the original, so per-user order survives sending back.
    """
    DEAD_LETTERS.labels(stage, error.reason.value).inc()
    facts = {
        "original-topic": record.topic,
        "original-partition": str(record.partition),
        "original-offset": str(record.offset),
        "original-timestamp": str(record.timestamp),
        "stage": stage,
        "reason": error.reason.value,
        "field": error.field,
        "items": ",".join(map(str, items[:ITEMS_MAX])),
        "attempts": str(_attempts(record) + 1),
        "app-version": VERSION,
        "consumer-group": GROUP,
    }
    kept = tuple((name, value) for name, value in record.pairs if not name.startswith(HEADER))
    added = tuple((HEADER + name, value.encode()) for name, value in facts.items() if value)
    return Outgoing(dead_letter(record.topic), record.key, record.value, kept + added, record.partition)


async def send_letters(bus: Bus, letters: Sequence[Outgoing]) -> None:
    """Send dead letters; one that no broker takes goes without its value, and says how large that was.

    Otherwise one record that was packed into less than it holds would stop its partition for ever.
    """
    if not letters:
        return
    try:
        await bus.send_all(letters)
    except InvalidRecord:
        for one in letters:
            try:
                await bus.send_all([one])
            except InvalidRecord:
                size = str(len(one.value or b"")).encode()
                await bus.send_all([replace(one, value=None, headers=(*_ours(one), (f"{HEADER}dropped-bytes", size)))])


def _ours(one: Outgoing) -> Headers:
    return tuple((name, value) for name, value in one.headers if name.startswith(HEADER))


def _attempts(record: Taken) -> int:
    """How often the record was sent back before; 0 when the header says anything but a small number."""
    said = record.headers.get(f"{HEADER}attempts") or b""
    return int(said) if said.isdigit() and len(said) <= ATTEMPTS_DIGITS_MAX else 0
