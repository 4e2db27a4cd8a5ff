"""Many scenarios at the same time, each in tenants of its own; a chat for the write side, a tenant for each user."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, Protocol, TypeVar

from connectors.milvus.placement import DEDICATED_LIMIT, choose
from streams.evaluation.play import Player
from streams.evaluation.ports import Ground
from tables.keys import ID_BYTES_MAX, Position, Scope, digest, is_legal_id
from tables.policy import Clock, Policy, Tenant
from tables.scenario import Scenario, WaitStep
from tables.scoring import Result
from tables.write_scoring import ChatTurn, Stored, WriteScores, write_scores

T = TypeVar("T")
R = TypeVar("R")

BUCKETS: Final = 4  # partitions of the index for tenants that come and go: each costs time when it is first used
TURNS_AT_ONCE: Final = 100  # of one user, between two looks at the worker's progress


class Names:
    """Tenant ids of a run: a prefix before the id as written. An id that is none stays as it is, to be refused."""

    def __init__(self, run: str | None = None) -> None:
        self._run = run or uuid.uuid4().hex[:8]

    def of(self, number: int, tenant: str) -> str:
        """The id for `tenant` in the scenario of this number; different ones stay different, as long as may be."""
        if not is_legal_id(tenant):
            return tenant
        prefix = f"eval-{self._run}-{number}-"
        if len((prefix + tenant).encode()) <= ID_BYTES_MAX:
            return prefix + tenant
        return (prefix + digest("tenant", tenant) + "-" * ID_BYTES_MAX)[:ID_BYTES_MAX]


def tenants_of(scenarios: Sequence[Scenario], names: Names) -> list[Tenant]:
    """Every tenant to register, with its scenario's policy, in a shared partition of the index: they come and go."""
    return [
        tenant(names.of(number, name), scenario.policy)
        for number, scenario in enumerate(scenarios)
        for name in _tenant_names(scenario)
    ]


def tenant(name: str, policy: Policy) -> Tenant:
    return Tenant(name, 1, Clock.EVENT, choose(name, DEDICATED_LIMIT, BUCKETS), (policy,))


def _tenant_names(scenario: Scenario) -> list[str]:
    places = (step.place.tenant for step in scenario.steps if not isinstance(step, WaitStep))
    return [name for name in dict.fromkeys(places) if is_legal_id(name)]


async def play_all(
    scenarios: Sequence[Scenario],
    ground: Ground,
    names: Names,
    *,
    at_once: int,
    told: Callable[[], None],
    remark: Callable[[str], None],
) -> list[Result]:
    """The results in the order of the scenarios; `told` is called after each. Raises Unavailable."""

    async def play(numbered: tuple[int, Scenario]) -> Result:
        number, scenario = numbered
        result = await Player(scenario, ground, lambda one: names.of(number, one), remark).play()
        told()
        return result

    return await bounded(list(enumerate(scenarios)), play, at_once)


async def bounded(items: Iterable[T], work: Callable[[T], Awaitable[R]], at_once: int) -> list[R]:
    """The results of `work` in the order of `items`, at most `at_once` under way; the first failure ends all."""
    room = asyncio.Semaphore(at_once)

    async def one(item: T) -> R:
        async with room:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


class Registering(Ground, Protocol):
    """A ground on which tenants can be made."""

    async def register(self, tenants: Sequence[Tenant]) -> None: ...


async def play_chats(
    chats: Sequence[Sequence[ChatTurn]],
    engine: Registering,
    *,
    at_once: int,
    begin: Callable[[str, int], Callable[[], None]],
) -> dict[str, WriteScores]:
    """The scores of the write side over all chats, each user in a tenant of its own: clocks are of one user alone."""
    names = Names()
    turns: dict[Scope, list[ChatTurn]] = {}
    for number, chat in enumerate(chats):
        for turn in chat:
            turns.setdefault(Scope(names.of(number, turn.user), turn.user), []).append(turn)
    await engine.register([tenant(scope.tenant, Policy()) for scope in turns if is_legal_id(scope.tenant)])
    told = begin("users of chats", len(turns))

    async def play(scope: Scope) -> list[Stored]:
        stored = await play_chat(turns[scope], scope, engine)
        told()
        return [replace(one, user=scope.tenant) for one in stored]

    stored = await bounded(turns, play, at_once)
    said = [replace(turn, user=scope.tenant) for scope, held in turns.items() for turn in held]
    return write_scores(said, [memory for held in stored for memory in held])


async def play_chat(turns: Sequence[ChatTurn], scope: Scope, ground: Ground) -> list[Stored]:
    """Sends one user's turns in their order; what was active at the end of one of the sessions.

    What ends by itself, or is replaced in a later session, was kept all the same.
    """
    last: dict[tuple[str, int], Position] = {}
    seen: dict[str, Stored] = {}
    for _, session in groupby(turns, key=lambda turn: turn.session):
        said = list(session)
        for first in range(0, len(said), TURNS_AT_ONCE):
            sent = [await ground.turn(scope, _chat_body(turn)) for turn in said[first : first + TURNS_AT_ONCE]]
            positions = [position for position in sent if position is not None]
            await ground.settled(positions)
            last |= {(position.topic, position.partition): position for position in positions}
        answer = await ground.memories(scope, {"at": str(max(turn.at for turn in said))}, tuple(last.values()))
        seen = {one: replace(memory, current=False) for one, memory in seen.items()}
        seen |= {
            m["id"]: Stored(scope.user, m["subject"], m["slot"], m["value"], m["content"], tuple(m["source_ids"]))
            for m in answer.body.get("memories", ())
        }
    return list(seen.values())


def _chat_body(turn: ChatTurn) -> dict[str, object]:
    return {
        "v": 1,
        "id": turn.id,
        "session_id": turn.session,
        "role": turn.role,
        "content": turn.text,
        "at": turn.said_at,
    }
