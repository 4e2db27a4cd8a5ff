"""The sweeper: what fell due goes to `memory.expire.v1`, from where it takes the one road that everything takes.

It reads, it never writes a row: the handler checks again that the thing still holds, so a due record published twice
does nothing twice. Reads never wait for it: they compare times themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from connectors.codec import to_json
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import EXPIRE
from connectors.ledger import Ledger
from streams.ports import Bus, Tenants
from tables.keys import Scope, key_parts, route
from tables.policy import Clock, Tenant

SWEPT_MAX = 1000  # due rows a sweep and partition: a backlog is worked off in steps, other work goes on between


class Sweeper:
    """`clock(partition, tenant)` is the event clock of a tenant as collect knows it."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        bus: Bus,
        tenants: Tenants,
        now: Callable[[], int],
        clock: Callable[[int, str], int],
    ) -> None:
        self._ledger = ledger
        self._bus = bus
        self._tenants = tenants
        self._now = now
        self._clock = clock
        self._published: set[tuple[int, bytes]] = set()

    def forget(self) -> None:
        self._published.clear()

    async def sweep(self, partition: int) -> int:
        """Publish what fell due and was not published before; how many. Raises Unavailable."""
        due = list(islice(self._due(partition), SWEPT_MAX))
        if due:
            await self._bus.send_all([out for _, out in due])
            self._published.update((partition, key) for key, _ in due)
        return len(due)

    def _due(self, partition: int) -> Iterator[tuple[bytes, Outgoing]]:
        for key, _ in self._ledger.scan("due", partition):
            due_at = int.from_bytes(key[:8], "big")
            if due_at > self._latest(partition):
                return
            if (partition, key) in self._published:
                continue
            tenant_id, user, memory_id = key_parts(key[8:])
            tenant = self._tenants.get(tenant_id)
            if tenant is not None and due_at <= self._time(partition, tenant):
                scope = Scope(tenant_id, user)
                yield key, Outgoing(EXPIRE, route(scope, tenant.shards), _record(scope, memory_id, due_at))

    def _latest(self, partition: int) -> int:
        """The furthest of all clocks: nothing beyond it is due for anybody."""
        event = (self._clock(partition, t.id) for t in self._tenants.all() if t.clock is Clock.EVENT)
        return max(self._now(), *event, 0)

    def _time(self, partition: int, tenant: Tenant) -> int:
        return self._now() if tenant.clock is Clock.WALL else self._clock(partition, tenant.id)


def _record(scope: Scope, memory_id: str, due_at: int) -> bytes:
    return to_json(
        {
            "v": 1,
            "kind": "memory",
            "tenant_id": scope.tenant,
            "user_id": scope.user,
            "id": memory_id,
            "due_at": due_at,
        }
    )
