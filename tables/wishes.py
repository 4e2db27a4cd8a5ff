"""Wishes for this session only, taken while a turn enters the window (A5, H10)."""

from __future__ import annotations

from tables import extractive_frames as frames
from tables.extractive import extract
from tables.policy import Policy
from tables.session import Wish
from tables.turn import Turn


def wishes(turn: Turn, policy: Policy) -> tuple[Wish, ...]:
    """What `turn` wishes for now. A turn without any word of the kind costs some microseconds."""
    if not frames.is_wish(turn.content, True) and not frames.is_wish(turn.content, False):
        return ()
    return extract(turn, policy).wishes
