"""How well the default extractor does on text nobody wrote rules or training sentences for.

`python -m tests.extraction.report` reads tests/extraction/unseen.tsv and prints, per language: what is kept of what is
worth keeping, how much of what is kept is not, drafts, kind and polarity, what the first tier stops; and how often a
confidence is right, by its height. No engine is needed; the whole write side over the engine is `eval --write`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import typer
from rich.console import Console
from rich.table import Table

from connectors.model.embedder import NanoEmbedder
from connectors.model.extractive import Extractive
from connectors.model.weights import load
from tables.candidate import SELF, Candidate
from tables.errors import InvalidRecord
from tables.frozen import is_hedged
from tables.policy import Policy
from tables.sieve import Sieve
from tables.worth import screen
from tests.extraction.data import Row, said, unseen

THIRD: Final = "third"
STEPS: Final = (0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 1.01)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one sentence. `taken`: candidates of the user's own; `stopped`: no embedding was spent on it."""

    row: Row
    taken: tuple[Candidate, ...]
    stopped: bool

    @property
    def sure(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.taken if not is_hedged(one.confidence, one.confirmation))


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares 0..1. junk: of the sentences kept; kind, polarity: of those kept rightly; passed: of the junk."""

    worth: int
    kept: int
    recall: float
    junk: float
    drafts: float
    kind: float
    polarity: float
    passed: float
    lost: float


async def outcomes(rows: Sequence[Row]) -> list[Outcome]:
    head, sieve = load()
    answers = await Extractive(NanoEmbedder(), head).extract([(said(row.text), Policy()) for row in rows])
    return [_outcome(row, answer, sieve) for row, answer in zip(rows, answers, strict=True)]


def _outcome(row: Row, answer: tuple[Candidate, ...] | InvalidRecord, sieve: Sieve) -> Outcome:
    if isinstance(answer, InvalidRecord):
        raise answer
    stopped = screen(said(row.text), True) is not None or sieve.stops(row.text)
    own = tuple(one for one in answer if one.subject == SELF or row.label != THIRD)
    return Outcome(row, () if stopped else own, stopped)


def figures(found: Sequence[Outcome], lang: str) -> Figures:
    mine = [one for one in found if one.row.lang == lang]
    worth = [one for one in mine if one.row.keep]
    rest = [one for one in mine if not one.row.keep and one.row.label != THIRD]
    right = [one for one in worth if one.sure]
    wrong = [one for one in rest if one.sure]
    return Figures(
        worth=len(worth),
        kept=len(right) + len(wrong),
        recall=len(right) / len(worth),
        junk=len(wrong) / max(1, len(right) + len(wrong)),
        drafts=sum(bool(one.taken) and not one.sure for one in worth) / len(worth),
        kind=sum(any(c.kind.value == one.row.label for c in one.sure) for one in right) / max(1, len(right)),
        polarity=sum(any(c.polarity.value == one.row.polarity for c in one.sure) for one in right) / max(1, len(right)),
        passed=sum(not one.stopped for one in rest) / len(rest),
        lost=sum(one.stopped for one in worth) / len(worth),
    )


def calibration(found: Sequence[Outcome], lang: str) -> list[tuple[float, int, float]]:
    """(lower bound, candidates, share of them worth keeping) by confidence, drafts with them."""
    said_by = [
        (c.confidence, o.row.keep) for o in found if o.row.lang == lang and o.row.label != THIRD for c in o.taken
    ]
    table: list[tuple[float, int, float]] = []
    for low, high in pairwise(STEPS):
        inside = [keep for confidence, keep in said_by if low <= confidence < high]
        table.append((low, len(inside), sum(inside) / len(inside) if inside else 0.0))
    return table


def main() -> None:
    """Print the figures of the default extractor on sentences that it has never seen."""
    console = Console()
    found = asyncio.run(outcomes(unseen()))
    table = Table(
        "language", "worth", "kept", "recall", "junk", "drafts", "kind", "polarity", "junk embedded", "lost early"
    )
    for lang in ("en", "zh"):
        one = figures(found, lang)
        shares = (one.recall, one.junk, one.drafts, one.kind, one.polarity, one.passed, one.lost)
        table.add_row(lang, str(one.worth), str(one.kept), *(f"{share:.3f}" for share in shares))
    console.print(table)
    table = Table("confidence from", "en: said", "worth it", "zh: said", "worth it")
    for en, zh in zip(calibration(found, "en"), calibration(found, "zh"), strict=True):
        table.add_row(f"{en[0]:.2f}", str(en[1]), f"{en[2]:.2f}", str(zh[1]), f"{zh[2]:.2f}")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
