"""Train the relation of statements: `python -m tests.extraction.relate`.

Reads tests/extraction/pairs*.tsv (split, lang, held, new, relation), fits on its `train` part, reports on its `test`
part, whose topics and wordings the first does not have, and writes connectors/model/relation.npz. Pairs written by
hand are all near; what a statement meets in a user's book mostly is not. So the fit also sees strangers' statements,
each with the nearest of some sixty others, as pairs of which both stay true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression

from connectors.model.script import simplified
from connectors.model.weights import load, save_relating
from tables.candidate import Kind, Polarity
from tables.head import Head
from tables.relation import SIGNS, Floats, Related, Relating, pair
from tests.extraction.data import HERE, numbers, training
from tests.extraction.train import vectors

C: Final = 0.1
SIGN_SCALE: Final = 1.0
VECTOR_SCALE: Final = 8.0
DIRECTION_SCALE: Final = 3.0

STRANGERS: Final = 600
BOOK: Final = 60
NEAREST_OF_BOOK: Final = 2

console = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Side:
    kind: Kind
    polarity: Polarity
    content: str
    lang: str


@dataclass(frozen=True, slots=True)
class Pair:
    split: str
    held: Side
    said: Side
    relation: str


def main() -> None:
    """Fit the relation model on tests/extraction/pairs.tsv, report on its unseen part and write it."""
    files = sorted(HERE.glob("pairs*.tsv"))
    lines = [line.split("\t") for file in files for line in file.read_text("utf-8").splitlines()]
    lines += strangers()
    head, _ = load()
    held, said = _sides(head, [row[2] for row in lines]), _sides(head, [row[3] for row in lines])
    pairs = [Pair(row[0], one, two, row[4]) for row, one, two in zip(lines, held, said, strict=True)]
    before, after = vectors([row[2] for row in lines]), vectors([row[3] for row in lines])
    train = np.array([one.split == "train" for one in pairs])
    relating = _fit(pairs, before, after, train)
    save_relating(relating)
    _report(relating, [(one, b, a) for one, b, a, seen in zip(pairs, before, after, train, strict=True) if not seen])


def strangers() -> list[list[str]]:
    """Pairs of kept sentences by different people, near each other as the nearest of a small book are."""
    draw = np.random.default_rng(0)
    lines: list[list[str]] = []
    for lang in ("en", "zh"):
        texts = [row.text for row in training() if row.keep and row.lang == lang]
        known = vectors(texts)
        for number, place in enumerate(draw.choice(len(texts), STRANGERS, replace=False)):
            book = draw.choice(len(texts), BOOK, replace=False)
            near = book[np.argsort(-(known[book] @ known[place]))][: NEAREST_OF_BOOK + 1]
            split = "test" if number % 4 == 0 else "train"
            others = [one for one in near if one != place][:NEAREST_OF_BOOK]
            lines += [[split, lang, texts[one], texts[place], Related.OTHER.value] for one in others]
    return lines


def _sides(head: Head, texts: Sequence[str]) -> list[Side]:
    judged = head.judge([simplified(text) for text in texts], vectors(list(texts)).tolist(), numbers(texts))
    polarity = [Polarity.NEGATIVE if one.negative >= 0.5 else Polarity.POSITIVE for one in judged]
    zh = ["zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en" for text in texts]
    return [Side(one.kind, side, text, lang) for one, side, text, lang in zip(judged, polarity, texts, zh, strict=True)]


def _fit(pairs: Sequence[Pair], before: Floats, after: Floats, train: Floats) -> Relating:
    centre = before[train].mean(axis=0)
    rows = np.stack([pair(p.held, b, p.said, a, centre) for p, b, a in zip(pairs, before, after, strict=True)])
    mean = rows[train].mean(axis=0)
    mean[SIGNS:] = 0
    scale = np.full(rows.shape[1], VECTOR_SCALE, np.float32)
    scale[:SIGNS] = SIGN_SCALE / np.maximum(rows[train][:, :SIGNS].std(axis=0), 1e-6)
    scale[-len(centre) :] = DIRECTION_SCALE
    fit = LogisticRegression(C=C, max_iter=3000).fit(
        ((rows - mean) * scale)[train], [one.relation for one, seen in zip(pairs, train, strict=True) if seen]
    )
    return Relating(tuple(fit.classes_.tolist()), centre, mean, scale, fit.coef_.T, fit.intercept_)


def _report(relating: Relating, unseen: Sequence[tuple[Pair, Floats, Floats]]) -> None:
    table = Table("relation", "pairs", "told", "right", "precision", "recall")
    told = [(one.relation, relating.relation(one.held, b.tolist(), one.said, a.tolist()).value) for one, b, a in unseen]
    for label in (Related.SAME, Related.UPDATE, Related.CONFLICT):
        wanted, said = sum(a == label for a, _ in told), sum(b == label for _, b in told)
        right = sum(a == b == label for a, b in told)
        shares = (f"{right / max(1, said):.2f}", f"{right / max(1, wanted):.2f}")
        table.add_row(label.value, str(wanted), str(said), str(right), *shares)
    console.print(table)
    others = [b for a, b in told if a == Related.OTHER]
    console.print(
        f"of {len(others)} unrelated pairs, {sum(b != Related.OTHER for b in others)} were told to be related"
    )


if __name__ == "__main__":
    typer.run(main)
