"""Collect: the one place that gives turns, commands, deletes and expiries their order (design §5.1, §11.1).

It is the only writer of `sessions` and `fences`. Effects of a micro-batch, in this order, each awaited:

1. window copies go to Redis;
2. dead letters, snapshots of what survives, then one progress mark a partition go to the bus, clocks to Redis;
3. session rows, which hold the guard (last applied offset per source topic), go to the ledger; then comes the ack.

A crash before 3 leaves the rows as they were: the replay folds the same turns into the same state and sends the same
snapshots again, which later steps know by their ids. A crash after 3 finds the guard and does nothing twice. A delete
is a barrier: what came before it is finished first, then its fence is durable before anything else (`streams.fence`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from connectors.codec import decode_row, encode, encode_row, parse_json
from connectors.kafka.producer import Outgoing
from connectors.kafka.routing import partition_of_key
from connectors.kafka.topics import COMMANDS, DELETE, EXPIRE, SNAPSHOTS, TURNS
from connectors.ledger import Ledger, Row
from connectors.metrics import TURNS as TURNS_TOTAL
from streams.batch import Taken
from streams.collect_work import Work, clock_key, judged, progress
from streams.deadletter import letter, send_letters
from streams.fence import Fencing, withdrawn
from streams.ports import Bus, Copies, Tenants
from tables.command import CommandKind, Outcome, Result, parse_command
from tables.commanded import withdrawal
from tables.copies import SessionCopy
from tables.erasure import parse_erasure
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position, Scope, checked_id, route, row_key, tenant_routes
from tables.policy import Clock, Tenant
from tables.sensitive import masked
from tables.session import Session, fold, seen_mark
from tables.sieve import Sieve
from tables.snapshot import Due, Snapshot, SnapshotKind
from tables.text import tokens
from tables.turn import FUTURE_GRACE_MS, parse_time, parse_turn

CACHED_SESSIONS = 20_000  # decoded rows of live sessions: decoding costs more than everything else of a small turn
STRANGER_PAUSE_SECONDS = 0.1  # between two looks for a tenant that nobody knows
TURNS_MAX = 500  # turns of one record: no more than a session remembers as seen, so a replay knows them all

Verify = Callable[[bytes, bytes, Mapping[str, bytes], str], None]


class Collect:
    """The step. `verify(key, value, headers, tenant)` raises InvalidRecord for an unsigned or wrongly signed record."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        bus: Bus,
        copies: Copies,
        tenants: Tenants,
        fencing: Fencing,
        verify: Verify,
        now: Callable[[], int],
        partitions: int,
        sieve: Sieve | None = None,
    ) -> None:
        self._ledger = ledger
        self._bus = bus
        self._copies = copies
        self._tenants = tenants
        self._fencing = fencing
        self._verify = verify
        self._now = now
        self._partitions = partitions
        self._sieve = sieve
        self._sessions: OrderedDict[tuple[int, bytes], Session] = OrderedDict()
        self._clocks: dict[tuple[int, str], int] = {}
        self._moved = False
        self._strange_at = 0.0

    def forget(self) -> None:
        """Drop everything cached: called when partitions come or go, also in the middle of a batch."""
        self._moved = True
        self._drop_cached()

    def _drop_cached(self) -> None:
        self._sessions.clear()
        self._clocks.clear()
        self._fencing.forget()

    async def __call__(self, batch: Sequence[Taken]) -> None:
        """Do a micro-batch; returns when every effect is durable. Raises Unavailable: repeat the whole batch."""
        work = Work()
        self._moved = False
        try:
            for record in batch:
                try:
                    await self._take(record, work)
                except InvalidRecord as error:
                    work.letters.append(letter(record, "collect", error))
                work.done.setdefault(record.partition, {})[record.topic] = record.offset
                work.routes.setdefault(record.partition, record.key or b"")
            await self._flush(work)
        except BaseException:
            self._drop_cached()  # rows decided but not written must not be taken for written ones
            raise
        self._strange_at = 0.0
        if self._moved:
            self._drop_cached()  # what this batch read belongs to an assignment that is over

    async def _take(self, record: Taken, work: Work) -> None:
        data = parse_json(record.value)
        if record.topic == TURNS:
            self._take_turns(record, data, work)
        elif record.topic == COMMANDS:
            await self._take_command(record, data, work)
        elif record.topic == DELETE:
            await self._take_delete(record, data, work)
        elif record.topic == EXPIRE:
            self._take_due(record, data, work)
        else:
            raise InvalidRecord(BadRecord.UNKNOWN_KIND, "topic")

    def _take_turns(self, record: Taken, data: object, work: Work) -> None:
        """One turn, or a list of turns of one route: the good ones go on, the dead letter names the bad."""
        if not isinstance(data, list):
            self._take_turn(record, data, 0, work)
            return
        if len(data) > TURNS_MAX:
            raise InvalidRecord(BadRecord.TOO_LARGE, "turns")
        bad: list[int] = []
        last: InvalidRecord | None = None
        for item, turn in enumerate(data):
            try:
                self._take_turn(record, turn, item, work)
            except InvalidRecord as error:
                bad.append(item)
                last = error
        if last is not None:
            work.letters.append(letter(record, "collect", last, bad))

    def _take_turn(self, record: Taken, data: object, item: int, work: Work) -> None:
        turn = parse_turn(data, Position(record.topic, record.partition, record.offset, item))
        tenant = self._checked(record, turn.scope, turn.at)
        policy = tenant.policy_at(turn.at)
        turn = replace(turn, content=masked(turn.content, policy))
        self._advance(record.partition, tenant, turn.at, work)
        if self._fencing.fenced(record.partition, turn):
            TURNS_TOTAL.labels("fenced", "").inc()
            return
        key = row_key(turn.scope.tenant, turn.scope.user, turn.session)
        session = self._session(record.partition, key)
        if record.offset < session.offsets.get(record.topic, -1) or seen_mark(turn.key) in session.seen:
            TURNS_TOTAL.labels("repeated", "").inc()  # below the guard, or the same turn again: its effects are done
            return
        session = fold(session, turn, tokens(turn.content), policy)
        turn, session, drop = judged(turn, session, policy, self._sieve)
        if drop is None:
            self._pass_on(record, Snapshot(SnapshotKind.TURN, turn.position, turn.scope, turn=turn), work)
        TURNS_TOTAL.labels("kept" if drop is None else "window", "" if drop is None else drop.value).inc()
        offsets = {**session.offsets, record.topic: record.offset}
        self._keep(record.partition, key, replace(session, offsets=offsets))
        work.dirty[record.partition, key] = (turn.scope, turn.session, policy.session_ttl_ms)

    async def _take_command(self, record: Taken, data: object, work: Work) -> None:
        command = parse_command(data)
        tenant = self._signed(record, command.scope, command.at)
        self._advance(record.partition, tenant, command.at, work)
        if command.kind is CommandKind.TICK:
            done = Outcome(command.request_id, Result.APPLIED, "", (), 0, command.at)
            await self._copies.put_outcome(tenant.id, done)
            return
        position = Position(record.topic, record.partition, record.offset)
        snapshot = Snapshot(SnapshotKind.COMMAND, position, command.scope, command=command)
        covered = withdrawal(command)
        if covered is not None:
            self._pass_on(record, snapshot, work)  # the refusal first, then the erasure of what it covered
            await self._barrier(work)
            snapshot = await self._fencing.erase(record, withdrawn(command, covered))
        if command.kind is CommandKind.RESET:
            await self._barrier(work)
            erasure = await self._fencing.reset(record, command)
            snapshot = snapshot if erasure is None else erasure
        self._pass_on(record, snapshot, work)

    async def _take_delete(self, record: Taken, data: object, work: Work) -> None:
        erasure = parse_erasure(data)
        tenant = self._signed(record, erasure.scope, erasure.at)
        self._advance(record.partition, tenant, erasure.at, work)
        await self._barrier(work)
        snapshot = await self._fencing.erase(record, erasure)
        self._pass_on(record, snapshot, work)

    async def _barrier(self, work: Work) -> None:
        """Finish what came before; the rows that come after are read anew."""
        await self._flush(work)
        self._sessions.clear()

    def _take_due(self, record: Taken, data: object, work: Work) -> None:
        if not isinstance(data, Mapping):
            raise InvalidRecord(BadRecord.WRONG_TYPE, "due")
        scope = Scope(checked_id(data.get("tenant_id"), "tenant_id"), checked_id(data.get("user_id"), "user_id"))
        due_at, _ = parse_time(data.get("due_at"), "due_at")
        tenant = self._checked(record, scope, 0)
        if due_at > (self._now() if tenant.clock is Clock.WALL else self.clock(record.partition, tenant.id)):
            raise InvalidRecord(BadRecord.FUTURE_TIME, "due_at")
        due = Due(scope, checked_id(data.get("id"), "id"), due_at)
        position = Position(record.topic, record.partition, record.offset)
        self._pass_on(record, Snapshot(SnapshotKind.DUE, position, scope, due=due), work)

    def _signed(self, record: Taken, scope: Scope, at: int) -> Tenant:
        """The tenant of a signed record. Raises InvalidRecord: the signature is looked at before anything else."""
        self._tenant(scope.tenant)
        self._verify(record.key or b"", record.value or b"", record.headers, scope.tenant)
        return self._checked(record, scope, at)

    def _checked(self, record: Taken, scope: Scope, at: int) -> Tenant:
        """The tenant, once key, partition and time agree with it. Raises InvalidRecord."""
        tenant = self._tenant(scope.tenant)
        keys = (route(scope, tenant.shards),) if scope.user else tenant_routes(scope.tenant, tenant.shards)
        if record.key not in keys or partition_of_key(record.key, self._partitions) != record.partition:
            raise InvalidRecord(BadRecord.KEY_MISMATCH)
        if tenant.clock is Clock.WALL and at > self._now() + FUTURE_GRACE_MS:
            raise InvalidRecord(BadRecord.FUTURE_TIME, "at")
        return tenant

    def _tenant(self, tenant_id: str) -> Tenant:
        """A registered tenant. A stranger is looked for again before its record is refused: it may be registered, and
        its first turn may have been quicker than the news."""
        tenant = self._tenants.get(tenant_id)
        if tenant is not None:
            return tenant
        self._strange_at = self._strange_at or time.monotonic()
        if not self._tenants.read_since(self._strange_at):
            raise Unavailable("tenants", STRANGER_PAUSE_SECONDS)
        raise InvalidRecord(BadRecord.UNKNOWN_TENANT)

    def _advance(self, partition: int, tenant: Tenant, at: int, work: Work) -> None:
        """The clock of an event-time tenant is the greatest `at` seen on its routes."""
        if tenant.clock is Clock.EVENT and at > self.clock(partition, tenant.id):
            self._clocks[partition, tenant.id] = at
            work.clocks[partition, tenant.id] = at

    def clock(self, partition: int, tenant: str) -> int:
        """The event clock of a tenant as this partition knows it (epoch ms, 0 = none yet)."""
        held = self._clocks.get((partition, tenant))
        if held is None:
            raw = self._ledger.get("fences", partition, clock_key(tenant))
            held = int(raw[1:]) if raw else 0
            self._clocks[partition, tenant] = held
        return held

    def _session(self, partition: int, key: bytes) -> Session:
        held = self._sessions.get((partition, key))
        if held is None:
            raw = self._ledger.get("sessions", partition, key)
            held = decode_row(Session, raw) if raw else Session()
        return held

    def _keep(self, partition: int, key: bytes, session: Session) -> None:
        self._sessions[partition, key] = session
        self._sessions.move_to_end((partition, key))

    def _pass_on(self, record: Taken, snapshot: Snapshot, work: Work) -> None:
        work.snapshots.append(Outgoing(SNAPSHOTS, record.key or b"", encode(snapshot), (), record.partition))

    async def _flush(self, work: Work) -> None:
        """Do everything decided so far, in the order of the module's promise, and empty `work`."""
        rows = [Row("sessions", p, key, encode_row(self._sessions[p, key])) for p, key in work.dirty]
        rows += [Row("fences", p, clock_key(tenant), b"\x01%d" % at) for (p, tenant), at in work.clocks.items()]
        await self._copies.mirror_sessions(list(self._session_copies(work)))
        marks = [
            Outgoing(SNAPSHOTS, work.routes[partition], encode(progress(partition, done)), (), partition)
            for partition, done in work.done.items()
        ]
        await send_letters(self._bus, work.letters)
        if work.snapshots or marks:
            await self._bus.send_all([*work.snapshots, *marks])
        for (_, tenant), at in work.clocks.items():
            await self._copies.put_clock(tenant, at)
        await self._ledger.write(rows)
        work.clear()
        while len(self._sessions) > CACHED_SESSIONS:
            self._sessions.popitem(last=False)

    def _session_copies(self, work: Work) -> Iterator[SessionCopy]:
        for (partition, key), (scope, session, ttl_ms) in work.dirty.items():
            row = self._sessions[partition, key]
            yield SessionCopy(scope, session, replace(row, seen=(), offsets={}), ttl_ms)
