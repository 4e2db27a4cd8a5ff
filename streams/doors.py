"""The doors for writing: what the HTTP routes let in goes to the bus, checked, under the caller's scope, never another.

Order of effects of an erasure, and what a crash after each leaves:

1. The unreadable marks are on Redis's disk: from here on no read shows what is to be erased. A crash leaves marks that
   nobody confirms; they lapse after 10 minutes, and the client, which got no answer, asks again.
2. The signed request is acknowledged by every in-sync replica: it will be done, whatever becomes of this process.
3. The answer, with the receipt when the worker was quick.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from connectors.codec import to_json
from connectors.http.ports import Accepted, ErasureAsk
from connectors.kafka.topics import COMMANDS, DELETE, TURNS
from connectors.signing import RequestIds, Signer
from streams.ports import Reader
from streams.reading import Reading, until
from streams.recall_ports import Headers, NewId, Publish, Sleep
from tables.command import ActorRole, Command, CommandKind, Outcome, parse_command
from tables.erasure import Erasure, Mark, Reach, Selector, parse_erasure
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.identity import Identity
from tables.keys import Position, Scope, checked_id, route, scope_digest, tenant_routes
from tables.memory import Memory
from tables.policy import Clock, Tenant
from tables.receipt import Receipt, ReceiptState
from tables.selection import visible
from tables.turn import FUTURE_GRACE_MS, parse_turn

T = TypeVar("T")

TURNS_MAX: Final = 500
RECORD_BYTES: Final = 512 * 1024  # well under what any broker takes; one turn is never larger
_NOWHERE: Final = Position("", 0, 0)


class Doors:
    """Fits `connectors.http.ports.Doors`. `sleep` is the pause between two looks at an outcome or receipt."""

    def __init__(
        self,
        reading: Reading,
        reader: Reader,
        publish: Publish,
        signer: Signer,
        request_ids: RequestIds,
        *,
        sleep: Sleep,
        new_id: NewId = lambda: uuid.uuid4().hex,
    ) -> None:
        self._reading = reading
        self._reader = reader
        self._publish = publish
        self._signer = signer
        self._ids = request_ids
        self._sleep = sleep
        self._new_id = new_id

    async def turns(self, scope: Scope, turns: Sequence[Mapping[str, object]]) -> Accepted:
        """All of the turns or none: each is checked before the first is published.

        Raises InvalidRecord naming the turn by its place. In wall time a turn without `at` is said now.
        """
        tenant = self._reading.tenant(scope.tenant)
        if not turns:
            raise InvalidRecord(BadRecord.MISSING_FIELD, "turns")
        if len(turns) > TURNS_MAX:
            raise InvalidRecord(BadRecord.TOO_LARGE, "turns")
        ready = [self._turn(tenant, scope, turn, place) for place, turn in enumerate(turns)]
        key = route(scope, tenant.shards)
        positions = [
            await self._publish(TURNS, key, value, _headers(TURNS, self._new_id())) for value in _records(ready)
        ]
        return Accepted(tuple(positions))

    async def command(self, identity: Identity, scope: Scope, command: Mapping[str, object], *, wait: bool) -> Accepted:
        """Publish a signed command of the identity. Whatever actor, tenant, user or signature it names is replaced."""
        tenant = self._reading.tenant(scope.tenant)
        body = await self._stamped(tenant, identity, scope, command, command.get("request_id"))
        parsed = parse_command(body)
        self._check_time(tenant, parsed.at)
        if parsed.kind is CommandKind.RESET and parsed.reach == "all":
            await self._mark(tenant, scope, Selector(Reach.USER), parsed.at, named=command.get("at") is not None)
        positions = await self._signed(tenant, scope, COMMANDS, body, parsed.request_id)
        outcome = await self._outcome(parsed, wait)
        return Accepted(positions, parsed.request_id, outcome=outcome)

    async def erase(self, identity: Identity, scope: Scope, ask: ErasureAsk) -> Accepted:
        """Mark, then publish. A selector that matches nothing is a successful erasure of nothing."""
        return await self._erase(identity, scope, ask, ())

    async def forget(self, identity: Identity, scope: Scope, memory_id: str, ask: ErasureAsk) -> Accepted | None:
        """Erase one memory and its chain; None when this user has no such memory (or has erased it already).

        Raises Unavailable when that cannot be known now.
        """
        tenant = self._reading.tenant(scope.tenant)
        sight = await self._reading.look(tenant, scope, "")
        marks = await self._reading.proof(tenant, scope)
        if marks is None or sight.index_away:
            raise Unavailable("copies")
        seen = {m.id: m for m in visible(sight.memories.values(), marks, self._reading.wall()) if m.scope == scope}
        if memory_id not in seen:
            return None
        return await self._erase(identity, scope, ask, _chain(seen, memory_id))

    async def outcome(self, identity: Identity, scope: Scope, request_id: str) -> Outcome | None:
        """The outcome of a request of this scope. One that was sent over the bus carries no proof of whose it was, so
        only those who may act for every user of the tenant can ask for it.
        """
        held = await self._reader.outcome(scope.tenant, self._ids.bound(scope, request_id))
        if held is None and identity.role is not ActorRole.USER:
            held = await self._reader.outcome(scope.tenant, request_id)
        return held

    async def receipt(self, scope: Scope, request_id: str) -> Receipt | None:
        for name in (self._ids.bound(scope, request_id), request_id):
            held = await self._reader.receipt(scope.tenant, name)
            if held is not None and held.scope == scope_digest(scope):
                return held
        return None

    def _turn(self, tenant: Tenant, scope: Scope, turn: Mapping[str, object], place: int) -> dict[str, object]:
        body = {**turn, "tenant_id": scope.tenant, "user_id": scope.user}
        if body.get("at") is None and tenant.clock is Clock.WALL:
            body["at"] = self._reading.wall()
        try:
            self._check_time(tenant, parse_turn(body, _NOWHERE).at)
        except InvalidRecord as error:
            raise InvalidRecord(error.reason, f"turns.{place}.{error.field}") from None
        return body

    async def _erase(self, identity: Identity, scope: Scope, ask: ErasureAsk, chain: Sequence[Memory]) -> Accepted:
        tenant = self._reading.tenant(scope.tenant)
        selector = ask.selector
        body = await self._stamped(tenant, identity, scope, {"at": ask.at}, ask.request_id or None)
        body["reason"] = ask.reason
        body["selector"] = {
            "reach": selector.reach.value,
            **({"values": list(selector.values)} if selector.values else {}),
            **({"before": selector.before} if selector.before else {}),
        }
        parsed = parse_erasure(body)
        self._check_time(tenant, parsed.at)
        await self._mark(tenant, scope, selector, parsed.at, chain, named=ask.at is not None)
        positions = await self._signed(tenant, scope, DELETE, body, parsed.request_id)
        return Accepted(positions, parsed.request_id, receipt=await self._receipt(parsed, ask.wait))

    async def _mark(
        self,
        tenant: Tenant,
        scope: Scope,
        selector: Selector,
        at: int,
        chain: Sequence[Memory] = (),
        *,
        named: bool,
    ) -> None:
        """Make it unreadable, durably. What was said ahead of the server's clock is hidden too, unless the client
        named the time (event-time tenants).
        """
        values = tuple(memory.id for memory in chain) or selector.values or ("",)
        last = at if named else max(at, await self._latest(tenant, scope, selector))
        wall = self._reading.wall()
        marks = [Mark(selector.reach, value, last, selector.before, wall, confirmed=False) for value in values]
        await self._reader.put_marks(scope, marks)

    async def _latest(self, tenant: Tenant, scope: Scope, selector: Selector) -> int:
        """The latest thing this user has said, as far as the copies know."""
        if not scope.user:
            return self._reading.wall() + FUTURE_GRACE_MS
        session = selector.values[0] if selector.reach is Reach.SESSION else ""
        sight = await self._reading.look(tenant, scope, session)
        said = [source.at for memory in sight.memories.values() for source in memory.sources]
        said += [turn.at for turn in sight.view.session.window] if sight.view.session else []
        return max(said, default=0)

    async def _stamped(
        self, tenant: Tenant, identity: Identity, scope: Scope, data: Mapping[str, object], request_id: object
    ) -> dict[str, object]:
        """`data` with what only the server may say: whose it is, who asks, when, and the id on the bus."""
        given = self._new_id() if request_id is None or request_id == "" else checked_id(request_id, "request_id")
        named = self._reading.asked_at(tenant, data.get("at"))
        return {
            **data,
            "request_id": self._ids.bound(scope, given),
            "tenant_id": scope.tenant,
            "user_id": scope.user or None,
            "actor": {"sub": identity.sub, "role": identity.role.value},
            "at": await self._now(tenant, scope) if named is None else data["at"],
        }

    async def _now(self, tenant: Tenant, scope: Scope) -> int:
        clock = (await self._reader.view(scope, "")).clock if tenant.clock is Clock.EVENT else 0
        return self._reading.now(tenant, None, clock)

    def _check_time(self, tenant: Tenant, at: int) -> None:
        if tenant.clock is Clock.WALL and at > self._reading.wall() + FUTURE_GRACE_MS:
            raise InvalidRecord(BadRecord.FUTURE_TIME, "at")

    async def _signed(
        self, tenant: Tenant, scope: Scope, topic: str, body: Mapping[str, object], request_id: str
    ) -> tuple[Position, ...]:
        """One record, or one a shard for a request that concerns the whole tenant."""
        value = to_json(body)
        keys = (route(scope, tenant.shards),) if scope.user else tenant_routes(scope.tenant, tenant.shards)
        return tuple(
            [
                await self._publish(
                    topic, key, value, (*_headers(topic, request_id), *self._signer.sign(key, value, scope.tenant))
                )
                for key in keys
            ]
        )

    async def _outcome(self, command: Command, wait: bool) -> Outcome | None:
        async def ask() -> Outcome | None:
            return await self._reader.outcome(command.scope.tenant, command.request_id)

        return await self._waited(ask) if wait else None

    async def _receipt(self, erasure: Erasure, wait: bool) -> Receipt | None:
        async def ask() -> Receipt | None:
            held = await self._reader.receipt(erasure.scope.tenant, erasure.request_id)
            return None if held is None or held.state is ReceiptState.PENDING else held

        return await self._waited(ask) if wait else None

    async def _waited(self, ask: Callable[[], Awaitable[T | None]]) -> T | None:
        """The log has the request: an engine that is away now only means that the answer comes later."""
        try:
            return await until(ask, self._sleep)
        except Unavailable:
            return None


def _chain(memories: Mapping[str, Memory], memory_id: str) -> tuple[Memory, ...]:
    """The memory and every version before and after it that is held."""
    links: dict[str, set[str]] = {}
    for memory in memories.values():
        for other in (memory.supersedes, memory.superseded_by):
            links.setdefault(memory.id, set()).add(other)
            links.setdefault(other, set()).add(memory.id)
    links.pop("", None)
    found: list[str] = []
    waiting = [memory_id]
    while waiting:
        one = waiting.pop()
        if one in memories and one not in found:
            found.append(one)
            waiting.extend(links.get(one, ()))
    return tuple(memories[one] for one in found)


def _records(turns: Sequence[Mapping[str, object]]) -> Iterator[bytes]:
    """The turns in order, several to a record as long as it stays small; one alone travels as itself."""
    held: list[bytes] = []
    size = 0
    for turn in turns:
        raw = to_json(turn)
        if held and size + len(raw) > RECORD_BYTES:
            yield _joined(held)
            held, size = [], 0
        held.append(raw)
        size += len(raw)
    yield _joined(held)


def _joined(raws: Sequence[bytes]) -> bytes:
    return raws[0] if len(raws) == 1 else b"[" + b",".join(raws) + b"]"


def _headers(topic: str, event_id: str) -> Headers:
    """CloudEvents attributes: `ce_id` is the request's id, the same for a repeated request."""
    return (
        ("content-type", b"application/json"),
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id.encode()),
        ("ce_source", b"/twinsluice/api"),
        ("ce_type", topic.encode()),
    )
