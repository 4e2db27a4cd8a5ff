"""The running engine as a player sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tables.command import ActorRole
from tables.keys import Position, Scope

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API. `refused` says why, and then there is no body; `millis` of the answer that counted."""

    body: Json
    refused: str = ""
    millis: float = 0.0


class Writes(Protocol):
    """The ways in. None for a record that no bus could carry (a lone surrogate in a key): it is dropped."""

    async def turn(self, scope: Scope, body: Json) -> Position | None: ...

    async def command(self, scope: Scope, body: Json, role: ActorRole) -> Position | None: ...

    async def erase(self, scope: Scope, body: Json) -> Position | None: ...

    async def settled(self, positions: Sequence[Position]) -> None:
        """Returns when every effect of these records is done. Raises Unavailable when that takes too long."""
        ...


class Reads(Protocol):
    """What is asked of the engine, `after` everything that was written before."""

    async def recall(self, scope: Scope, body: Json, after: Sequence[Position]) -> Answer: ...

    async def memories(self, scope: Scope, params: Mapping[str, str], after: Sequence[Position]) -> Answer:
        """Every page of the list, in `memories`."""
        ...

    async def questions(self, scope: Scope, after: Sequence[Position]) -> Answer: ...

    async def next_due(self, scope: Scope) -> int:
        """When the next thing of this user falls due (epoch ms), 0 = nothing will."""
        ...


class Ground(Writes, Reads, Protocol):
    """Both."""
