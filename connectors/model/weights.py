"""The trained weights of the default extractor: one file in the tree, made by `python -m tests.extraction.train`."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from tables.errors import Misconfigured
from tables.features import FEATURES
from tables.head import Head, Limits
from tables.relation import Relating
from tables.sieve import Sieve, Words

FILE: Final = Path(__file__).with_name("extractive.npz")


def load(path: Path = FILE) -> tuple[Head, Sieve]:
    """The head and the sieve in `path`. Raises Misconfigured when it is missing, broken or of other rules."""
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays: dict[str, Any] = {name: held[name] for name in held.files}
        told = json.loads(arrays["told"].tobytes())
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise Misconfigured(f"{path.name} does not load: train it, or take it from the release") from error
    if told["features"] != list(FEATURES):
        raise Misconfigured(f"{path.name} was trained for other rules: train it again")
    limits = {lang: Limits(**one) for lang, one in told["limits"].items()}
    names = arrays["grams"].tobytes().decode().split("\n")
    scale = np.float32(told["words_scale"])
    head = Head(
        labels=tuple(told["labels"]),
        words=Words(
            index={name: row for row, name in enumerate(names)},
            weights=arrays["words"].astype(np.float32) * scale,
            bias=arrays["words_bias"].astype(np.float32),
        ),
        mean=arrays["mean"].astype(np.float32),
        scale=arrays["scale"].astype(np.float32),
        weights=arrays["weights"].astype(np.float32),
        bias=arrays["bias"].astype(np.float32),
        polarity=arrays["polarity"].astype(np.float32),
        polarity_bias=float(told["polarity_bias"]),
        limits=limits,
    )
    weights = dict(zip(names, arrays["gram_weights"].astype(float).tolist(), strict=True))
    return head, Sieve(weights, float(told["sieve_bias"]), told["sieve_limits"])


def save(head: Head, sieve: Sieve, path: Path = FILE) -> None:
    """Write both, of one vocabulary: the same bytes for the same weights, in a byte or two a number.

    Raises ValueError when the two do not name the same grams.
    """
    names = list(head.words.index)
    if names != list(sieve.weights):
        raise ValueError("head and sieve have one vocabulary")
    scale = float(np.abs(head.words.weights).max()) / 127
    told = {
        "features": list(FEATURES),
        "labels": list(head.labels),
        "limits": {lang: asdict(one) for lang, one in sorted(head.limits.items())},
        "polarity_bias": head.polarity_bias,
        "sieve_bias": sieve.bias,
        "sieve_limits": dict(sorted(sieve.limits.items())),
        "words_scale": scale,
    }
    arrays: dict[str, Any] = {
        "told": np.frombuffer(json.dumps(told, sort_keys=True).encode(), np.uint8),
        "mean": head.mean.astype(np.float32),
        "scale": head.scale.astype(np.float32),
        "weights": head.weights.astype(np.float16),
        "bias": head.bias.astype(np.float32),
        "polarity": head.polarity.astype(np.float16),
        "grams": np.frombuffer("\n".join(names).encode(), np.uint8),
        "gram_weights": np.array(list(sieve.weights.values()), np.float16),
        "words": np.rint(head.words.weights / scale).astype(np.int8),
        "words_bias": head.words.bias.astype(np.float32),
    }
    np.savez_compressed(path, **arrays)


RELATION_FILE: Final = Path(__file__).with_name("relation.npz")


def load_relating(path: Path = RELATION_FILE) -> Relating:
    """The relation model in `path`. Raises Misconfigured when it is missing or broken."""
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays: dict[str, Any] = {name: held[name] for name in held.files}
        labels = tuple(json.loads(arrays.pop("labels").tobytes()))
        return Relating(labels=labels, **{name: row.astype(np.float32) for name, row in arrays.items()})
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise Misconfigured(f"{path.name} does not load: train it, or take it from the release") from error


def save_relating(relating: Relating, path: Path = RELATION_FILE) -> None:
    arrays: dict[str, Any] = {
        "labels": np.frombuffer(json.dumps(relating.labels).encode(), np.uint8),
        "centre": relating.centre.astype(np.float32),
        "mean": relating.mean.astype(np.float32),
        "scale": relating.scale.astype(np.float32),
        "weights": relating.weights.astype(np.float16),
        "bias": relating.bias.astype(np.float32),
    }
    np.savez_compressed(path, **arrays)
