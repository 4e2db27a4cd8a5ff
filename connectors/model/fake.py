"""A deterministic embedder for fast tests: texts that share keyword terms lie near each other, in any process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from tables.text import terms

Vector = tuple[float, ...]

DIMENSIONS = 384


class FakeEmbedder:
    """Signed hashing of keyword terms into 384 dimensions. `calls` counts the texts embedded."""

    def __init__(self) -> None:
        self.calls = 0

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += len(texts)
        return [_vector(text) for text in texts]

    async def query(self, text: str) -> Vector:
        self.calls += 1
        return _vector(text)


def _vector(text: str) -> Vector:
    row = np.zeros(DIMENSIONS, dtype=np.float32)
    for term in terms(text) or [text]:
        place = zlib.crc32(term.encode("utf-8", "surrogatepass"))
        row[place % DIMENSIONS] += 1 if place & 0x8000_0000 else -1
    norm = float(np.linalg.norm(row))
    if norm == 0:
        row[zlib.crc32(text.encode("utf-8", "surrogatepass")) % DIMENSIONS] = norm = 1
    return tuple((row / norm).tolist())
