"""The steps of a worker and what runs beside them: repair of the copies, the sweeper, the health door."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final

import structlog

from connectors.ledger import Ledger
from connectors.model.extractive import Extractive
from connectors.model.openai import Openai
from connectors.model.weights import load as load_weights
from connectors.model.weights import load_relating
from streams.admit import Admit
from streams.batch import Handle, Taken
from streams.collect import Collect
from streams.erase import Eraser
from streams.expire import Sweeper
from streams.extract import Extract
from streams.fence import Fencing
from streams.gate import Gate
from streams.heal import Heal
from streams.parts import Parts, wall_clock
from streams.persist import Persist
from streams.receipts import Receipts
from streams.settings import Settings
from tables.errors import Unavailable

log = structlog.get_logger()

BESIDE_SECONDS: Final = 1.0  # how often copies are checked and due rows swept: an erasure or expiry waits no longer
IDLE_SECONDS: Final = 0.1  # how often a worker without partitions looks for some: it serves them this much later
STUCK_SECONDS: Final = 300.0  # a worker with records that finished none for so long is restarted by its supervisor


class Steps:
    """Built once a process. `of(name)` is the handle of a step; `forget` drops caches when partitions move."""

    def __init__(self, settings: Settings, parts: Parts, ledger: Ledger) -> None:
        self._parts = parts
        self._gate = Gate()
        self._finished_at = time.monotonic()
        fencing = Fencing(ledger=ledger, copies=parts.copies, now=wall_clock)
        head, sieve = (None, None) if settings.embedder == "hash" else load_weights()
        self.collect = Collect(
            ledger=ledger,
            bus=parts.bus,
            copies=parts.copies,
            tenants=parts.tenants,
            fencing=fencing,
            verify=parts.signer.verify,
            now=wall_clock,
            partitions=settings.partitions,
            sieve=sieve,
        )
        openai = settings.openai
        extractor = Extractive(parts.embedder, head) if openai is None else Openai(openai, moved=self._moved)
        self.extract = Extract(bus=parts.bus, tenants=parts.tenants, extractor=extractor, embedder=parts.embedder)
        receipts = Receipts(ledger=ledger, bus=parts.bus, copies=parts.copies, read=parts.reader.receipt)
        self.admit = _admit(parts, ledger, fencing, receipts)
        self.heal = Heal(
            ledger=ledger,
            copies=parts.copies,
            fencing=fencing,
            receipts=receipts,
            tenant=parts.tenants.get,
            now=wall_clock,
        )
        self.sweeper = Sweeper(
            ledger=ledger, bus=parts.bus, tenants=parts.tenants, now=wall_clock, clock=self.collect.clock
        )

    def of(self, name: str) -> Handle:
        """The handle of a step. Those that write copies stand aside while the copies are repaired."""
        steps: dict[str, Handle] = {"collect": self.collect, "extract": self.extract, "admit": self.admit}
        step = steps[name]
        writes_copies = name != "extract"  # which may wait long for a model: a repair does not wait for it

        async def gated(batch: Sequence[Taken]) -> None:
            async with self._gate.shared() if writes_copies else nullcontext():
                await step(batch)
            self._moved()

        return gated

    def _moved(self) -> None:
        self._finished_at = time.monotonic()

    def forget(self) -> None:
        self.collect.forget()
        self.admit.forget()
        self.sweeper.forget()

    async def beside(self, assigned: Callable[[], frozenset[int]]) -> None:
        """Repair and sweep for ever; an engine that is away is tried again a second later."""
        while True:
            partitions = assigned()
            try:
                for partition in await self.heal.missing(partitions):
                    async with self._gate.exclusive():
                        await self.heal.partition(partition)
                    self._finished_at = time.monotonic()
                    log.info("copies rebuilt", partition=partition)
                if not await self._parts.index.healthy():
                    await self._parts.index.ensure()
                for partition in partitions:
                    await self.sweeper.sweep(partition)
            except Unavailable as error:
                log.warning("waiting", step="beside", engine=error.engine)
            await asyncio.sleep(BESIDE_SECONDS if partitions else IDLE_SECONDS)

    async def unready(self, assigned: frozenset[int]) -> list[str]:
        """Why this worker cannot work now."""
        reasons = [] if assigned else ["no partition is assigned yet"]
        if not await self._parts.reader.healthy():
            reasons.append("redis is unavailable")
        elif missing := await self.heal.missing(assigned):
            reasons.append(f"copies of {len(missing)} partitions are being rebuilt")
        if not await self._parts.index.healthy():
            reasons.append("milvus is unavailable")
        if not await self._parts.bus.healthy():
            reasons.append("kafka is unavailable")
        return reasons

    def stuck(self, pending: int) -> str:
        """Why it should be restarted, "" when it moves."""
        idle = time.monotonic() - self._finished_at
        return f"no batch finished for {idle:.0f} s" if pending and idle > STUCK_SECONDS else ""


def _admit(parts: Parts, ledger: Ledger, fencing: Fencing, receipts: Receipts) -> Admit:
    """Admit with what only it uses: the order of effects, and the erasures in their turn."""
    persist = Persist(ledger=ledger, index=parts.index, copies=parts.copies, bus=parts.bus, embedder=parts.embedder)
    eraser = Eraser(
        ledger=ledger,
        index=parts.index,
        copies=parts.copies,
        receipts=receipts,
        persist=persist,
        now=wall_clock,
    )
    return Admit(
        ledger=ledger,
        tenants=parts.tenants,
        copies=parts.copies,
        bus=parts.bus,
        persist=persist,
        eraser=eraser,
        fencing=fencing,
        relating=None if parts.settings.embedder == "hash" else load_relating(),
    )
