"""What travels inside the engine, in the one order that collect gave it: turns, commands, erasures, what fell due."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tables.candidate import Candidate
from tables.command import Command
from tables.erasure import Erasure, Fence
from tables.keys import Position, Scope
from tables.receipt import CopyEvidence
from tables.turn import Turn


class SnapshotKind(StrEnum):
    TURN = "turn"
    COMMAND = "command"
    ERASURE = "erasure"
    DUE = "due"
    PROGRESS = "progress"


@dataclass(frozen=True, slots=True)
class Due:
    """A memory whose time has come; the handler checks again that it holds."""

    scope: Scope
    memory_id: str
    due_at: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One entry of `memory.snapshots.v1` and, with its candidates, of `memory.candidates.v1`.

    position   the source record it comes from
    fence      of an erasure: the fence that collect set
    evidence   of an erasure: the copies that collect cleaned
    done       of a progress mark: per source topic the last offset whose every effect lies before this mark
    """

    kind: SnapshotKind
    position: Position
    scope: Scope
    turn: Turn | None = None
    command: Command | None = None
    erasure: Erasure | None = None
    due: Due | None = None
    fence: Fence | None = None
    evidence: tuple[CopyEvidence, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    done: dict[str, int] = field(default_factory=dict)
