"""Words as evidence: linear models over n-grams, in microseconds and without an embedding.

`Sieve` is the first tier. It stands in front of the embedding, which costs a thousand times as much, and says of a turn
that it is surely nothing; it is set to let through nearly everything that matters, measured on text that it was not
trained on. `Words` gives the head what an embedding blurs: the small words that make a frame ("if", 这次, "he says").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tables.text import sentences

LONG: Final = 80  # pieces: a longer sentence goes on unread, it may hold anything
LONG_CHARS: Final = 480
_MUST_PASS: Final = re.compile(  # what is said outright, about the body and what one likes: no model may stop it
    r"过敏|不耐受|忌口|我(?:还是|就|真的|是真的|也|可|最|一直|从来)*(?:喜欢|讨厌|爱[吃喝看听玩]|不[吃喝碰]|不能[吃喝碰]|习惯)"
    r"|(?i:allerg|intoleran|\bi (?:still |really |do |just |always |never |only )*"
    r"(?:like|love|hate|prefer|can'?t (?:eat|drink|stand)|don'?t (?:eat|drink))\b)"
    r"|记住|记一下|记下|记着|记得|别忘|备注|(?:这个|本|该|此)项目"
    r"|(?i:remember|keep in mind|bear in mind|note|forget|for (?:this|the|our) project)"
)
_PIECES: Final = re.compile(r"[a-z']+|[0-9]+|[\u3400-\u9fff]|[^\s\w]|\w")
_ENDS_INSIDE: Final = re.compile(r"[。！？!?；;\n.…].")
_HAN: Final = re.compile("[\u4e00-\u9fff]")
EDGE: Final = "^"
END: Final = "$"


def grams(text: str) -> set[str]:
    """The uni-, bi- and trigrams of `text`'s pieces: words in Latin script, single Han characters, digits, marks."""
    return _grams(_PIECES.findall(text.lower()))


def _grams(found: list[str]) -> set[str]:
    pieces = [EDGE, *found, END]
    pairs = [f"{one} {two}" for one, two in pairwise(pieces)]
    triples = [f"{pair} {three}" for pair, three in zip(pairs, pieces[2:], strict=False)]
    return {*found, *pairs, *triples}


@dataclass(frozen=True, slots=True)
class Sieve:
    """`weights`: log odds of being worth keeping, by gram; a text's score is their sum over √n, n known grams, + bias.

    limits   by language, "zh" and "en": a sentence whose score lies below is dropped
    """

    weights: Mapping[str, float]
    bias: float
    limits: Mapping[str, float]

    def stops(self, text: str) -> bool:
        """Whether every sentence of `text` is surely not worth a second look; never for a long text or "remember"."""
        if len(text) > LONG_CHARS or _MUST_PASS.search(text):
            return False
        if not _ENDS_INSIDE.search(text):
            return self._stops(text)
        return all(self._stops(text[start:end]) for start, end in sentences(text))

    def of(self, text: str) -> float:
        """The score of `text`."""
        return self._score(_PIECES.findall(text.lower()))

    def _stops(self, sentence: str) -> bool:
        found = _PIECES.findall(sentence.lower())
        if len(found) > LONG:
            return False
        return self._score(found) < self.limits["zh" if _HAN.search(sentence) else "en"]

    def _score(self, pieces: list[str]) -> float:
        get = self.weights.get
        known = [weight for gram in _grams(pieces) if (weight := get(gram)) is not None]
        return sum(known) / len(known) ** 0.5 + self.bias if known else self.bias


@dataclass(frozen=True)
class Words:
    """One linear model a label: `index` gram → row of `weights` (grams, labels), `bias` (labels,), all float32."""

    index: Mapping[str, int]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def scores(self, text: str) -> NDArray[np.float32]:
        """Log odds of each label by the words of `text`, (labels,)."""
        get = self.index.get
        known = sorted(row for gram in grams(text) if (row := get(gram)) is not None)
        if not known:
            return self.bias
        total: NDArray[np.float32] = self.weights[known].sum(axis=0) / np.float32(len(known) ** 0.5) + self.bias
        return total
