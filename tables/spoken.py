"""What a window turn says, as the extractor reads it: for erasures by kind that come before its memory is written."""

from __future__ import annotations

from tables.candidate import Sensitivity
from tables.extractive import extract
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.session import WindowTurn
from tables.turn import Role, Turn

_NOWHERE = Position("", 0, 0)
_READ = Policy()


def kinds_said(turn: WindowTurn) -> frozenset[str]:
    """Memory types and sensitivity classes of the facts in a user's turn; empty for anybody else's."""
    if turn.role != Role.USER:
        return frozenset()
    scope = Scope("-", "-")
    said = Turn(
        turn.key, turn.id, scope, "-", turn.task, "", Role.USER, turn.content, turn.at, 0, True, "", False, _NOWHERE
    )
    found = extract(said, _READ).candidates
    return frozenset(name for one in found for name in (one.kind.value, one.sensitivity.value)) - {Sensitivity.NONE}
