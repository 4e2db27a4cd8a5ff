"""The bounded gate: how much of one user is held, and what goes when it is too much (H2, H3, H17, design §11.12)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop
from math import fsum
from typing import Final

from tables.book import Entry
from tables.memory import Pin, State, Status
from tables.policy import Policy
from tables.score import score

Order = tuple[bool, float, int, str]

# Members of enums, looked up once: these loops go over every entry of a book for every candidate.
_ACTIVE: Final = Status.ACTIVE
_DRAFT: Final = State.DRAFT
_FROZEN: Final = State.FROZEN
_UNPINNED: Final = Pin.NONE

ROUNDING: Final = 1e-6  # sums of weights in another order may differ in their last bits


def is_exempt(entry: Entry) -> bool:
    """Frozen, protected and pinned memories are never evicted."""
    return entry.protected or entry.state is _FROZEN or entry.pin is not _UNPINNED


def eviction_order(entry: Entry, now: int) -> Order:
    """What goes first is the least: drafts, then the lowest score; ties by older, then id."""
    return (entry.state is not _DRAFT, score(entry, now), entry.created_at, entry.id)


def fits(entries: Iterable[Entry], policy: Policy) -> bool:
    """Whether the active ones of `entries` keep the item and the weight budget."""
    active = [e.weight for e in entries if e.status is _ACTIVE]
    return len(active) <= policy.items and fsum(active) <= policy.total_weight + ROUNDING


def victims(
    held: Iterable[Entry], newcomer: Entry, policy: Policy, now: int, *, competes: bool = True
) -> tuple[Entry, ...] | None:
    """Whom `newcomer` displaces among `held` so that both budgets are kept; None = it is refused (over budget).

    Victims are always the least in `eviction_order`. A newcomer that `competes` is itself in that order and is refused
    when its turn comes; one that replaces what it supersedes does not compete. An exempt newcomer that is protected is
    stored even when nobody is left to go.
    """
    active = [e for e in held if e.status is _ACTIVE]
    count = len(active) + 1
    total = fsum(e.weight for e in active) + newcomer.weight
    most = policy.total_weight + ROUNDING
    if count <= policy.items and total <= most:
        return ()
    own = eviction_order(newcomer, now) if competes and not is_exempt(newcomer) else None
    queue = [
        (e.state is not _DRAFT, score(e, now), e.created_at, e.id, e)  # eviction_order, written out
        for e in active
        if not e.protected and e.state is not _FROZEN and e.pin is _UNPINNED  # is_exempt, written out
    ]
    heapify(queue)  # no two ids are equal, so entries are never compared
    gone: list[Entry] = []
    while count > policy.items or total > most:
        if not queue:
            return tuple(gone) if newcomer.protected else None
        *order, entry = heappop(queue)
        if own is not None and own < tuple(order):
            return None
        gone.append(entry)
        count -= 1
        total -= entry.weight
    return tuple(gone)


def fits_share(entries: Iterable[Entry], entry: Entry, policy: Policy) -> bool:
    """Whether `entry` may become exempt: all exempt ones together keep `policy.protected_share` of both budgets.

    One that is exempt already takes nothing more.
    """
    if is_exempt(entry):
        return True
    exempt = [e.weight for e in entries if e.status is _ACTIVE and is_exempt(e) and e.id != entry.id]
    items_kept = len(exempt) + 1 <= policy.protected_share * policy.items
    return items_kept and fsum(exempt) + entry.weight <= policy.protected_share * policy.total_weight + ROUNDING
