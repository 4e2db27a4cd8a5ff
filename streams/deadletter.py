"""Dead letters: the original bytes, key and headers, with `dlq.*` headers that say where, why and how often.

No header holds content: reasons and field names come from closed sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import GROUP, dead_letter
from connectors.metrics import DEAD_LETTERS
from streams.batch import Taken
from tables.errors import InvalidRecord

VERSION = "0.1.0"
HEADER = "dlq."


def letter(record: Taken, stage: str, error: InvalidRecord, items: Sequence[int] = ()) -> Outgoing:
    """The dead letter of `record`; `items` names the bad ones of a record that holds several.

    It lies on the partition of the original, so per-user order survives sending back.
    """
    DEAD_LETTERS.labels(stage, error.reason.value).inc()
    attempts = int(record.headers.get(f"{HEADER}attempts", b"0") or b"0") + 1
    facts = {
        "original-topic": record.topic,
        "original-partition": str(record.partition),
        "original-offset": str(record.offset),
        "original-timestamp": str(record.timestamp),
        "stage": stage,
        "reason": error.reason.value,
        "field": error.field,
        "items": ",".join(map(str, items)),
        "attempts": str(attempts),
        "app-version": VERSION,
        "consumer-group": GROUP,
    }
    kept = tuple((name, value) for name, value in record.headers.items() if not name.startswith(HEADER))
    added = tuple((HEADER + name, value.encode()) for name, value in facts.items() if value)
    return Outgoing(dead_letter(record.topic), record.key, record.value, kept + added, record.partition)
