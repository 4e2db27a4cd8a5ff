"""The labelled sentences: what a line holds, and what the head and the sieve are shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from connectors.model.script import simplified
from tables.extractive import extract
from tables.features import Noticed, features
from tables.head import KEEPS
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.text import language
from tables.turn import Role, Turn

HERE: Final = Path(__file__).parent
DROPS: Final = (
    "session", "smalltalk", "question", "hypothetical", "quote", "third", "request", "injection", "narration",
    "opinion", "moment",
)  # fmt: skip
LABELS: Final = (*KEEPS, *DROPS)
AT: Final = 1_772_355_600_000  # 2026-03-01T09:00:00Z
TURN: Final = Turn(
    "k", "t1", Scope("t", "u"), "s", "", "", Role.USER, "", AT, 480, None, "", False, Position("turns", 0, 0)
)


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence as somebody typed it. `polarity` is "pos", "neg" or, for what is not kept, "none"."""

    source: str
    lang: str
    text: str
    label: str
    polarity: str

    @property
    def folded(self) -> str:
        """As rules and words read it: Simplified script."""
        return simplified(self.text)

    @property
    def keep(self) -> bool:
        return self.label in KEEPS


def rows(paths: Iterable[Path]) -> list[Row]:
    """The rows of tab-separated files. Raises ValueError naming file and line of one that is not well formed."""
    return [row for path in sorted(paths) for row in _rows(path)]


def _rows(path: Path) -> Iterator[Row]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        parts = line.split("\t")
        row = Row(path.stem, *parts) if len(parts) == 4 else None
        polarities = ("pos", "neg") if row is not None and row.keep else ("none",)
        if row is None or row.lang not in ("en", "zh") or row.label not in LABELS or row.polarity not in polarities:
            raise ValueError(f"{path.name}:{number}: lang, text, label and polarity are wanted, with tabs between")
        yield row


def training() -> list[Row]:
    return rows(HERE.glob("train_*.tsv"))


def unseen() -> list[Row]:
    """Written apart from rules and training sentences, and looked at by nobody who wrote those."""
    return rows([HERE / "unseen.tsv"])


def said(text: str, **fields: Any) -> Turn:
    """A user's turn with this content, and `fields` of it changed."""
    return replace(TURN, content=text, **fields)


def numbers(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """What the rules notice about each text as a whole."""
    return [_numbers(simplified(text)) for text in texts]


def _numbers(text: str) -> tuple[float, ...]:
    found = extract(said(text), Policy())
    noticed = Noticed(found.candidates, frozenset(drop.reason for drop in found.drops), bool(found.wishes))
    return features(text, language(text) == "zh", noticed)
