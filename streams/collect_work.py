"""What one micro-batch of collect has decided and not yet done, and the records it leaves beside the turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import SNAPSHOTS
from tables.answer import question_before
from tables.keys import Position, Scope, row_key
from tables.policy import Policy
from tables.session import Session, wished
from tables.sieve import Sieve
from tables.snapshot import Snapshot, SnapshotKind
from tables.topic import carried
from tables.turn import Turn
from tables.wishes import wishes
from tables.worth import Drop, screen


@dataclass(slots=True)
class Work:
    """What a micro-batch has decided and not yet done."""

    dirty: dict[tuple[int, bytes], tuple[Scope, str, int]] = field(default_factory=dict)
    snapshots: list[Outgoing] = field(default_factory=list)
    letters: list[Outgoing] = field(default_factory=list)
    done: dict[int, dict[str, int]] = field(default_factory=dict)
    routes: dict[int, bytes] = field(default_factory=dict)
    clocks: dict[tuple[int, str], int] = field(default_factory=dict)

    def clear(self) -> None:
        for part in (self.dirty, self.snapshots, self.letters, self.done, self.routes, self.clocks):
            part.clear()


def judged(turn: Turn, session: Session, policy: Policy, sieve: Sieve | None) -> tuple[Turn, Session, Drop | None]:
    """`turn` with the topic it carries on, `session` with what it wishes, and why it goes no further, if so."""
    consent = (policy.consent_default and not turn.minor) if turn.consent is None else turn.consent
    drop = screen(turn, consent)
    if drop is not None:
        return turn, session, drop
    for wish in wishes(turn, policy):
        session = wished(session, wish)
    before = question_before(session.window) if session.window and session.window[-1].key == turn.key else ""
    if sieve is not None and not turn.task and not before and sieve.stops(turn.content):
        return turn, session, Drop.NOT_WORTH
    topic = turn.topic or carried(turn.content, session.window[:-1])
    return replace(turn, topic=topic, asked=before), session, None


def clock_key(tenant: str) -> bytes:
    """Key of a tenant's clock in `fences`: no tenant id is empty, so it meets no fence row."""
    return row_key("", "clock", tenant)


def progress(partition: int, done: dict[str, int]) -> Snapshot:
    """The mark that travels behind everything of a micro-batch: when it arrives, all before it is done."""
    position = Position(SNAPSHOTS, partition, -1)
    return Snapshot(SnapshotKind.PROGRESS, position, Scope("", ""), done=dict(done))
