"""The keyword leg: BM25 of a question over one user's own few hundred rows, terms of both sides from one analyzer.

The statistics are the user's alone: no row of anybody else can move a score, and nothing is kept between two calls.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

K1: Final = 1.2
B: Final = 0.5  # rows are single clauses: their length says little
HALF: Final = 3.0  # the raw score that counts as half relevant: about one rare term among a hundred rows


def scores(query: Sequence[str], rows: Sequence[Sequence[str]]) -> list[float]:
    """Relevance 0..1 (1 excluded) of each row to `query`, in the order of `rows`; 0 where no term is shared."""
    wanted = frozenset(query)
    counts = [Counter(term for term in row if term in wanted) for row in rows]
    rarity = _rarities(counts)
    mean = sum(len(row) for row in rows) / len(rows) if rows else 0.0
    return [_saturated(_score(found, len(row), mean, rarity)) for found, row in zip(counts, rows, strict=True)]


def _rarities(counts: Sequence[Counter[str]]) -> dict[str, float]:
    frequency = Counter(term for found in counts for term in found)
    return {term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}


def _score(found: Counter[str], length: int, mean: float, rarity: dict[str, float]) -> float:
    norm = K1 * (1 - B + B * length / mean) if mean else K1
    return sum(rarity[term] * n * (K1 + 1) / (n + norm) for term, n in found.items())


def _saturated(raw: float) -> float:
    return raw / (raw + HALF)
