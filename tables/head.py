"""The trained head: one vector and the rules' evidence of a sentence to a probability for each label.

A multinomial logistic regression. Its weights are trained by `tests.extraction.train` and read by a connector; the
arithmetic here is numpy only and the same on every machine to the last few bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tables.candidate import Kind
from tables.features import FEATURES

Floats = NDArray[np.float32]

KEEPS: Final[tuple[str, ...]] = tuple(kind.value for kind in Kind)
THIRD: Final = "third"


@dataclass(frozen=True, slots=True)
class Limits:
    """At which probability of being worth keeping a sentence is stored, waits as a draft, or loses what a rule read."""

    accept: float
    draft: float
    veto: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the head says of one sentence: `keep` = summed probability of the kept kinds, `kind` the likeliest of them.

    `third`: probability of a fact about somebody else; `negative`: that the statement denies, ends or forbids.
    """

    keep: float
    kind: Kind
    third: float
    negative: float


@dataclass(frozen=True)
class Head:
    """Weights. d = dimensions of a vector + len(FEATURES), k = len(labels).

    mean, scale  (d,) float32: a row is (row - mean) * scale before it is multiplied
    weights, bias      (d, k), (k,) float32
    polarity, polarity_bias   (d,), scalar
    limits       by language, "zh" and "en"; any other language is held to the stricter of the two
    """

    labels: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats
    polarity: Floats
    polarity_bias: float
    limits: Mapping[str, Limits]

    def judge(self, vectors: Sequence[Sequence[float]], noticed: Sequence[Sequence[float]]) -> list[Judgement]:
        """One judgement a row. `vectors`: passage vectors, `noticed`: numbers per FEATURES."""
        if not vectors:
            return []
        rows = np.hstack([np.asarray(vectors, np.float32), np.asarray(noticed, np.float32)])
        scaled = (rows - self.mean) * self.scale
        odds = scaled @ self.weights + self.bias
        odds -= odds.max(axis=1, keepdims=True)
        chances = np.exp(odds)
        chances /= chances.sum(axis=1, keepdims=True)
        negative = 1 / (1 + np.exp(-(scaled @ self.polarity + self.polarity_bias)))
        return [self._judgement(row, float(one)) for row, one in zip(chances, negative, strict=True)]

    def limits_of(self, lang: str) -> Limits:
        known = self.limits.get(lang)
        return known if known is not None else max(self.limits.values(), key=lambda one: one.accept)

    def _judgement(self, chances: Any, negative: float) -> Judgement:
        of = {label: float(chance) for label, chance in zip(self.labels, chances, strict=True)}
        keeps = {label: of.get(label, 0.0) for label in KEEPS}
        kind = max(keeps, key=lambda label: keeps[label])
        return Judgement(min(1.0, sum(keeps.values())), Kind(kind), of.get(THIRD, 0.0), negative)


def fits(dimensions: int, features: int) -> bool:
    """Whether weights made for so many dimensions and features are for this version of the rules."""
    return features == len(FEATURES) and dimensions > 0
