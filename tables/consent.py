"""Consent to remember: what the user allowed, in all or by type and class, at a given time (A5, A13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tables.book import Book, Grant
from tables.candidate import Kind, Sensitivity
from tables.policy import Policy, Sensitive

EVERYTHING: Final = ""
KEYS: Final = frozenset({EVERYTHING, *Kind, *Sensitivity} - {Sensitivity.NONE})
GRANTS_MAX: Final = 64  # consent commands kept to judge late turns by the consent of their time


def granted(grants: Iterable[Grant]) -> dict[str, bool]:
    """The consent in force after `grants`, oldest first.

    A word about everything is the last word about what was allowed by name; what was refused by name stays refused
    until it is allowed by name.
    """
    held: dict[str, bool] = {}
    for grant in grants:
        if grant.of_kind == EVERYTHING:
            held = {key: False for key, allow in held.items() if not allow}
        held[grant.of_kind] = grant.allow
    return held


def consent_at(book: Book, at: int) -> Mapping[str, bool]:
    """The consent in force at `at`: a turn is judged by that of its own time."""
    if not book.grants or book.grants[-1].at <= at:
        return book.consent
    return granted(grant for grant in book.grants if grant.at <= at)


def is_allowed(consent: Mapping[str, bool], kind: Kind, sensitivity: Sensitivity, policy: Policy) -> bool:
    """Whether this type and class may be remembered; a class that the policy says to ask for needs a grant by word."""
    named = [consent[key] for key in (kind.value, sensitivity.value) if key in consent]
    if False in named:
        return False
    if policy.sensitive.get(sensitivity, Sensitive.ALLOW) is Sensitive.ASK:
        return consent.get(sensitivity.value, consent.get(EVERYTHING, False))
    return bool(named) or consent.get(EVERYTHING, policy.consent_default)
