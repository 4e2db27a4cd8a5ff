"""Erase: every copy, then the proof, then the receipt (A11, N2, design §6).

collect has set the fence, marked Redis and cleaned the windows before the erasure comes here. Order of effects, each
awaited: everything of `streams.persist` (rows without content, index, copies, tombstones) → back-queries of every copy
→ again with a pause while anything is found → the receipt in the ledger, on its topic and in Redis → the outcome.
The receipt's row makes the request idempotent: the same request again gives the same receipt and does nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, cast

from connectors.codec import decode_held
from connectors.ledger import Ledger
from connectors.metrics import ERASE_SECONDS, ERASURES
from streams.batch import Taken
from streams.persist import Effects, Persist
from streams.ports import Copies, Index, Vector
from streams.receipts import Receipts
from tables.erase import erase
from tables.erasure import Erasure
from tables.keys import row_key, scope_digest
from tables.outbox import behind, pending_at, recorded
from tables.policy import DAY_MS, Clock, Tenant
from tables.receipt import CopyEvidence, Physical, Query, Receipt, ReceiptState, summed
from tables.snapshot import Snapshot
from tables.world import World

ATTEMPTS: Final = 6  # with the pauses below about 3 s: an index that still shows a row after that is broken, not slow
FIRST_PAUSE_SECONDS: Final = 0.05
BUS_MS: Final = 30 * DAY_MS  # the longest retention of an internal topic that held the words
DEAD_LETTER_MS: Final = 45 * DAY_MS

Pause = Callable[[float], Awaitable[None]]
Users = Sequence[tuple[World, Effects]]


class Eraser:
    """Erases for admit, in its order; nothing else of the partition moves on before the receipt is final."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        index: Index,
        copies: Copies,
        receipts: Receipts,
        persist: Persist,
        now: Callable[[], int],
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._copies = copies
        self._receipts = receipts
        self._persist = persist
        self._now = now
        self._pause = pause

    async def __call__(self, record: Taken, snapshot: Snapshot, tenant: Tenant, users: Users) -> None:
        """Erase what `snapshot` asks of `users` and leave a receipt. Raises Unavailable: repeat."""
        erasure = snapshot.erasure
        if erasure is None:
            return
        begun = time.perf_counter()
        route = record.key or b""
        held = self._receipts.held(record.partition, route, erasure.scope, erasure.request_id)
        if held is not None:
            await self._receipts.tell(tenant, route, erasure.scope, held)
            return
        probes = self._apply(record, snapshot, erasure, tenant, users)
        receipt = await self._until_clean(snapshot, tenant, users, probes)
        await self._receipts.keep(record.partition, route, erasure.scope, receipt)
        await self._receipts.tell(tenant, route, erasure.scope, receipt)
        ERASURES.labels(receipt.state.value).inc()
        ERASE_SECONDS.observe(time.perf_counter() - begun)

    def _apply(
        self, record: Taken, snapshot: Snapshot, erasure: Erasure, tenant: Tenant, users: Users
    ) -> dict[str, Vector]:
        """Run the law over each user; fills the effects and returns the vectors of what goes, to probe with."""
        probes: dict[str, Vector] = {}
        for world, effects in users:
            if behind(world.book, record.offset):
                _again(world, effects, record.offset)
                continue
            step = erase(erasure, world, tenant.policy_at(erasure.at), snapshot.position)
            probes |= {one: effects.vectors[one] for one in step.memories if effects.vectors.get(one)}
            effects.book = recorded(step.world.book, record.offset, step)
            effects.memories.update(step.memories)
            effects.questions.update({question.id: question for question in step.questions})
            effects.dropped.update(step.dropped)
            effects.changes += step.changes
        return probes

    async def _until_clean(
        self, snapshot: Snapshot, tenant: Tenant, users: Users, probes: dict[str, Vector]
    ) -> Receipt:
        erasure = cast(Erasure, snapshot.erasure)
        seconds = FIRST_PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            await self._persist([effects for _, effects in users])
            copies = await self._evidence(tenant, users, probes)
            if not any(copy.after for copy in copies) or attempt == ATTEMPTS:
                break
            await self._pause(seconds)
            seconds *= 2
        copies = [*snapshot.evidence, *copies]
        return _receipt(erasure, users, copies, attempt, self._now() if tenant.clock is Clock.WALL else erasure.at)

    async def _evidence(self, tenant: Tenant, users: Users, probes: dict[str, Vector]) -> list[CopyEvidence]:
        """What the back-queries of every copy find of what must be gone."""
        index: list[Query] = []
        copies: list[Query] = []
        rows = questions = gone = 0
        for world, effects in users:
            ids = [memory.id for memory in effects.memories.values() if memory.closed]
            gone += len(ids)
            if ids:
                vectors = [probes[one] for one in ids if one in probes]
                index += await self._index.residue(tenant, world.scope, ids, vectors)
                copies += await self._copies.residue(world.scope, ids, ())
            rows += sum(self._has_content(effects, one) for one in ids)
            questions += sum(self._has_question(effects, one) for one in effects.dropped)
        dropped = sum(len(effects.dropped) for _, effects in users)
        return [
            _evidence("ledger", gone, [Query("row", rows)], Physical.PENDING),
            _evidence("index", gone, index, Physical.PENDING),
            _evidence("copies", gone, copies, Physical.ERASED),
            _evidence("questions", dropped, [Query("row", questions)], Physical.PENDING),
        ]

    def _has_content(self, effects: Effects, memory_id: str) -> bool:
        raw = self._ledger.get("memories", effects.partition, row_key(*effects.scope, memory_id))
        if raw is None:
            return False
        memory, vector = decode_held(raw)
        return bool(memory.content or vector)

    def _has_question(self, effects: Effects, question_id: str) -> bool:
        return self._ledger.get("questions", effects.partition, row_key(*effects.scope, question_id)) is not None


def _again(world: World, effects: Effects, offset: int) -> None:
    """The effects decided before a crash: the events as they were, the rows as they are."""
    entry = pending_at(world.book, offset)
    if entry is None:
        return
    effects.changes += entry.changes
    effects.dropped.update(entry.dropped)
    effects.memories.update({change.memory.id: world.memories[change.memory.id] for change in entry.changes})
    effects.questions.update({question.id: question for question in entry.questions})


def _evidence(name: str, before: int, queries: Sequence[Query], physical: Physical) -> CopyEvidence:
    return CopyEvidence(name, before, sum(query.found for query in queries), summed(queries), physical)


def _receipt(
    erasure: Erasure, users: Users, copies: Sequence[CopyEvidence], attempts: int, finished_at: int
) -> Receipt:
    """The receipt: verified once every readable copy is clean; the bus keeps what it keeps until its retention ends."""
    memories = sum(memory.closed for _, effects in users for memory in effects.memories.values())
    clean = not any(copy.after for copy in copies)
    kept = (
        CopyEvidence("bus", memories, 0, (), Physical.PENDING, finished_at + BUS_MS),
        CopyEvidence("dead_letters", 0, 0, (), Physical.PENDING, finished_at + DEAD_LETTER_MS),
    )
    return Receipt(
        request_id=erasure.request_id,
        scope=scope_digest(erasure.scope),
        reach=erasure.selector.reach.value,
        state=ReceiptState.VERIFIED if clean else ReceiptState.FAILED,
        asked_at=erasure.at,
        finished_at=finished_at,
        attempts=attempts,
        memories=memories,
        copies=(*copies, *kept),
    )
