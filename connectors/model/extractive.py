"""The default extractor: closed rules and a trained head behind the port; no network, no language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tables.candidate import Candidate
from tables.errors import InvalidRecord
from tables.extractive import extract
from tables.extractive_judge import asked, judged
from tables.head import Head
from tables.policy import Policy
from tables.turn import Turn

Vector = tuple[float, ...]


class _Embeds(Protocol):
    async def passages(self, texts: Sequence[str]) -> list[Vector]: ...


class Extractive:
    """Candidates in the user's own words. The same turns give the same candidates; waits for the embedding alone.

    Without a `head` the closed rules decide by themselves: precise, and blind to wordings that they do not know.
    """

    def __init__(self, embedder: _Embeds | None = None, head: Head | None = None) -> None:
        self._embedder = embedder
        self._head = head

    async def extract(self, turns: Sequence[tuple[Turn, Policy]]) -> list[tuple[Candidate, ...] | InvalidRecord]:
        """The candidates of each turn; a sentence that became one whole carries its vector already."""
        read = [extract(turn, policy) for turn, policy in turns]
        if self._head is None or self._embedder is None:
            return [extraction.candidates for extraction in read]
        about = [asked(turn, extraction) for (turn, _), extraction in zip(turns, read, strict=True)]
        flat = [sentence for some in about for sentence in some]
        texts = [sentence.text for sentence in flat]
        vectors = await self._embedder.passages(texts)
        judgements = iter(self._head.judge(texts, vectors, [sentence.numbers for sentence in flat]))
        known = dict(zip(texts, vectors, strict=True))
        out: list[tuple[Candidate, ...] | InvalidRecord] = []
        for (turn, policy), extraction, some in zip(turns, read, about, strict=True):
            spoken = [next(judgements) for _ in some]
            whole = judged(turn, policy, extraction, some, spoken, self._head)
            out.append(tuple(replace(c, vector=known.get(c.content, c.vector)) for c in whole.candidates))
        return out
