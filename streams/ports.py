"""The doors as the steps need them. Connectors fit these without importing them; mypy checks it in `streams.app`.

Every coroutine may raise `tables.errors.Unavailable` when its engine is away: the caller backs off and repeats, so
every write is idempotent. None of them raises its library's own exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from connectors.kafka.producer import Outgoing
from tables.candidate import Candidate
from tables.command import Outcome
from tables.copies import Hit, IndexRow, SessionCopy, UserCopy, UserView
from tables.erasure import Mark
from tables.errors import InvalidRecord
from tables.keys import Position, Scope
from tables.memory import Memory
from tables.policy import Policy, Tenant
from tables.receipt import Query, Receipt
from tables.turn import Turn

Vector = tuple[float, ...]


class Bus(Protocol):
    """The way out to the topics; returns once every delivery is acknowledged."""

    async def send_all(self, records: Sequence[Outgoing]) -> list[Position]: ...


class Tenants(Protocol):
    """Registered tenants, as far as the registry has been read."""

    def get(self, tenant: str) -> Tenant | None: ...

    def all(self) -> tuple[Tenant, ...]: ...

    def read_since(self, moment: float) -> bool: ...


class Embedder(Protocol):
    """Sentences to unit vectors of 384 float32. `passages` are what is stored, `query` what is asked."""

    async def passages(self, texts: Sequence[str]) -> list[Vector]: ...

    async def query(self, text: str) -> Vector: ...


class Extractor(Protocol):
    """Turns to candidates in the user's own words, one answer a turn, with vectors or without.

    InvalidRecord in the place of an answer: this turn can never be read. Raises Unavailable when none could be.
    """

    async def extract(self, turns: Sequence[tuple[Turn, Policy]]) -> list[tuple[Candidate, ...] | InvalidRecord]: ...


class Index(Protocol):
    """The vector index. Every call names the tenant and goes to that tenant's partition with the tenant filter."""

    async def upsert(self, tenant: Tenant, rows: Sequence[IndexRow]) -> None: ...

    async def delete(self, tenant: Tenant, memory_ids: Sequence[str]) -> None: ...

    async def search(
        self, tenant: Tenant, scope: Scope, vector: Vector, *, tasks: Sequence[str], now: int, limit: int
    ) -> list[Hit]: ...

    async def owned(self, tenant: Tenant, scope: Scope) -> list[Memory]: ...

    async def residue(
        self, tenant: Tenant, scope: Scope, memory_ids: Sequence[str], probes: Sequence[Vector]
    ) -> tuple[Query, ...]: ...


class Copies(Protocol):
    """The worker's side of Redis: it alone writes windows, memories, questions, outcomes, receipts, progress."""

    async def mirror_sessions(self, rows: Sequence[SessionCopy]) -> None: ...

    async def mirror_users(self, rows: Sequence[UserCopy]) -> None: ...

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None: ...

    async def drop_user(self, scope: Scope) -> int: ...

    async def residue(self, scope: Scope, memory_ids: Sequence[str], sessions: Sequence[str]) -> tuple[Query, ...]: ...

    async def put_receipt(self, tenant: str, receipt: Receipt) -> None: ...

    async def put_outcome(self, tenant: str, outcome: Outcome) -> None: ...

    async def put_clock(self, tenant: str, at: int) -> None: ...

    async def publish_progress(self, done: Mapping[tuple[str, int], int]) -> None: ...

    async def served_partitions(self) -> frozenset[int]: ...

    async def confirm_partition(self, partition: int) -> None: ...


class Reader(Protocol):
    """The API's side of Redis: it reads, and writes unreadable marks and traces only."""

    async def serves(self, partition: int) -> bool: ...

    async def view(self, scope: Scope, session: str) -> UserView: ...

    async def put_marks(self, scope: Scope, marks: Sequence[Mark]) -> None: ...

    async def marks(self, scope: Scope) -> tuple[Mark, ...]: ...

    async def progress(self, topic: str, partition: int) -> int: ...

    async def receipt(self, tenant: str, request_id: str) -> Receipt | None: ...

    async def outcome(self, tenant: str, request_id: str) -> Outcome | None: ...
