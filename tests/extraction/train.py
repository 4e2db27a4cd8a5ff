"""Train the default extractor: `python -m tests.extraction.train`.

Reads tests/extraction/train_*.tsv, embeds every sentence (kept under .local, some minutes the first time), fits head
and sieve, sets their limits by predictions for files that were left out, writes connectors/model/extractive.npz.
Deterministic: the same sentences and the same libraries give the same weights.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from connectors.model.embedder import DIMENSIONS, NanoEmbedder
from connectors.model.weights import FILE, save
from tables.head import KEEPS, Head, Limits
from tables.sieve import Sieve, Words, grams
from tests.extraction.data import LABELS, Row, numbers, training

Floats = NDArray[np.float32]

CACHE: Final = Path(".local/extraction.npz")
VECTOR_SCALE: Final = 0.2  # a standardised vector weighs this much against the rules' evidence
WORDS_SCALE: Final = 0.3
NOTICED_SCALE: Final = 0.5
C: Final = 0.2
WORDS_C: Final = 3.0
FOLDS: Final = 3
SIEVE_RECALL: Final = 0.985  # of what is worth keeping, among sentences left out of training
JUNK_AIM: Final = 0.05  # of what is stored, on the mix below
JUNK_WEIGHT: Final = 1.7  # a chat has 70 % junk turns, the training files 58 %
VETO: Final = 0.12
DRAFT_BELOW_ACCEPT: Final = 0.25

console = Console(stderr=True)


def vectors(texts: list[str]) -> Floats:
    """Passage vectors of `texts`, (n, 384), from the cache where they are in it."""
    held: dict[str, Any] = {}
    if CACHE.exists():
        with np.load(CACHE) as file:
            held = dict(zip(file["keys"].tolist(), file["rows"], strict=True))
    keys = [hashlib.sha256(text.encode()).hexdigest()[:24] for text in texts]
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
    if missing:
        console.print(f"embedding {len(missing)} sentences")
        found = asyncio.run(NanoEmbedder().passages(list(missing.values())))
        held.update(zip(missing, np.asarray(found, np.float32), strict=True))
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        np.savez(CACHE, keys=np.array(list(held)), rows=np.stack(list(held.values())))
    return np.stack([held[key] for key in keys])


class WordsFit:
    """Linear models over the grams of some texts: one for each label, and one for being worth keeping at all."""

    def __init__(self, data: Sequence[Row]) -> None:
        self._counter = CountVectorizer(analyzer=grams, binary=True, min_df=2)
        rows = normalize(self._counter.fit_transform([row.folded for row in data]).astype(float))
        self._labels = LogisticRegression(C=WORDS_C, max_iter=200, tol=1e-3).fit(rows, [row.label for row in data])
        keeps = [row.keep for row in data]
        self._keep = LogisticRegression(C=WORDS_C, max_iter=300, class_weight="balanced").fit(rows, keeps)

    def scores(self, data: Sequence[Row]) -> Floats:
        """Log odds by label, (n, labels)."""
        found: Floats = self._labels.decision_function(self._rows(data)).astype(np.float32)
        return found

    def keep(self, data: Sequence[Row]) -> Floats:
        """The sieve's score, (n,)."""
        found: Floats = self._keep.decision_function(self._rows(data)).astype(np.float32)
        return found

    def words(self) -> Words:
        names = self._counter.get_feature_names_out().tolist()
        index = {name: row for row, name in enumerate(names)}
        return Words(index, self._labels.coef_.T.astype(np.float32), self._labels.intercept_.astype(np.float32))

    def sieve(self, limits: dict[str, float]) -> Sieve:
        names = self._counter.get_feature_names_out().tolist()
        return Sieve(
            dict(zip(names, self._keep.coef_[0].tolist(), strict=True)), float(self._keep.intercept_[0]), limits
        )

    def _rows(self, data: Sequence[Row]) -> Any:
        return normalize(self._counter.transform([row.folded for row in data]).astype(float))


class Fit:
    """One fit on some rows. The words' scores that the head is trained on come from folds that did not see the row."""

    def __init__(self, given: Floats, data: Sequence[Row]) -> None:
        self.words = WordsFit(data)
        rows = np.hstack([given, _unseen_scores(data)])
        self.mean = rows.mean(axis=0)
        self.mean[DIMENSIONS:] = 0
        self.scale = np.full(rows.shape[1], WORDS_SCALE, np.float32)
        self.scale[:DIMENSIONS] = VECTOR_SCALE / np.maximum(given[:, :DIMENSIONS].std(axis=0), 1e-6)
        self.scale[DIMENSIONS : given.shape[1]] = NOTICED_SCALE
        scaled = (rows - self.mean) * self.scale
        self.head = LogisticRegression(C=C, max_iter=2000).fit(scaled, [row.label for row in data])
        keeps = np.array([row.keep for row in data])
        negative = [row.polarity == "neg" for row in data if row.keep]
        self.polarity = LogisticRegression(C=C, max_iter=2000, class_weight="balanced").fit(scaled[keeps], negative)

    def keep(self, given: Floats, data: Sequence[Row]) -> Floats:
        """Probability of being worth keeping, (n,)."""
        rows = np.hstack([given, self.words.scores(data)])
        chances = self.head.predict_proba((rows - self.mean) * self.scale)
        kept: Floats = chances[:, np.isin(self.head.classes_, KEEPS)].sum(axis=1)
        return kept


def _unseen_scores(data: Sequence[Row]) -> Floats:
    scores: Floats | None = None
    for inside, outside in KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(len(data))):
        found = WordsFit([data[row] for row in inside]).scores([data[row] for row in outside])
        if scores is None:
            scores = np.zeros((len(data), found.shape[1]), np.float32)
        scores[outside] = found
    if scores is None:
        raise ValueError("no rows")
    return scores


def left_out(given: Floats, data: Sequence[Row]) -> tuple[Floats, Floats]:
    """(head's probability, sieve's score) of each row by a fit on other files, a third of the files at a time."""
    kept, scores = np.zeros(len(data), np.float32), np.zeros(len(data), np.float32)
    sources = sorted({row.source for row in data})
    for part in range(FOLDS):
        away = set(sources[part::FOLDS])
        console.print(f"without {', '.join(sorted(away))}")
        outside = np.array([row.source in away for row in data])
        others, mine = [r for r in data if r.source not in away], [r for r in data if r.source in away]
        fit = Fit(given[~outside], others)
        kept[outside], scores[outside] = fit.keep(given[outside], mine), fit.words.keep(mine)
    return kept, scores


def accept_at(kept: Floats, worth: NDArray[np.bool_], third: NDArray[np.bool_]) -> float:
    """The lowest probability from which on junk is at most JUNK_AIM of what is taken."""
    order = np.argsort(-kept)
    good = np.cumsum(worth[order])
    junk = np.cumsum((~worth & ~third)[order]) * JUNK_WEIGHT
    fine = np.flatnonzero(junk <= JUNK_AIM * (good + junk))
    return round(float(kept[order][fine[-1]]), 3) if len(fine) else 0.95


def limits_of(data: list[Row], kept: Floats, scores: Floats) -> tuple[dict[str, Limits], dict[str, float]]:
    head: dict[str, Limits] = {}
    sieve: dict[str, float] = {}
    for lang in ("en", "zh"):
        mine = np.array([row.lang == lang for row in data])
        worth = np.array([row.keep for row in data])[mine]
        third = np.array([row.label == "third" for row in data])[mine]
        accept = accept_at(kept[mine], worth, third)
        head[lang] = Limits(accept, round(max(0.35, accept - DRAFT_BELOW_ACCEPT), 3), VETO)
        sieve[lang] = round(float(np.quantile(scores[mine][worth], 1 - SIEVE_RECALL)), 3)
        recall = (kept[mine][worth] >= accept).mean()
        passed = (scores[mine][~worth] >= sieve[lang]).mean()
        console.print(f"{lang}: accept {accept}, recall {recall:.2f}; of the junk {passed:.2f} passes the sieve")
    return head, sieve


def main() -> None:
    """Train head and sieve on tests/extraction/train_*.tsv and write them beside their reader."""
    data = training()
    console.print(f"{len(data)} sentences of {len({row.source for row in data})} files")
    texts = [row.text for row in data]
    given = np.hstack([vectors(texts), np.asarray(numbers(texts), np.float32)])
    limits, sieve_limits = limits_of(data, *left_out(given, data))
    fit = Fit(given, data)
    head = Head(
        labels=tuple(fit.head.classes_.tolist()),
        words=fit.words.words(),
        mean=fit.mean,
        scale=fit.scale,
        weights=fit.head.coef_.T,
        bias=fit.head.intercept_,
        polarity=fit.polarity.coef_[0],
        polarity_bias=float(fit.polarity.intercept_[0]),
        limits=limits,
    )
    save(head, fit.words.sieve(sieve_limits), FILE)
    grams_known = len(head.words.index)
    console.print(f"{FILE.name}: {FILE.stat().st_size // 1024} KB, {len(LABELS)} labels, {grams_known} grams")


if __name__ == "__main__":
    typer.run(main)
