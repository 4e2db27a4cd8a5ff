"""Every topic of the engine, declared once: provisioning, verification and the AsyncAPI document read it from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

TURNS: Final = "conversation.turns.v1"
COMMANDS: Final = "memory.commands.v1"
DELETE: Final = "memory.delete.v1"
EXPIRE: Final = "memory.expire.v1"
TENANTS: Final = "memory.tenants.v1"
ACCESSES: Final = "memory.accesses.v1"
SNAPSHOTS: Final = "memory.snapshots.v1"
CANDIDATES: Final = "memory.candidates.v1"
CHANGES: Final = "memory.changes.v1"
STATE: Final = "memory.state.v1"
QUESTIONS: Final = "memory.questions.v1"
RECEIPTS: Final = "memory.receipts.v1"
TRACES: Final = "memory.traces.v1"

SOURCES: Final = (TURNS, COMMANDS, DELETE, EXPIRE)
DEAD_LETTERED: Final = (*SOURCES, SNAPSHOTS, CANDIDATES)
TABLES: Final = ("sessions", "fences", "books", "memories", "questions", "due", "receipts")

GROUP: Final = "twinsluice"
RECORD_BYTES_MAX: Final = (
    8 * 1024 * 1024
)  # a larger record is refused by the broker, a smaller bad one is dead-lettered

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
_COMPACT: Final = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.1",
    "max.compaction.lag.ms": str(_HOUR),  # without it a quiet topic keeps deleted words for ever
    "segment.ms": str(_HOUR),  # the active segment is never compacted
    "delete.retention.ms": str(7 * _DAY),  # a consumer may be away that long and still see a tombstone
}


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """`routed` topics have the partition count of the settings, the others one partition.

    `config` is what provisioning sets and verification compares.
    """

    name: str
    what: str
    routed: bool = True
    internal: bool = False
    config: Mapping[str, str] = field(default_factory=dict)

    def partitions(self, routed: int) -> int:
        return routed if self.routed else 1


def dead_letter(topic: str) -> str:
    return f"{topic}.dlq"


def changelog(table: str) -> str:
    """Name of a table's changelog: Faust derives the same from the application id."""
    return f"{GROUP}-{table}-changelog"


def _kept(days: int, **more: str) -> dict[str, str]:
    return {"cleanup.policy": "delete", "retention.ms": str(days * _DAY), **more}


_WIDE: Final = {"max.message.bytes": str(RECORD_BYTES_MAX)}
_LETTER: Final = {"max.message.bytes": str(RECORD_BYTES_MAX + 131_072)}  # the original and the headers that are added

TOPICS: Final[tuple[TopicSpec, ...]] = (
    TopicSpec(TURNS, "conversation turns, as the platform sends them", config=_kept(7, **_WIDE)),
    TopicSpec(COMMANDS, "signed commands of users, reviewers and business systems", config=_kept(30, **_WIDE)),
    TopicSpec(DELETE, "signed erasure requests", config=_kept(30, **_WIDE)),
    TopicSpec(EXPIRE, "what falls due, from the sweeper", config=_kept(7, **_WIDE)),
    TopicSpec(TENANTS, "registered tenants: policy versions, shards, placement, clock", routed=False, config=_COMPACT),
    TopicSpec(ACCESSES, "which memories a recall injected", config=_kept(7)),
    TopicSpec(SNAPSHOTS, "what survives collect, in the order taken", internal=True, config=_kept(30, **_WIDE)),
    TopicSpec(CANDIDATES, "candidate facts with their vectors", internal=True, config=_kept(7, **_WIDE)),
    TopicSpec(CHANGES, "every change of memory, before and after", config=_kept(30, **_WIDE)),
    TopicSpec(STATE, "the memory as it is; a tombstone once it is gone", config={**_COMPACT, **_WIDE}),
    TopicSpec(QUESTIONS, "questions opened, answered, withdrawn", config=_kept(30)),
    TopicSpec(RECEIPTS, "receipts of erasures, copy by copy, no content", config=_kept(400)),
    TopicSpec(TRACES, "one decision trace per recall, ids only", config=_kept(7)),
    *(
        TopicSpec(dead_letter(name), f"records of {name} that could not be processed", config=_kept(45, **_LETTER))
        for name in DEAD_LETTERED
    ),
    *(
        TopicSpec(changelog(table), f"changelog of the table {table}", internal=True, config={**_COMPACT, **_WIDE})
        for table in TABLES
    ),
)
