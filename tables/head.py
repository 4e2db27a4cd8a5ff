"""The trained head: a sentence's vector, the rules' evidence and its words' to a probability for each label.

A multinomial logistic regression over three views: what the sentence means, what the rules noticed, which words it
has. Its weights are trained by `tests.extraction.train` and read by a connector; the arithmetic here is numpy only and
the same on every machine to the last few bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tables.candidate import Kind
from tables.sieve import Words

Floats = NDArray[np.float32]

KEEPS: Final[tuple[str, ...]] = tuple(kind.value for kind in Kind)


@dataclass(frozen=True, slots=True)
class Limits:
    """At which probability of being worth keeping a sentence is stored, waits as a draft, or loses what a rule read."""

    accept: float
    draft: float
    veto: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the head says of one sentence.

    keep      summed probability of the kept kinds, `kind` the likeliest of them
    chances   probability of every label
    negative  probability that the statement denies, ends or forbids
    """

    keep: float
    kind: Kind
    chances: Mapping[str, float]
    negative: float


@dataclass(frozen=True)
class Head:
    """Weights. d = dimensions of a vector + len(FEATURES) + k, k = len(labels).

    words        a score for each label by the words alone

    mean, scale  (d,) float32: a row is (row - mean) * scale before it is multiplied
    weights, bias      (d, k), (k,) float32
    polarity, polarity_bias   (d,), scalar
    limits       by language, "zh" and "en"; any other language is held to the stricter of the two
    """

    labels: tuple[str, ...]
    words: Words
    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats
    polarity: Floats
    polarity_bias: float
    limits: Mapping[str, Limits]

    def judge(
        self, texts: Sequence[str], vectors: Sequence[Sequence[float]], noticed: Sequence[Sequence[float]]
    ) -> list[Judgement]:
        """One judgement a text. `vectors`: its passage vectors, `noticed`: numbers per FEATURES."""
        if not texts:
            return []
        words = np.stack([self.words.scores(text) for text in texts])
        rows = np.hstack([np.asarray(vectors, np.float32), np.asarray(noticed, np.float32), words])
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
        return Judgement(min(1.0, sum(keeps.values())), Kind(kind), of, negative)
