"""The session row: the short-term window in event time, with what keeps a redelivery from counting twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tables.policy import Policy
from tables.turn import Turn

SEEN_MAX = 512  # turn keys kept per session; a repeat beyond that is harmless by law (design §11.6)


@dataclass(frozen=True, slots=True)
class WindowTurn:
    """A turn as the window keeps it. `at` epoch ms."""

    key: str
    id: str
    role: str
    content: str
    at: int
    tokens: int
    task: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """An instruction for this session only ("answer briefly this time"), with the turn it comes from."""

    slot: str
    content: str
    turn: str
    at: int


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one user. `offsets` is the guard: last applied offset per source topic on this partition.

    `started_at` of the present window; `seen` the marks of the last 512 turns, in the order taken.
    """

    window: tuple[WindowTurn, ...] = ()
    wishes: tuple[Wish, ...] = ()
    started_at: int = 0
    last_at: int = 0
    seen: tuple[str, ...] = ()
    offsets: dict[str, int] = field(default_factory=dict)


def fold(session: Session, turn: Turn, tokens: int, policy: Policy) -> Session:
    """`session` with `turn` in its window, in event time; a turn already seen changes nothing.

    A turn later than the gap since the last activity starts a new window: turns and wishes of the old one are gone.
    A turn that belongs before the present window is remembered as seen and goes to memory only (design §11.17).
    The window keeps the newest turns that fit `window_messages` and `window_tokens`; the newest one always stays.
    """
    mark = seen_mark(turn.key)
    if mark in session.seen:
        return session
    seen = (*session.seen[-(SEEN_MAX - 1) :], mark)
    if session.last_at and turn.at < session.started_at - policy.session_gap_ms:
        return replace(session, seen=seen)
    new = WindowTurn(turn.key, turn.id, turn.role.value, turn.content, turn.at, tokens, turn.task)
    if session.last_at and turn.at - session.last_at > policy.session_gap_ms:
        return Session((new,), (), turn.at, turn.at, seen, session.offsets)
    window = bounded((*session.window, new), policy)
    started = min(session.started_at or turn.at, turn.at)
    return Session(window, session.wishes, started, max(session.last_at, turn.at), seen, session.offsets)


def bounded(turns: tuple[WindowTurn, ...], policy: Policy) -> tuple[WindowTurn, ...]:
    """The newest of `turns` that fit both bounds, in order of time; never empty for a non-empty input.

    Turns of the same millisecond stay in the order taken, which is the log's and the same in every replay.
    """
    if len(turns) > 1 and turns[-1].at < turns[-2].at:
        turns = tuple(sorted(turns, key=lambda t: t.at))
    kept = turns[-policy.window_messages :]
    total = sum(t.tokens for t in kept)
    first = 0
    while total > policy.window_tokens and first < len(kept) - 1:
        total -= kept[first].tokens
        first += 1
    return kept[first:]


def wished(session: Session, wish: Wish) -> Session:
    """`session` with `wish` in force; a later wish of the same slot replaces the earlier one."""
    others = tuple(w for w in session.wishes if w.slot != wish.slot)
    held = next((w for w in session.wishes if w.slot == wish.slot), None)
    if held is not None and (held.at, held.turn) >= (wish.at, wish.turn):
        return session
    return replace(session, wishes=(*others, wish))


def without(session: Session, turn: Callable[[WindowTurn], bool], wish: Callable[[Wish], bool]) -> Session:
    """`session` without the window turns and the wishes that these hold of, nor the wishes of a turn that went."""
    gone = {t.key for t in session.window if turn(t)}
    wishes = tuple(w for w in session.wishes if w.turn not in gone and not wish(w))
    if not gone and len(wishes) == len(session.wishes):
        return session
    return replace(session, window=tuple(t for t in session.window if t.key not in gone), wishes=wishes)


def seen_mark(turn_key: str) -> str:
    """What `seen` keeps of a turn key: 64 bits, enough to tell 512 turns of one session apart."""
    return turn_key[:16]


def readable(session: Session, now: int, policy: Policy) -> bool:
    """Whether the window may still be read at `now`: neither its gap nor the session's TTL is over."""
    idle = now - session.last_at
    return idle <= policy.session_gap_ms and idle <= policy.session_ttl_ms
