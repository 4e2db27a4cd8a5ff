"""What the routes need from the verbs behind them. The objects in `streams` fit these without being imported here.

Each coroutine may raise `tables.errors.Unavailable` (answered 503) and `InvalidRecord` (answered 4xx by its reason).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tables.candidate import Kind
from tables.command import Outcome
from tables.context import Context, RecallRequest
from tables.erasure import Selector
from tables.identity import Identity
from tables.keys import Position, Scope
from tables.memory import Memory, Status
from tables.policy import Tenant
from tables.question import Question
from tables.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Listing:
    """Which of the user's memories to list. `at` as the client wrote it; `cursor` from the page before, "" = first."""

    status: Status = Status.ACTIVE
    drafts: bool = False
    kinds: tuple[Kind, ...] = ()
    task: str | None = None
    limit: int = 100
    cursor: str = ""
    at: object = None
    after: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """`cursor` of the next page, "" when this is the last."""

    memories: tuple[Memory, ...]
    cursor: str
    profile_version: int
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The open questions of a user."""

    questions: tuple[Question, ...]
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """A write that the log has. `request_id` "" for turns; outcome and receipt None while the worker is not done."""

    positions: tuple[Position, ...]
    request_id: str = ""
    outcome: Outcome | None = None
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class ErasureAsk:
    """`request_id` "" = the server picks one; `at` as the client wrote it, None = now."""

    selector: Selector
    request_id: str = ""
    reason: str = ""
    at: object = None
    wait: bool = True


class Tenants(Protocol):
    def get(self, tenant: str) -> Tenant | None: ...


class Recalls(Protocol):
    async def recall(self, scope: Scope, request: RecallRequest) -> Context: ...


class Memories(Protocol):
    """None = not this user's, or not there: the two are never told apart."""

    async def listed(self, scope: Scope, listing: Listing) -> Page: ...

    async def memory(self, scope: Scope, memory_id: str) -> Memory | None: ...

    async def questions(self, scope: Scope, after: tuple[Position, ...]) -> Asked: ...


class Doors(Protocol):
    """Writes. Who may do what was decided before; the scope is the only one a write ever names."""

    async def turns(self, scope: Scope, turns: Sequence[Mapping[str, object]]) -> Accepted: ...

    async def command(
        self, identity: Identity, scope: Scope, command: Mapping[str, object], *, wait: bool
    ) -> Accepted: ...

    async def erase(self, identity: Identity, scope: Scope, ask: ErasureAsk) -> Accepted: ...

    async def forget(self, identity: Identity, scope: Scope, memory_id: str, ask: ErasureAsk) -> Accepted | None: ...

    async def outcome(self, identity: Identity, scope: Scope, request_id: str) -> Outcome | None: ...

    async def receipt(self, scope: Scope, request_id: str) -> Receipt | None: ...


class Health(Protocol):
    async def ready(self) -> Mapping[str, bool]:
        """Each part by name, and whether it can be reached now. Bounded in time, never raises."""
        ...


class Services(Protocol):
    """Everything behind the routes."""

    @property
    def tenants(self) -> Tenants: ...

    @property
    def recalls(self) -> Recalls: ...

    @property
    def memories(self) -> Memories: ...

    @property
    def doors(self) -> Doors: ...

    @property
    def health(self) -> Health: ...


@dataclass(frozen=True, slots=True)
class ServiceSet:
    """The five services as one thing: fits `Services`."""

    tenants: Tenants
    recalls: Recalls
    memories: Memories
    doors: Doors
    health: Health
