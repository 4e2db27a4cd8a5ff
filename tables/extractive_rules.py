"""What a rule of extraction is: a pattern for the start of a clause, and the slot and polarity it gives."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is matched at the start of a clause that no frame has taken.

    Groups: v value (the whole match without it), o object of the slot, n its presence turns the polarity.
    anywhere  search instead of match
    """

    slot: str
    pattern: re.Pattern[str]
    negative: bool = False
    confidence: float = 0.9
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rule read in a clause: positions are relative to the clause."""

    slot: str
    value: str
    negative: bool
    confidence: float


def compiled(rows: list[tuple[str, str]], flags: int = 0) -> tuple[Rule, ...]:
    """Rules of (slot, pattern) rows. A slot's marks: "-" negative, "?" half sure, "*" anywhere in the clause."""
    rules = []
    for name, pattern in rows:
        slot = name.rstrip("-?*")
        marks = name[len(slot) :]
        rules.append(Rule(slot, re.compile(pattern, flags), "-" in marks, 0.5 if "?" in marks else 0.9, "*" in marks))
    return tuple(rules)
