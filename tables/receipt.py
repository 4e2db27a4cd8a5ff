"""The receipt of an erasure: copy by copy what was there, what is left, which queries say so. No content, ever."""

from __future__ import annotations

from dataclasses import dataclass
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
