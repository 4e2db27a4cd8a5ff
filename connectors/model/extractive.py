"""The default extractor: closed rules and a trained head behind the port; no network, no language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from connectors.model.script import simplified
from tables.answer import answered
from tables.candidate import Candidate
from tables.errors import InvalidRecord
from tables.extractive import Extraction, extract, refused
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
        folded = [replace(turn, content=simplified(turn.content)) for turn, _ in turns]
        read = [_read(turn, policy) for turn, (_, policy) in zip(folded, turns, strict=True)]
        if self._head is None or self._embedder is None:
            return [_as_said(turn, e.candidates, {}) for (turn, _), e in zip(turns, read, strict=True)]
        about = [asked(turn, extraction) for turn, extraction in zip(folded, read, strict=True)]
        flat = [sentence for some in about for sentence in some]
        texts = [
            turn.content[s.span[0] : s.span[0] + len(s.text)]
            for (turn, _), some in zip(turns, about, strict=True)
            for s in some
        ]
        vectors = await self._embedder.passages(texts)
        judgements = iter(self._head.judge([s.text for s in flat], vectors, [s.numbers for s in flat]))
        known = dict(zip(texts, vectors, strict=True))
        out: list[tuple[Candidate, ...] | InvalidRecord] = []
        for (turn, policy), plain, extraction, some in zip(turns, folded, read, about, strict=True):
            whole = judged(plain, policy, extraction, some, [next(judgements) for _ in some], self._head)
            out.append(_as_said(turn, whole.candidates, known))
        return out


def _read(turn: Turn, policy: Policy) -> Extraction:
    """What the rules read; when they read nothing, what a bare answer says to the question before it."""
    found = extract(turn, policy)
    answer = answered(turn) if not found.candidates and not found.wishes else None
    if answer is None or refused(policy, answer.sensitivity):
        return found
    return replace(found, candidates=(answer,), drops=())


def _as_said(turn: Turn, candidates: Sequence[Candidate], known: Mapping[str, Vector]) -> tuple[Candidate, ...]:
    """`candidates` in the script of the turn, with the vectors of contents that are `known`."""
    said = [replace(c, content=turn.content[c.span[0] : c.span[1]]) for c in candidates]
    return tuple(replace(c, vector=known.get(c.content, c.vector)) for c in said)
