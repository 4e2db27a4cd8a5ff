"""How a new statement stands to a held memory when no slot says it: the same again, its update, in conflict, neither.

Slots compare what the closed rules read. What they did not read is compared by meaning here, with a small trained model
(`tests.extraction.relate`) over vectors, shared words, numbers, negation and words of change. It errs: so only a clear
update retires anything, only a clear repetition is merged, and a conflict never changes a memory by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tables.candidate import Kind, Polarity
from tables.text import terms

Floats = NDArray[np.float32]
Vector = Sequence[float]

SAME_FROM: Final = 0.45
UPDATE_FROM: Final = 0.4
CONFLICT_FROM: Final = 0.75
NEAR_FROM: Final = 0.8  # cosine of two passage vectors; unrelated sentences lie around 0.75
NEAREST: Final = 4

_CHANGED: Final = re.compile(
    r"不再|改成|改为|换|现在|不了|戒|停了|已经|其实|更正|取消|推迟|提前|搬|变|又|终于|算了|还是|不是"
    r"|no longer|not any ?more|any ?more|actually|instead|changed?|switch|moved|\bnow\b|quit|stopped|gave up|used to"
    r"|scrap|cancel|slipped|pushed|bumped|turns out|correction|after all|since then|went with|ended up|finally",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"不|没|别|\b(?:not|no|never|can'?t|cannot|doesn'?t|don'?t|isn'?t|no longer)\b|n't\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)?|[一二三四五六七八九十百千万两]+(?=[个号点万千块年月日天岁])")


class Related(StrEnum):
    SAME = "same"
    UPDATE = "update"
    CONFLICT = "conflict"
    OTHER = "other"


class Statement(Protocol):
    """What is compared: candidates and memories both have it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def polarity(self) -> Polarity: ...
    @property
    def content(self) -> str: ...
    @property
    def lang(self) -> str: ...


@dataclass(frozen=True)
class Relating:
    """Weights of a multinomial logistic regression. f = signs + 3 × 384 dimensions.

    centre   (384,) mean passage vector, taken off where a direction counts
    mean, scale   (f,): a row is (row - mean) * scale before it is multiplied
    weights, bias   (f, 4), (4,) in the order of `labels`
    """

    labels: tuple[str, ...]
    centre: Floats
    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats

    def chances(self, held: Statement, held_vector: Vector, said: Statement, said_vector: Vector) -> dict[str, float]:
        """Probability of each relation of `said` to `held`."""
        row = (pair(held, held_vector, said, said_vector, self.centre) - self.mean) * self.scale
        odds = row @ self.weights + self.bias
        odds = np.exp(odds - odds.max())
        return dict(zip(self.labels, (odds / odds.sum()).tolist(), strict=True))

    def relation(self, held: Statement, held_vector: Vector, said: Statement, said_vector: Vector) -> Related:
        """The relation that is clear enough to act on; OTHER when none is."""
        chances = self.chances(held, held_vector, said, said_vector)
        if chances[Related.SAME] >= SAME_FROM:
            return Related.SAME
        if chances[Related.UPDATE] >= UPDATE_FROM:
            return Related.UPDATE
        return Related.CONFLICT if chances[Related.CONFLICT] >= CONFLICT_FROM else Related.OTHER


def pair(held: Statement, held_vector: Vector, said: Statement, said_vector: Vector, centre: Floats) -> Floats:
    """The row that the model sees of a pair: some twenty signs, then the vectors' difference, product and direction."""
    one, two = np.asarray(held_vector, np.float32), np.asarray(said_vector, np.float32)
    away, toward = one - centre, two - centre
    norms = float(np.linalg.norm(away) * np.linalg.norm(toward)) or 1.0
    signs = [float(one @ two), float(away @ toward) / norms, *_signs(held, said)]
    return np.concatenate([np.asarray(signs, np.float32), np.abs(one - two), one * two, toward])


def _signs(held: Statement, said: Statement) -> list[float]:
    mine, theirs = set(terms(held.content)), set(terms(said.content))
    both = len(mine & theirs)
    before, after = set(_NUMBER.findall(held.content)), set(_NUMBER.findall(said.content))
    denied, denies = _DENIED.search(held.content) is not None, _DENIED.search(said.content) is not None
    return [
        both / max(1, min(len(mine), len(theirs))),
        both / max(1, len(mine | theirs)),
        float(both > 0),
        float(_CHANGED.search(said.content) is not None),
        float(denied),
        float(denies),
        float(denied != denies),
        float(bool(before) and bool(after)),
        float(bool(before) and bool(after) and before != after),
        float(bool(before & after)),
        float(bool(after - before)),
        float(held.polarity is not said.polarity),
        float(said.polarity is Polarity.NEGATIVE),
        float(held.kind is said.kind),
        min(3.0, len(said.content) / max(1, len(held.content))),
        float(said.lang.startswith("zh")),
    ]


SIGNS: Final = 18
_FROM_NOW: Final = re.compile(
    r"以后|今后|往后|从现在|从今|一律|\b(?:from now on|from here on|going forward|these days|in future|always)\b",
    re.IGNORECASE,
)


def tells_change(text: str) -> bool:
    """Whether a statement says that something is different now, or holds from now on."""
    return _CHANGED.search(text) is not None or _FROM_NOW.search(text) is not None


def nearest(said_vector: Vector, held: Sequence[tuple[str, Vector]]) -> list[str]:
    """Ids of at most NEAREST held vectors that are near enough to be looked at, nearest first."""
    known = [(memory_id, vector) for memory_id, vector in held if len(vector) == len(said_vector)]
    if not known:
        return []
    cosines = np.asarray([vector for _, vector in known], np.float32) @ np.asarray(said_vector, np.float32)
    order = sorted(range(len(known)), key=lambda row: (-round(float(cosines[row]), 6), known[row][0]))
    return [known[row][0] for row in order[:NEAREST] if cosines[row] >= NEAR_FROM]
