"""The first tier: a linear model over word and character n-grams that says in some microseconds what is surely nothing.

It stands in front of the embedding, which costs a thousand times as much. It is set to let through nearly everything
that matters (its limits are measured on text that it was not trained on), so what it stops is clear: errands, chat,
questions in wordings that the closed rules do not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tables.text import sentences

LONG: Final = 80  # pieces: a longer turn goes on unread, it may hold anything
LONG_CHARS: Final = 480
_PIECES: Final = re.compile(r"[a-z']+|[0-9]+|[\u3400-\u9fff]|[^\s\w]|\w")
EDGE: Final = "^"
END: Final = "$"


_REMEMBER: Final = re.compile(
    r"记住|记一下|记下|记着|记得|别忘|备注|(?i:remember|keep in mind|bear in mind|note|forget)"
)
_HAN: Final = re.compile("[\u4e00-\u9fff]")


def grams(text: str) -> list[str]:
    """The uni-, bi- and trigrams of `text`'s pieces: words in Latin script, single Han characters, digits, marks."""
    return _grams(_PIECES.findall(text.lower()))


def _grams(found: list[str]) -> list[str]:
    pieces = [EDGE, *found, END]
    pairs = [f"{one} {two}" for one, two in pairwise(pieces)]
    triples = [f"{pair} {three}" for pair, three in zip(pairs, pieces[2:], strict=False)]
    return [*pieces[1:-1], *pairs, *triples]


@dataclass(frozen=True, slots=True)
class Sieve:
    """`weights`: a gram's log odds of being worth keeping; a text's score is their sum over √n, plus `bias`.

    limits   by language, "zh" and "en": a text whose score lies below is dropped
    """

    weights: Mapping[str, float]
    bias: float
    limits: Mapping[str, float]

    def of(self, text: str) -> float:
        """The score of `text`."""
        return self._score(_PIECES.findall(text.lower()))

    def _score(self, pieces: list[str]) -> float:
        found = _grams(pieces)
        get = self.weights.get
        total = 0.0
        for gram in found:
            weight = get(gram)
            if weight is not None:
                total += weight
        return float(total / len(found) ** 0.5 + self.bias)

    def stops(self, text: str) -> bool:
        """Whether every sentence of `text` is surely not worth a second look; never for a long text or "remember"."""
        if len(text) > LONG_CHARS or _REMEMBER.search(text):
            return False
        return all(self._stops(text[start:end]) for start, end in sentences(text))

    def _stops(self, sentence: str) -> bool:
        found = _PIECES.findall(sentence.lower())
        if len(found) > LONG:
            return False
        return self._score(found) < self.limits["zh" if _HAN.search(sentence) else "en"]
