"""Extract: survivors of collect become candidates with vectors; everything else passes on unchanged, in order (§5.2).

Stateless: a crash anywhere replays into the same candidates under the same ids. An extractor that fails is not one that
found nothing: `Unavailable` repeats the batch, a record that can never be read is dead-lettered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from connectors.codec import decode, encode
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import CANDIDATES
from streams.batch import Taken
from streams.deadletter import letter, send_letters
from streams.ports import Bus, Embedder, Extractor, Tenants
from tables.candidate import Candidate
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import digest
from tables.snapshot import Snapshot, SnapshotKind
from tables.turn import Role, Turn


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
        found = await self._candidates([s for _, s in taken if s.turn is not None or told(s) is not None])
        out = [
            Outgoing(CANDIDATES, record.key or b"", encode(passed), (), record.partition)
            for record, snapshot in taken
            if (passed := found(snapshot)) is not None
        ]
        await send_letters(self._bus, letters)
        if out:
            await self._bus.send_all(out)

    async def _candidates(self, turns: Sequence[Snapshot]) -> _Found:
        candidates: dict[str, tuple[Candidate, ...]] = {}
        for snapshot in turns:
            turn = cast(Turn, snapshot.turn or told(snapshot))
            tenant = self._tenants.get(snapshot.scope.tenant)
            if tenant is None:
                raise Unavailable("tenants")  # collect knew it: this worker's registry is a moment behind
            candidates[turn.key] = await self._extractor.extract(turn, tenant.policy_at(turn.at))
        flat = [c for some in candidates.values() for c in some]
        vectors = dict(zip([c.id for c in flat], await self._embedded([c.content for c in flat]), strict=True))
        return _Found({key: tuple(replace(c, vector=vectors[c.id]) for c in some) for key, some in candidates.items()})

    async def _embedded(self, texts: list[str]) -> list[tuple[float, ...]]:
        return await self._embedder.passages(texts) if texts else []


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


class _Found:
    """Snapshot → what travels on: a turn without a candidate ends here, a turn with some drops its own words.

    A command travels on whatever was found; its candidates are how the extractor reads its text.
    """

    def __init__(self, candidates: dict[str, tuple[Candidate, ...]]) -> None:
        self._candidates = candidates

    def __call__(self, snapshot: Snapshot) -> Snapshot | None:
        told_turn = told(snapshot)
        if told_turn is not None:
            return replace(snapshot, candidates=self._candidates[told_turn.key])
        if snapshot.turn is None:
            return snapshot
        candidates = self._candidates[snapshot.turn.key]
        return replace(snapshot, turn=None, candidates=candidates) if candidates else None
