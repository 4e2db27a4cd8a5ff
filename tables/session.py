"""The session row: the short-term window in event time, with what keeps a redelivery from counting twice."""

from __future__ import annotations

from dataclasses import dataclass, field

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

    `started_at` of the present window; `seen` the last 512 turn keys, oldest first.
    """

    window: tuple[WindowTurn, ...] = ()
    wishes: tuple[Wish, ...] = ()
    started_at: int = 0
    last_at: int = 0
    seen: tuple[str, ...] = ()
    offsets: dict[str, int] = field(default_factory=dict)
