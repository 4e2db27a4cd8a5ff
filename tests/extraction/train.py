"""Train the default extractor: `python -m tests.extraction.train`.

Reads tests/extraction/train_*.tsv, embeds every sentence (kept under .local, some minutes the first time), fits head
and sieve, sets their limits by predictions for files that were left out, writes connectors/model/extractive.npz.
Deterministic: the same sentences and the same libraries give the same weights.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from connectors.model.embedder import DIMENSIONS, NanoEmbedder
from connectors.model.weights import FILE, save
from tables.features import FEATURES
from tables.head import KEEPS, Head, Limits
from tables.sieve import Sieve, grams
from tests.extraction.data import LABELS, Row, numbers, training

Floats = NDArray[np.float32]

CACHE: Final = Path(".local/extraction.npz")
VECTOR_SCALE: Final = 0.2  # a standardised vector weighs this much against the rules' evidence
C: Final = 0.3
SIEVE_C: Final = 3.0
SIEVE_RECALL: Final = 0.985  # of what is worth keeping, among sentences left out of training
GRAM_MIN: Final = 0.05  # smaller weights change nothing
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


class Fit:
    """One fit on some rows: standardisation, head, polarity."""

    def __init__(self, given: Floats, data: list[Row]) -> None:
        spread = given.std(axis=0)
        weight = np.concatenate([np.full(DIMENSIONS, VECTOR_SCALE), np.ones(len(FEATURES)) * 0.5])
        self.mean = given.mean(axis=0)
        self.mean[DIMENSIONS:] = 0
        self.scale = np.where(spread > 0, weight / np.maximum(spread, 1e-6), 0)
        self.scale[DIMENSIONS:] = 0.5
        scaled = self.scaled(given)
        blind = scaled.copy()
        blind[:, DIMENSIONS:] = 0  # each row twice, once without the rules' evidence: it must not lean on them alone
        labels = [row.label for row in data]
        self.head = LogisticRegression(C=C, max_iter=3000).fit(np.vstack([scaled, blind]), labels * 2)
        keeps = np.array([row.keep for row in data])
        negative = [row.polarity == "neg" for row in data if row.keep]
        self.polarity = LogisticRegression(C=C, max_iter=3000, class_weight="balanced").fit(scaled[keeps], negative)

    def scaled(self, given: Floats) -> Floats:
        scaled: Floats = (given - self.mean) * self.scale
        return scaled

    def keep(self, given: Floats) -> Floats:
        chances = self.head.predict_proba(self.scaled(given))
        kept: Floats = chances[:, np.isin(self.head.classes_, KEEPS)].sum(axis=1)
        return kept


def sieve_of(data: list[Row]) -> Sieve:
    """A sieve without limits yet."""
    counter = CountVectorizer(analyzer=grams, binary=True, min_df=2)
    rows = normalize(counter.fit_transform([row.text for row in data]).astype(float))
    fit = LogisticRegression(C=SIEVE_C, max_iter=3000, class_weight="balanced").fit(rows, [row.keep for row in data])
    names = counter.get_feature_names_out()
    weights = {name: round(float(w), 3) for name, w in zip(names, fit.coef_[0], strict=True) if abs(w) >= GRAM_MIN}
    return Sieve(weights, float(fit.intercept_[0]), {"zh": -1e9, "en": -1e9})


def left_out(given: Floats, data: list[Row]) -> tuple[Floats, Floats]:
    """(head's probability, sieve's score) of each row by a fit on the other files."""
    kept, scores = np.zeros(len(data), np.float32), np.zeros(len(data), np.float32)
    for source in sorted({row.source for row in data}):
        console.print(f"without {source}")
        inside = np.array([row.source != source for row in data])
        others = [row for row in data if row.source != source]
        kept[~inside] = Fit(given[inside], others).keep(given[~inside])
        sieve = sieve_of(others)
        scores[~inside] = [sieve.of(row.text) for row in data if row.source == source]
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
        mean=fit.mean,
        scale=fit.scale,
        weights=fit.head.coef_.T,
        bias=fit.head.intercept_,
        polarity=fit.polarity.coef_[0],
        polarity_bias=float(fit.polarity.intercept_[0]),
        limits=limits,
    )
    sieve = sieve_of(data)
    save(head, Sieve(sieve.weights, sieve.bias, sieve_limits), FILE)
    console.print(f"{FILE.name}: {FILE.stat().st_size // 1024} KB, {len(LABELS)} labels, {len(sieve.weights)} grams")


if __name__ == "__main__":
    typer.run(main)
