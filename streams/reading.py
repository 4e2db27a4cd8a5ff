"""Reading one user's copies, as every read of the API does it: view, whatever else, then the marks, then the proof.

The order of `Reading.proof` is the guarantee: the marks are read after everything that they may hide, and that the
partition is served is asked after the marks. A Redis that lost its data between the two has lost its epoch too, so
marks that came back empty from an empty Redis are never believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from streams.ports import Index, Reader
from streams.recall_ports import PartitionOf, Sleep, Tenants, WallClock
from tables.copies import UserView
from tables.erasure import Mark
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.memory import Memory
from tables.policy import Clock, Tenant
from tables.turn import parse_time

T = TypeVar("T")

WAIT_SECONDS = 2.0  # after that an answer says `stale` or `202`: a client's own time-out is longer
PROOF_SECONDS = 1.0  # a Redis slower than this proves nothing: the answer is degraded, not late
_FIRST_PAUSE_SECONDS = 0.01
_LAST_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Sight:
    """What the copies hold of a user, unfiltered. `index_away`: the copy was not there and the index was not either."""

    tenant: Tenant
    view: UserView
    memories: Mapping[str, Memory]
    index_away: bool = False


class Reading:
    def __init__(
        self,
        *,
        reader: Reader,
        index: Index,
        tenants: Tenants,
        partition_of: PartitionOf,
        clock: WallClock,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._reader = reader
        self._index = index
        self._tenants = tenants
        self._partition_of = partition_of
        self._sleep = sleep
        self.wall = clock

    def tenant(self, tenant_id: str) -> Tenant:
        """Raises InvalidRecord(UNKNOWN_TENANT)."""
        tenant = self._tenants.get(tenant_id)
        if tenant is None:
            raise InvalidRecord(BadRecord.UNKNOWN_TENANT)
        return tenant

    def asked_at(self, tenant: Tenant, at: object) -> int | None:
        """The time that the client named, None when it named none. Raises InvalidRecord(BAD_VALUE) under a wall clock:
        who may name the time may un-expire things.
        """
        if at is None:
            return None
        if tenant.clock is not Clock.EVENT:
            raise InvalidRecord(BadRecord.BAD_VALUE, "at")
        return parse_time(at, "at")[0]

    def now(self, tenant: Tenant, named: int | None, event_clock: int) -> int:
        """The tenant's time: what the client named, else the event clock, else the server's."""
        if named is not None:
            return named
        return event_clock if tenant.clock is Clock.EVENT and event_clock else self.wall()

    async def look(self, tenant: Tenant, scope: Scope, session: str) -> Sight:
        """The user's copies; from the index when Redis holds none. Raises Unavailable when Redis is away."""
        view = await self._reader.view(scope, session)
        if view.present:
            return Sight(tenant, view, {m.id: m for m in view.memories})
        try:
            owned = await self._index.owned(tenant, scope)
        except Unavailable:
            return Sight(tenant, view, {m.id: m for m in view.memories}, index_away=True)
        return Sight(tenant, view, {m.id: m for m in (*view.memories, *owned)})

    async def proof(self, tenant: Tenant, scope: Scope) -> Sequence[Mark] | None:
        """The marks in force, or None when nothing of this user may be served. Call it last."""
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                marks = await self._reader.marks(scope)
                served = await self._reader.serves(self._partition_of(tenant, scope))
        except (Unavailable, TimeoutError):
            return None
        return marks if served else None

    async def waited(self, after: Sequence[Position]) -> bool:
        """Wait up to 2 s for the effects of these writes. False when they were not all seen: the answer is stale."""
        return all(await asyncio.gather(*(self._seen(position) for position in after)))

    async def _seen(self, position: Position) -> bool:
        async def reached() -> bool | None:
            done = await self._reader.progress(position.topic, position.partition)
            return True if done >= position.offset else None

        try:
            return await until(reached, self._sleep) is not None
        except Unavailable:
            return False


async def until(ask: Callable[[], Awaitable[T | None]], sleep: Sleep, seconds: float = WAIT_SECONDS) -> T | None:
    """Ask until there is an answer, with growing pauses; None after `seconds`. Raises what `ask` raises."""
    waited, pause = 0.0, _FIRST_PAUSE_SECONDS
    try:
        async with asyncio.timeout(seconds + 1):  # an engine that hangs must not make the client hang
            while (answer := await ask()) is None and waited < seconds:
                await sleep(pause)
                waited += pause
                pause = min(pause * 1.5, _LAST_PAUSE_SECONDS)
    except TimeoutError:
        return None
    return answer
