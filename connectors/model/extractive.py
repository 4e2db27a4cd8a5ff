"""The default extractor: the pure law of `tables.extractive` behind the port; no network, no language model."""

from __future__ import annotations

from tables.candidate import Candidate
from tables.extractive import extract
from tables.policy import Policy
from tables.turn import Turn


class Extractive:
    """Candidates in the user's own words. Deterministic; never fails, never waits."""

    async def extract(self, turn: Turn, policy: Policy) -> tuple[Candidate, ...]:
        return extract(turn, policy).candidates
