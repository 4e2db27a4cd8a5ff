"""What the closed rules notice about a sentence, as numbers for the trained head.

The rules are precise where they cover the wording and silent elsewhere, so they are evidence, not verdicts: the head is
trained with and without them and learns how far each is to be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tables import extractive_frames as frames
from tables.candidate import SELF, Candidate, Kind
from tables.extractive_read import standing
from tables.worth import Drop, asks, is_bare_question

_FIRST: Final = re.compile(r"我|咱|俺|\b(?:i|i'm|im|my|me|we|our|i've|ive|mine|us)\b", re.IGNORECASE)
_SECOND: Final = re.compile(r"你|您|\b(?:you|your|u|ur)\b", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d|[一二三四五六七八九十两半]+(?:点|号|月|岁|年|天|块|万)")
_LONG: Final = {True: 40, False: 100}  # characters of an ordinary sentence
_SHORT: Final = {True: 8, False: 20}

_SHAPES: Final = (
    "momentary", "hedged", "request", "asks", "bare_question", "third", "wish", "standing", "frame", "remember",
    "first_person", "second_person", "digit", "question_mark", "exclamation", "length", "short", "zh",
)  # fmt: skip
FEATURES: Final[tuple[str, ...]] = (
    *(f"drop.{drop.value}" for drop in Drop),
    *(f"kind.{kind.value}" for kind in Kind),
    "another's",
    "wished",
    *_SHAPES,
)


@dataclass(frozen=True, slots=True)
class Noticed:
    """What the rules made of one sentence: whose facts, of which kinds, what was dropped, whether a wish was taken."""

    candidates: tuple[Candidate, ...]
    drops: frozenset[Drop]
    wished: bool


def features(text: str, zh: bool, noticed: Noticed) -> tuple[float, ...]:
    """One number per name in FEATURES, each within 0..2. `text` is the sentence, at most some hundred characters."""
    own = {candidate.kind for candidate in noticed.candidates if candidate.subject == SELF}
    return (
        *_flags(drop in noticed.drops for drop in Drop),
        *_flags(kind in own for kind in Kind),
        *_flags((any(candidate.subject != SELF for candidate in noticed.candidates), noticed.wished)),
        *_shape(text, zh),
    )


def _flags(values: Iterable[bool]) -> Iterator[float]:
    return (float(value) for value in values)


def _shape(text: str, zh: bool) -> Iterator[float]:
    yield from _flags(
        (
            frames.is_momentary(text, zh),
            frames.is_hedged(text, zh),
            frames.is_request(text, zh),
            asks(text),
            is_bare_question(text),
            frames.third_party(text, zh),
            frames.is_wish(text, zh),
            standing(text, zh),
            frames.sentence_frame(text, zh) is not None,
            frames.preface(text, zh)[1],
            _FIRST.search(text) is not None,
            _SECOND.search(text) is not None,
            _DIGIT.search(text) is not None,
            "?" in text or "？" in text,
            "!" in text or "！" in text,
        )
    )
    yield min(len(text) / _LONG[zh], 2.0)
    yield float(len(text) < _SHORT[zh])
    yield float(zh)
