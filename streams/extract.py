"""Extract: survivors of collect become candidates with vectors; everything else passes on unchanged, in order (§5.2).

Stateless: a crash anywhere replays into the same candidates under the same ids. An extractor that fails is not one that
found nothing: `Unavailable` repeats the batch, a record that can never be read is dead-lettered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from connectors.codec import decode, encode
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import CANDIDATES
from streams.batch import Taken
from streams.deadletter import letter, send_letters
from streams.ports import Bus, Embedder, Extractor, Tenants, Vector
from tables.candidate import Candidate
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import digest
from tables.policy import Policy
from tables.snapshot import Snapshot, SnapshotKind
from tables.turn import Role, Turn

Answer: TypeAlias = tuple[Candidate, ...] | InvalidRecord


class Extract:
    """The step."""

    def __init__(self, *, bus: Bus, tenants: Tenants, extractor: Extractor, embedder: Embedder) -> None:
        self._bus = bus
        self._tenants = tenants
        self._extractor = extractor
        self._embedder = embedder

    async def __call__(self, batch: Sequence[Taken]) -> None:
        """Do a micro-batch; returns when every candidate is on the bus. Raises Unavailable."""
        letters: list[Outgoing] = []
        taken: list[tuple[Taken, Snapshot]] = []
        for record in batch:
            try:
                taken.append((record, _read(record)))
            except InvalidRecord as error:
                letters.append(letter(record, "extract", error))
        answers = await self._answers([snapshot for _, snapshot in taken])
        out: list[Outgoing] = []
        for (record, snapshot), answer in zip(taken, answers, strict=True):
            if isinstance(answer, InvalidRecord):
                letters.append(letter(record, "extract", answer))
            elif (passed := _passed(snapshot, answer)) is not None:
                out.append(Outgoing(CANDIDATES, record.key or b"", encode(passed), (), record.partition))
        await send_letters(self._bus, letters)
        if out:
            await self._bus.send_all(out)

    async def _answers(self, snapshots: Sequence[Snapshot]) -> list[Answer]:
        """What was found in the turn of each snapshot, with vectors; () where there is nothing to read."""
        turns = {place: turn for place, one in enumerate(snapshots) if (turn := one.turn or told(one)) is not None}
        found = await self._extractor.extract([(turn, self._policy(turn)) for turn in turns.values()])
        missing = [c for some in found if not isinstance(some, InvalidRecord) for c in some if not c.vector]
        texts = [candidate.content for candidate in missing]
        vectors = dict(zip(texts, await self._embedder.passages(texts) if texts else [], strict=True))
        answers: list[Answer] = [() for _ in snapshots]
        for place, some in zip(turns, found, strict=True):
            answers[place] = some if isinstance(some, InvalidRecord) else _with_vectors(some, vectors)
        return answers

    def _policy(self, turn: Turn) -> Policy:
        tenant = self._tenants.get(turn.scope.tenant)
        if tenant is None:
            raise Unavailable("tenants")  # collect knew it: this worker's registry is a moment behind
        return tenant.policy_at(turn.at)


def _with_vectors(some: Sequence[Candidate], vectors: Mapping[str, Vector]) -> tuple[Candidate, ...]:
    return tuple(c if c.vector else replace(c, vector=vectors[c.content]) for c in some)


def told(snapshot: Snapshot) -> Turn | None:
    """A command's text as a turn of its user, to be read like one; None when the command has no text to read."""
    command = snapshot.command
    if command is None or not command.text:
        return None
    return Turn(
        key=digest("told", *command.scope, command.request_id, command.text),  # request ids are a user's own
        id="",
        scope=command.scope,
        session="",
        task=command.task,
        topic="",
        role=Role.USER,
        content=command.text,
        at=command.at,
        zone_minutes=command.zone_minutes,
        consent=True,
        lang="",
        minor=False,
        position=snapshot.position,
    )


def _read(record: Taken) -> Snapshot:
    """The snapshot in `record`. Raises InvalidRecord."""
    snapshot = decode(Snapshot, record.value)
    if snapshot.kind is SnapshotKind.TURN and snapshot.turn is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, "turn")
    return snapshot


def _passed(snapshot: Snapshot, candidates: tuple[Candidate, ...]) -> Snapshot | None:
    """What travels on: a turn without a candidate ends here, a turn with some drops its own words.

    A command travels on whatever was found; its candidates are how the extractor reads its text.
    """
    if told(snapshot) is not None:
        return replace(snapshot, candidates=candidates)
    if snapshot.turn is None:
        return snapshot
    return replace(snapshot, turn=None, candidates=candidates) if candidates else None
