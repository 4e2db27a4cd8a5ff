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
from tables.sieve import Sieve

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
    head = Head(
        labels=tuple(told["labels"]),
        mean=arrays["mean"].astype(np.float32),
        scale=arrays["scale"].astype(np.float32),
        weights=arrays["weights"].astype(np.float32),
        bias=arrays["bias"].astype(np.float32),
        polarity=arrays["polarity"].astype(np.float32),
        polarity_bias=float(told["polarity_bias"]),
        limits=limits,
    )
    names = arrays["grams"].tobytes().decode().split("\n")
    weights = dict(zip(names, arrays["gram_weights"].astype(float).tolist(), strict=True))
    return head, Sieve(weights, float(told["sieve_bias"]), told["sieve_limits"])


def save(head: Head, sieve: Sieve, path: Path = FILE) -> None:
    """Write both, the same bytes for the same weights: half precision, names and numbers in a fixed order."""
    told = {
        "features": list(FEATURES),
        "labels": list(head.labels),
        "limits": {lang: asdict(one) for lang, one in sorted(head.limits.items())},
        "polarity_bias": head.polarity_bias,
        "sieve_bias": sieve.bias,
        "sieve_limits": dict(sorted(sieve.limits.items())),
    }
    grams = sorted(sieve.weights)
    arrays: dict[str, Any] = {
        "told": np.frombuffer(json.dumps(told, sort_keys=True).encode(), np.uint8),
        "mean": head.mean.astype(np.float32),
        "scale": head.scale.astype(np.float32),
        "weights": head.weights.astype(np.float16),
        "bias": head.bias.astype(np.float32),
        "polarity": head.polarity.astype(np.float16),
        "grams": np.frombuffer("\n".join(grams).encode(), np.uint8),
        "gram_weights": np.array([sieve.weights[gram] for gram in grams], np.float16),
    }
    np.savez_compressed(path, **arrays)
