"""The receipt of an erasure: copy by copy what was there, what is left, which queries say so. No content, ever."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class ReceiptState(StrEnum):
    PENDING = "pending"
    VERIFIED = "verified"  # every readable copy proven clean
    FAILED = "failed"  # residue was found; it stays unreadable whatever happens


class Physical(StrEnum):
    ERASED = "erased"
    UNREADABLE = "unreadable"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Query:
    """One back-query: how it looked (by_id, by_scope, count, own_vector, key, scan, row …) and how much it found."""

    name: str
    found: int


@dataclass(frozen=True, slots=True)
class CopyEvidence:
    """`until` (epoch ms, 0 = unknown or none) is when a pending physical stage is bound to be over."""

    copy: str
    before: int
    after: int
    queries: tuple[Query, ...]
    physical: Physical
    until: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """`scope` is a digest: a receipt names nobody. Times are epoch ms of the tenant's clock."""

    request_id: str
    scope: str
    reach: str
    state: ReceiptState
    asked_at: int
    finished_at: int
    attempts: int
    memories: int
    copies: tuple[CopyEvidence, ...]


def joined(parts: Sequence[Receipt], wanted: int) -> Receipt:
    """One receipt of a request that `wanted` routes work on: final with the last, failed as soon as one failed.

    `parts` holds one receipt of each route that is done, at least one.
    """
    first = parts[0]
    failed = any(part.state is ReceiptState.FAILED for part in parts)
    done = ReceiptState.VERIFIED if len(parts) >= wanted else ReceiptState.PENDING
    names = dict.fromkeys(copy.copy for part in parts for copy in part.copies)
    return replace(
        first,
        state=ReceiptState.FAILED if failed else done,
        finished_at=max(part.finished_at for part in parts),
        attempts=max(part.attempts for part in parts),
        memories=sum(part.memories for part in parts),
        copies=tuple(_joined_copy([c for part in parts for c in part.copies if c.copy == name]) for name in names),
    )


def _joined_copy(copies: Sequence[CopyEvidence]) -> CopyEvidence:
    slowest = max(copies, key=lambda copy: (list(Physical).index(copy.physical), copy.until))
    return CopyEvidence(
        copy=copies[0].copy,
        before=sum(copy.before for copy in copies),
        after=sum(copy.after for copy in copies),
        queries=summed([query for copy in copies for query in copy.queries]),
        physical=slowest.physical,
        until=max(copy.until for copy in copies),
    )


def summed(queries: Iterable[Query]) -> tuple[Query, ...]:
    """One query of each name, the counts added up."""
    found: dict[str, int] = {}
    for query in queries:
        found[query.name] = found.get(query.name, 0) + query.found
    return tuple(Query(name, count) for name, count in found.items())
