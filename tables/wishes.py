"""Wishes for this session only, taken while a turn enters the window (A5, H10)."""

from __future__ import annotations

from typing import Final

from tables import extractive_frames as frames
from tables.extractive import extract
from tables.policy import Policy
from tables.session import Wish
from tables.turn import Turn

_CUES: Final = (
    "这次", "这回", "本次", "这一次", "就这一", "今天", "今晚", "现在", "暂时", "眼下", "这会儿", "这轮", "这个会话",
    "接下来", "先",
    "this time", "for now", "just", "for this", "only", "this once", "mood", "today", "tonight", "right now",
    "this evening", "next ", "moment",
)  # fmt: skip


def wishes(turn: Turn, policy: Policy) -> tuple[Wish, ...]:
    """What `turn` wishes for now. A turn without any word of the kind costs some microseconds."""
    lowered = turn.content.lower()
    if not any(cue in lowered for cue in _CUES):
        return ()
    if not frames.is_wish(turn.content, True) and not frames.is_wish(turn.content, False):
        return ()
    return extract(turn, policy).wishes
