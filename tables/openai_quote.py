"""Where a quote stands in a text: exactly, else with white space, width, case and the shape of quotes set aside."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property

_OCCURRENCES_MAX = 32  # of one quote that are looked at: more of them are not a statement
_SAME = str.maketrans("’‘‛“”„′", "'''\"\"\"'")

Span = tuple[int, int]


class Text:
    """A text that quotes are looked up in. `closed`: spans that no quote may touch."""

    def __init__(self, content: str, closed: Sequence[Span] = ()) -> None:
        self.content = content
        self.closed = tuple(closed)

    def place(self, quote: str) -> Span | None:
        """The span of the first occurrence of `quote` that touches nothing closed, else of the first; None for none.

        An exact occurrence comes before a folded one. It never begins or ends inside a word of letters or digits.
        """
        bare = quote.strip()
        if not any(map(str.isalnum, bare)):
            return None
        for found in (self._exact(bare), self._folded(bare)):
            spans = [span for span in found if self._is_whole(span)]
            if spans:
                return next((span for span in spans if not self.touches_closed(span)), spans[0])
        return None

    def touches_closed(self, span: Span) -> bool:
        return any(span[0] < end and start < span[1] for start, end in self.closed)

    def _exact(self, quote: str) -> Iterator[Span]:
        at = -1
        for _ in range(_OCCURRENCES_MAX):
            at = self.content.find(quote, at + 1)
            if at < 0:
                return
            yield at, at + len(quote)

    def _folded(self, quote: str) -> Iterator[Span]:
        needle, _ = _fold(quote)
        text, places = self._plain
        at = -1
        for _ in range(_OCCURRENCES_MAX):
            at = text.find(needle, at + 1)
            if at < 0 or not needle:
                return
            yield places[at], places[at + len(needle) - 1] + 1

    @cached_property
    def _plain(self) -> tuple[str, list[int]]:
        return _fold(self.content)

    def _is_whole(self, span: Span) -> bool:
        return not (_joined(self.content, span[0]) or _joined(self.content, span[1]))


def _joined(text: str, at: int) -> bool:
    """Whether the place `at` lies inside a word of Latin letters or a number; Han is written without such places."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return all(c.isalnum() and ord(c) < 0x250 for c in (before, after))


def _fold(text: str) -> tuple[str, list[int]]:
    """`text` folded, white space left out, and for each of its characters the place that it comes from."""
    pieces: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        folded = unicodedata.normalize("NFKD", char).casefold().translate(_SAME)
        kept = "".join(c for c in folded if not c.isspace())
        pieces.append(kept)
        places.extend([place] * len(kept))
    return "".join(pieces), places
