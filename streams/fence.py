"""Fences: what a delete makes unreadable at once, in every road through the past, and the windows that it cleans.

Order of an erasure's effects here, each awaited: fence row → unreadable marks in Redis → Redis windows → session rows →
back-queries. A crash after any of them: the replay finds the fence by its request id, keeps its time, its positions and
what was counted before, and does the rest again: a row is cleaned after its copy, so what is still to be done is seen
in the row. The snapshot that travels on to `admit` carries the fence and the evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from connectors.codec import decode_held, decode_row, encode_row
from connectors.kafka.topics import TURNS
from connectors.ledger import Ledger, Row
from streams.batch import Taken
from streams.ports import Copies
from tables.command import Command
from tables.copies import SessionCopy
from tables.erase import aliases_of, chain, fenced
from tables.erasure import Erasure, Fence, Mark, Reach, Selector
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, Scope, digest, key_parts, row_key, turn_key
from tables.memory import Memory
from tables.receipt import CopyEvidence, Physical, Query, summed
from tables.repeated import repeats, tells_of
from tables.session import Session, WindowTurn, Wish, without
from tables.snapshot import Snapshot, SnapshotKind
from tables.spoken import kinds_said
from tables.turn import Turn

CACHED_FENCES = 50_000


@dataclass(frozen=True, slots=True)
class Fences:
    """The row of `fences`: one of a user, or of a whole tenant (user "").

    found  per request id how many turns of windows fell to its fence when it was set: the receipt says so, however
           often the cleaning is begun
    """

    fences: tuple[Fence, ...] = field(default_factory=tuple)
    found: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Gone:
    """What of a window falls to a fence. `keys` and `said`: turns behind what is erased, and the values they said.

    What is said after the fence is welcome, also in the words of what was erased, however often the request comes.
    """

    fence: Fence
    keys: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()

    def of(self, session: Session) -> tuple[Callable[[WindowTurn], bool], Callable[[Wish], bool]]:
        """Which turns and which wishes of `session` go."""
        taken = Position(TURNS, -1, session.offsets.get(TURNS, 0))  # below the fence's place: all of the row is

        def turn(one: WindowTurn) -> bool:
            return self.fence.holds(one.at, taken) and self._touches(one)

        def wish(one: Wish) -> bool:
            whole = self.fence.selector.reach in (Reach.USER, Reach.TENANT, Reach.SESSION)
            return (whole or one.turn in self.keys) and self.fence.holds(one.at, taken)

        return turn, wish

    def _touches(self, turn: WindowTurn) -> bool:
        selector = self.fence.selector
        match selector.reach:
            case Reach.USER | Reach.TENANT | Reach.SESSION:
                return True
            case Reach.SOURCE:
                return turn.id in selector.values or turn.key in selector.values
            case Reach.TASK:
                return turn.task in selector.values
            case Reach.KIND:
                return self._repeats(turn) or not kinds_said(turn).isdisjoint(selector.values)
            case Reach.MEMORY:
                return self._repeats(turn)

    def _repeats(self, turn: WindowTurn) -> bool:
        return turn.key in self.keys or repeats(turn.content, self.said)


class Fencing:
    """Writes and reads `fences`, and cleans `sessions`, for collect alone."""

    def __init__(self, *, ledger: Ledger, copies: Copies, now: Callable[[], int]) -> None:
        self._ledger = ledger
        self._copies = copies
        self._now = now
        self._cache: dict[tuple[int, Scope], Fences] = {}

    def forget(self) -> None:
        self._cache.clear()

    def fenced(self, partition: int, turn: Turn) -> bool:
        """Whether a fence of the user or of the tenant covers `turn`."""
        fences = self.of(partition, turn.scope)
        return bool(fences) and fenced(
            fences,
            turn_id=turn.id,
            session=turn.session,
            task=turn.task,
            kind="",
            memory_id="",
            turn=turn.key,
            at=turn.at,
            position=turn.position,
        )

    def of(self, partition: int, scope: Scope) -> tuple[Fence, ...]:
        """Every fence that speaks of this user: the user's own and the tenant's."""
        return self._row(partition, scope).fences + self._row(partition, Scope(scope.tenant, "")).fences

    def _row(self, partition: int, scope: Scope) -> Fences:
        held = self._cache.get((partition, scope))
        if held is None:
            raw = self._ledger.get("fences", partition, row_key(*scope))
            held = decode_row(Fences, raw) if raw else Fences()
            if len(self._cache) >= CACHED_FENCES:
                self._cache.clear()
            self._cache[partition, scope] = held
        return held

    async def erase(self, record: Taken, erasure: Erasure) -> Snapshot:
        """Fence what `erasure` selects and clean the windows; the snapshot for `admit`.

        Every turn taken before must be in its session's row by now.
        """
        partition = record.partition
        fence = await self._set(partition, erasure)
        await self._copies.put_marks(erasure.scope, self.marks(fence))
        evidence = await self._clean(partition, erasure.scope, fence)
        position = Position(record.topic, partition, record.offset)
        return Snapshot(
            SnapshotKind.ERASURE, position, erasure.scope, erasure=erasure, fence=fence, evidence=(evidence,)
        )

    async def reset(self, record: Taken, command: Command) -> Snapshot | None:
        """A new conversation: `context` clears this session, `history` every session, `all` erases the user.

        Returns the erasure's snapshot for `all`, else None.
        """
        if command.reach == "all":
            whole = Selector(Reach.USER)
            erasure = Erasure(command.request_id, command.scope, whole, "reset", command.actor, command.at)
            return await self.erase(record, erasure)
        fence = Fence(Selector(Reach.USER), command.at, command.request_id)
        only = (command.session,) if command.reach == "context" else ()
        await self._rewrite(record.partition, command.scope, only, _Gone(fence))
        return None

    def marks(self, fence: Fence) -> list[Mark]:
        """What readers must hide of `fence`."""
        values = fence.selector.values or ("",)
        reach, before = fence.selector.reach, fence.selector.before
        return [Mark(reach, value, fence.at, before, self._now(), confirmed=True) for value in values]

    async def _set(self, partition: int, erasure: Erasure) -> Fence:
        held = self._row(partition, erasure.scope)
        for fence in held.fences:
            if fence.request_id == erasure.request_id:
                _check_same(erasure.selector, fence.selector)
                return fence
        selector = self._widened(partition, erasure.scope, erasure.selector)
        fence = Fence(selector, erasure.at, erasure.request_id, self._taken(partition, erasure.scope))
        found = {**held.found, fence.request_id: self._count(partition, erasure.scope, fence)}
        row = Fences((*held.fences, fence), found)
        await self._ledger.write([Row("fences", partition, row_key(*erasure.scope), encode_row(row))])
        self._cache[partition, erasure.scope] = row
        return fence

    def _taken(self, partition: int, scope: Scope) -> dict[str, int]:
        """Per source topic the first offset not yet taken of what concerns `scope`, from the guards of its rows."""
        ends: dict[str, int] = {}
        for _, session in self._rows(partition, scope, ()):
            for topic, offset in session.offsets.items():
                ends[topic] = max(ends.get(topic, 0), offset + 1)
        return ends

    def _count(self, partition: int, scope: Scope, fence: Fence) -> int:
        """How many turns of windows fall to `fence` as they are now."""
        gone = self._gone(partition, scope, fence)
        rows = self._rows(partition, scope, _sessions_of(fence))
        return sum(_left(gone, session) for _, session in rows)

    def _widened(self, partition: int, scope: Scope, selector: Selector) -> Selector:
        """A fence by memory id also names the chain, and every id under which the same facts would come back."""
        if selector.reach is not Reach.MEMORY:
            return selector
        memories = {memory.id: memory for memory in self._memories(partition, scope)}
        named = chain(selector.values, memories)
        ids = {one for name in named for one in aliases_of(memories[name])}
        return replace(selector, values=(*selector.values, *sorted(ids - set(selector.values))))

    async def _clean(self, partition: int, scope: Scope, fence: Fence) -> CopyEvidence:
        gone = self._gone(partition, scope, fence)
        only = _sessions_of(fence)
        await self._rewrite(partition, scope, only, gone)
        left = 0
        emptied: dict[Scope, list[str]] = defaultdict(list)
        for key, session in self._rows(partition, scope, only):
            left += _left(gone, session)
            if not session.window and not session.wishes:
                tenant, user, name = key_parts(key)
                emptied[Scope(tenant, user)].append(name)
        queries = [Query("row", left)]
        for owner, names in emptied.items():
            queries += await self._copies.residue(owner, (), names)
        after = sum(query.found for query in queries)
        before = self._row(partition, scope).found.get(fence.request_id, 0)
        return CopyEvidence("windows", before, after, summed(queries), Physical.ERASED)

    async def _rewrite(self, partition: int, scope: Scope, only: tuple[str, ...], gone: _Gone) -> None:
        """Take what is `gone` out of the windows: of their copies first, then of the rows, which tell what is left.

        The copy of an empty row goes in any case: it may hold a turn of a batch that never came to its end.
        """
        copies: list[SessionCopy] = []
        rows: list[Row] = []
        for key, session in self._rows(partition, scope, only):
            kept = without(session, *gone.of(session))
            bare = replace(kept, seen=(), offsets={}) if kept.window or kept.wishes else None
            if kept is session and bare is not None:
                continue
            tenant, user, name = key_parts(key)
            copies.append(SessionCopy(Scope(tenant, user), name, bare, 0))
            if kept is not session:
                rows.append(Row("sessions", partition, key, encode_row(kept)))
        await self._copies.mirror_sessions(copies)
        await self._ledger.write(rows)

    def _rows(self, partition: int, scope: Scope, only: tuple[str, ...]) -> Iterator[tuple[bytes, Session]]:
        owner = scope if scope.user else (scope.tenant,)
        if not only:
            for key, raw in self._ledger.scan("sessions", partition, row_key(*owner)):
                yield key, decode_row(Session, raw)
        for name in only:
            key = row_key(*owner, name)
            row = self._ledger.get("sessions", partition, key)
            if row is not None:
                yield key, decode_row(Session, row)

    def _gone(self, partition: int, scope: Scope, fence: Fence) -> _Gone:
        """What of the windows falls to `fence` (design §11.7, FORMAT rule 12)."""
        reach, values = fence.selector.reach, frozenset(fence.selector.values)
        if reach is Reach.SOURCE:
            names = [key_parts(key)[2] for key, _ in self._rows(partition, scope, ())]
            return _Gone(fence, values | {turn_key(scope, name, value) for name in names for value in values})
        if reach not in (Reach.MEMORY, Reach.KIND):
            return _Gone(fence)
        targets = [m for m in self._memories(partition, scope) if _named(m, reach, values)]
        keys = frozenset(source.turn for memory in targets for source in memory.sources)
        said = tuple(tell for memory in targets for tell in tells_of(memory))
        return _Gone(fence, keys, said)

    def _memories(self, partition: int, scope: Scope) -> Iterator[Memory]:
        for _, raw in self._ledger.scan("memories", partition, row_key(*scope)):
            yield decode_held(raw)[0]


def _left(gone: _Gone, session: Session) -> int:
    """How many turns of the window are `gone` and still there."""
    turn, _ = gone.of(session)
    return sum(map(turn, session.window))


def _sessions_of(fence: Fence) -> tuple[str, ...]:
    """The only sessions that `fence` speaks of; () = any."""
    return fence.selector.values if fence.selector.reach is Reach.SESSION else ()


def withdrawn(command: Command, selector: Selector) -> Erasure:
    """The erasure that a withdrawn consent asks for, of what it covered."""
    request_id = digest("withdrawn", command.request_id)
    return Erasure(request_id, command.scope, selector, "consent", command.actor, command.at)


def _check_same(asked: Selector, held: Selector) -> None:
    """The same request id means the same request. Raises InvalidRecord otherwise: a receipt speaks of one selector."""
    same = (asked.reach, asked.before, asked.values) == (held.reach, held.before, held.values[: len(asked.values)])
    if not same:
        raise InvalidRecord(BadRecord.BAD_VALUE, "request_id")


def _named(memory: Memory, reach: Reach, values: frozenset[str]) -> bool:
    if reach is Reach.MEMORY:
        return memory.id in values
    return memory.kind.value in values or memory.sensitivity.value in values
