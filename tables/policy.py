"""What a tenant decides: budgets, windows, clock, consent, sensitive kinds. Every number has a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tables.candidate import Kind, Sensitivity

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class KindRule:
    """Defaults of a type (design §4): weight = tokens × `factor`; τ = `tau_days`."""

    factor: float
    tau_days: float
    freezes: bool
    needs_review: bool


KINDS: Mapping[Kind, KindRule] = {
    Kind.IDENTITY: KindRule(1.0, 365, freezes=True, needs_review=False),
    Kind.HEALTH: KindRule(1.0, 365, freezes=True, needs_review=True),
    Kind.BOUNDARY: KindRule(1.0, 365, freezes=True, needs_review=False),
    Kind.VALUE: KindRule(0.8, 180, freezes=True, needs_review=True),
    Kind.PREFERENCE: KindRule(0.8, 180, freezes=True, needs_review=True),
    Kind.COMMITMENT: KindRule(0.8, 180, freezes=True, needs_review=False),
    Kind.FACT: KindRule(0.6, 180, freezes=False, needs_review=False),
    Kind.TASK: KindRule(0.5, 30, freezes=False, needs_review=False),
    Kind.PLAN: KindRule(0.5, 7, freezes=False, needs_review=False),
}


class Clock(StrEnum):
    WALL = "wall"
    EVENT = "event"


class Sensitive(StrEnum):
    """What to do with a sensitive class: store it marked, store it only with consent, refuse it."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


DEFAULT_SENSITIVE: Mapping[Sensitivity, Sensitive] = {
    Sensitivity.NONE: Sensitive.ALLOW,
    Sensitivity.HEALTH: Sensitive.ALLOW,
    Sensitivity.FINANCE: Sensitive.ALLOW,
    Sensitivity.CONTACT: Sensitive.ALLOW,
    Sensitivity.IDENTITY_NUMBER: Sensitive.REFUSE,
    Sensitivity.CREDENTIAL: Sensitive.REFUSE,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of a tenant's policy; a verdict names `version`."""

    version: int = 1
    valid_from: int = 0
    items: int = 300
    item_tokens: int = 128
    total_weight: float = 2000.0
    protected_share: float = 0.8
    window_messages: int = 20
    window_tokens: int = 2000
    session_gap_ms: int = 2 * HOUR_MS
    session_ttl_ms: int = 24 * HOUR_MS
    history_ms: int = 30 * DAY_MS
    versions_per_slot: int = 8
    consent_default: bool = True
    sensitive: Mapping[Sensitivity, Sensitive] = field(default_factory=lambda: dict(DEFAULT_SENSITIVE))
    authoritative: tuple[str, ...] = ("order_status", "account_balance")  # kinds that a business system holds
    freeze_confidence: float = 0.85
    recall_items: int = 20
    recall_tokens: int = 1500


@dataclass(frozen=True, slots=True)
class Tenant:
    """A registered tenant. `shards`, `clock` and `partition` (Milvus placement) never change in place."""

    id: str
    shards: int = 1
    clock: Clock = Clock.WALL
    placement: str = ""
    policies: tuple[Policy, ...] = (Policy(),)

    def policy_at(self, at: int) -> Policy:
        """The newest policy version that is valid at `at` (epoch ms); the first one before that."""
        valid = [p for p in self.policies if p.valid_from <= at]
        return max(valid, key=lambda p: (p.valid_from, p.version)) if valid else self.policies[0]
