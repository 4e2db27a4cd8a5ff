"""Orders of a scenario as signed commands and deletes: `match` picks what they are about, several matches all of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from streams.evaluation.ports import Ground
from tables.command import IDS_MAX, ActorRole
from tables.keys import Position, Scope
from tables.scenario import CommandStep, Order

HISTORY: Final = ("superseded", "expired")
ROLES: Final[Mapping[Order, ActorRole]] = {Order.REVIEW: ActorRole.REVIEWER, Order.SYSTEM_UPDATE: ActorRole.SERVICE}
ON_THE_USER: Final = frozenset({Order.RESET, Order.CONSENT, Order.CLOSE_TASK})
ANSWERS: Final = frozenset({Order.CONFIRM, Order.REJECT})


class Orders:
    """Gives orders. `after(scope)`: the writes that a look for matches must have seen."""

    def __init__(self, ground: Ground, after: Callable[[Scope], Sequence[Position]]) -> None:
        self._ground = ground
        self._after = after

    async def give(self, scope: Scope, step: CommandStep) -> list[Position | None]:
        """Where the records of the order lie; none when `match` selects nothing: that is a successful no-op."""
        if step.order is Order.DELETE:
            return [await self._ground.erase(scope, body) for body in await self._deletes(scope, step)]
        role = ROLES.get(step.order, ActorRole.USER)
        return [await self._ground.command(scope, body, role) for body in await self._bodies(scope, step)]

    async def _deletes(self, scope: Scope, step: CommandStep) -> list[dict[str, Any]]:
        if step.reach in ("user", "all"):
            selectors: list[dict[str, Any]] = [{"reach": "user"}]
        elif step.reach == "memory":
            ids = await self._memories(scope, step, *HISTORY)
            selectors = [{"reach": "memory", "values": chunk} for chunk in _chunks(ids)]
        else:
            value = step.place.session if step.reach == "session" else step.place.task
            selectors = [{"reach": step.reach, "values": [value]}]
        return [{"selector": selector, "at": step.moment.said_at} for selector in selectors]

    async def _bodies(self, scope: Scope, step: CommandStep) -> list[dict[str, Any]]:
        body = _body(step)
        if step.order in ON_THE_USER:
            return [body]
        if step.order in ANSWERS:
            questions = await self._questions(scope, step)
            if questions:
                return [{**body, "question_ids": chunk} for chunk in _chunks(questions)]
        return [{**body, "memory_ids": chunk} for chunk in _chunks(await self._memories(scope, step))]

    async def _questions(self, scope: Scope, step: CommandStep) -> list[str]:
        """Ids of the open questions that `match` finds on either side."""
        answer = await self._ground.questions(scope, self._after(scope))
        return [
            str(question["id"])
            for question in answer.body.get("questions", ())
            if any(re.search(step.match, str(question[side])) for side in ("held", "proposed"))
        ]

    async def _memories(self, scope: Scope, step: CommandStep, *more: str) -> list[str]:
        """Ids of the active and draft memories, and those of the statuses `more`, whose content `match` finds."""
        ids: list[str] = []
        for status in ("active", *more):
            params = {"status": status, "drafts": "true", "at": step.moment.said_at}
            answer = await self._ground.memories(scope, params, self._after(scope))
            found = answer.body.get("memories", ())
            ids += [str(memory["id"]) for memory in found if re.search(step.match, str(memory["content"]))]
        return ids


def _body(step: CommandStep) -> dict[str, Any]:
    """What the command says, but for what it is about."""
    of_kind = {"allow": step.allow, "of_kind": step.of_kind} if step.order is Order.CONSENT else {}
    reset = {"scope": step.reach, "session_id": step.place.session} if step.order is Order.RESET else {}
    fields: dict[str, Any] = {
        "v": 1,
        "kind": step.order.value,
        "at": step.moment.said_at,
        "text": step.text,
        "task_id": step.place.task if step.order is Order.CLOSE_TASK else "",
        "record": step.record,
        "pin": "core" if step.order is Order.PIN else "",
        **of_kind,
        **reset,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    """At most as many as a request may name."""
    for first in range(0, len(ids), IDS_MAX):
        yield list(ids[first : first + IDS_MAX])
