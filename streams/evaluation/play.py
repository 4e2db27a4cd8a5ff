"""One scenario, step after step: what is written is settled before it is read, and time passes before it is spoken of.

How the rules of the format are kept:

- The clock is the `at` of the step. Before a step with a later one, everything written is settled, what falls due until
  then is looked up, and where there is something a `tick` moves the clock and the change is waited for.
- Turns may follow each other without waiting, one that names a day only within its own: what is said falls due at the
  end of a day that was said, and nothing else does within a week.
- A command stands between what was written before it and what comes after it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, assert_never

from streams.evaluation.commands import Orders
from streams.evaluation.ports import Ground, Json
from tables.command import ActorRole
from tables.dates import days_said, local_day
from tables.expectation import Item, Listed, Recalled, check_list, check_recall, relevant
from tables.keys import Position, Scope, is_legal_id
from tables.scenario import CommandStep, ListStep, Moment, Place, RecallStep, Scenario, Step, TurnStep, WaitStep
from tables.scoring import Played, Result
from tables.text import tokens

DUE_PATIENCE_SECONDS: Final = 20.0  # the sweeper looks every second; what is still there then will not go
DUE_PAUSE_SECONDS: Final = 0.1
UNDER_WAY_MAX: Final = 100  # turns of one scenario that wait for the worker: more would keep others waiting
WEEK_MS: Final = 7 * 86_400_000
PUBLIC: Final = frozenset({"default", "public", "public_default"})  # how a marked default may say that it is one
GUIDED: Final = frozenset({"guided", "cold_start"})  # questions of a cold start, which are no open conflicts

Name = Callable[[str], str]


class Player:
    """Plays one scenario. `named` gives the tenant id that stands for one as written; `remark` is told of oddities."""

    def __init__(self, scenario: Scenario, ground: Ground, named: Name, remark: Callable[[str], None]) -> None:
        self._scenario = scenario
        self._ground = ground
        self._named = named
        self._remark = remark
        self._clock = 0
        self._last: dict[str, dict[tuple[str, int], Position]] = {}
        self._unsettled: list[Position] = []
        self._named_on: set[object] = set()
        self._under_way_since = 0
        self._due: dict[Scope, int | None] = {}
        self._orders = Orders(ground, self._after)

    async def play(self) -> Result:
        """The result of every recall and list. Raises Unavailable."""
        played = [one for step in self._scenario.steps if (one := await self._step(step)) is not None]
        await self._settle()
        frozen, overturned = await self._profiles()
        return Result(self._scenario, tuple(played), frozen, overturned)

    async def _step(self, step: Step) -> Played | None:
        await self._pass_time(step)
        match step:
            case TurnStep():
                await self._turn(step)
            case CommandStep():
                await self._command(step)
            case RecallStep():
                return await self._recall(step)
            case ListStep():
                return await self._list(step)
            case WaitStep():
                pass
            case _:
                assert_never(step)
        return None

    async def _turn(self, step: TurnStep) -> None:
        scope = self._scope(step.place)
        place = step.place
        optional = {"id": step.id, "task_id": place.task, "topic": place.topic}
        flags = {"consent": step.consent, "minor": step.minor}
        body: dict[str, Any] = {
            "v": 1,
            "session_id": place.session,
            "role": step.role,
            "content": step.text,
            "at": step.moment.said_at,
            **{name: value for name, value in optional.items() if value},
            **{name: value for name, value in flags.items() if value is not None},
        }
        if not self._unsettled:
            self._under_way_since = step.moment.at
        if days_said(step.text, step.moment.at, step.moment.zone_minutes):
            self._named_on.add(_day(step.moment))
        self._written(scope, await self._ground.turn(scope, body))

    async def _command(self, step: CommandStep) -> None:
        scope = self._scope(step.place)
        for position in await self._orders.give(scope, step):
            self._written(scope, position)
        await self._settle()

    async def _recall(self, step: RecallStep) -> Played:
        scope = self._scope(step.place)
        await self._settle()
        optional = {
            "task_id": step.place.task,
            "topic": step.place.topic,
            "knowledge": list(step.knowledge),
            "as_of": step.as_of,
            "strict": step.strict,
        }
        body = {
            "query": step.query,
            "session_id": step.place.session,
            "at": step.moment.said_at,
            **{name: value for name, value in optional.items() if value},
            **({} if step.max_tokens is None else {"max_tokens": step.max_tokens}),
        }
        answer = await self._ground.recall(scope, body, self._after(scope))
        open_questions = 0 if answer.refused else await self._open_questions(scope)
        seen = Recalled(remark=answer.refused) if answer.refused else recalled(answer.body, open_questions)
        return Played(
            step,
            check_recall(step.expected, seen),
            seen.trace_id,
            *relevant(step.expected, seen),
            millis=None if answer.refused else answer.millis,
            tokens=None if answer.refused else sum(item.tokens for item in seen.items),
        )

    async def _open_questions(self, scope: Scope) -> int:
        answer = await self._ground.questions(scope, self._after(scope))
        return sum(question["kind"] not in GUIDED for question in answer.body.get("questions", ()))

    async def _list(self, step: ListStep) -> Played:
        scope = self._scope(step.place)
        await self._settle()
        params = {"at": step.moment.said_at, "drafts": "true" if step.drafts else "false"}
        answer = await self._ground.memories(scope, params, self._after(scope))
        contents = tuple(str(memory["content"]) for memory in answer.body.get("memories", ()))
        return Played(step, check_list(step.expected, Listed(contents, answer.refused)))

    async def _pass_time(self, step: Step) -> None:
        """Move the clock to the step's, once what falls due in between has happened."""
        at = step.moment.at
        if at <= self._clock or self._follows(step):
            self._clock = max(self._clock, at)
            return
        await self._settle()
        due = await self._falling_due(at)
        ticked = {scope.tenant for scope in due}
        if isinstance(step, WaitStep):
            ticked = {scope.tenant for scope in self._due}
        for tenant in sorted(ticked):
            await self._tick(Scope(tenant, ""), at)
        await self._until_done(due, at)
        self._clock = at

    def _follows(self, step: Step) -> bool:
        """Whether this turn may go without waiting for those under way."""
        if not isinstance(step, TurnStep) or not 0 < len(self._unsettled) < UNDER_WAY_MAX:
            return False
        at = step.moment.at
        if at - self._under_way_since > WEEK_MS or any(due and due <= at for due in self._due.values()):
            return False
        return self._named_on <= {_day(step.moment)}

    async def _falling_due(self, at: int) -> list[Scope]:
        """The users of whom something falls due until `at`."""
        for scope, known in self._due.items():
            if known is None:
                self._due[scope] = await self._ground.next_due(scope)
        return [scope for scope, known in self._due.items() if known and known <= at]

    async def _tick(self, tenant: Scope, at: int) -> None:
        position = await self._ground.command(tenant, {"kind": "tick", "at": at}, ActorRole.SERVICE)
        if position is not None:
            await self._ground.settled([position])

    async def _until_done(self, scopes: Iterable[Scope], at: int) -> None:
        """Returns when nothing of these users is due any more: one thing that ends may let another begin to count."""
        end = time.monotonic() + DUE_PATIENCE_SECONDS
        for scope in scopes:
            while (due := await self._ground.next_due(scope)) and due <= at:
                if time.monotonic() > end:
                    self._remark(f"{self._scenario.id}: something that fell due is still there")
                    break
                await asyncio.sleep(DUE_PAUSE_SECONDS)
            self._due[scope] = due

    async def _settle(self) -> None:
        if self._unsettled:
            await self._ground.settled(self._unsettled)
        self._unsettled.clear()
        self._named_on.clear()

    def _written(self, scope: Scope, position: Position | None) -> None:
        if position is None:
            return
        self._unsettled.append(position)
        self._last.setdefault(scope.tenant, {})[position.topic, position.partition] = position
        if is_legal_id(scope.tenant) and is_legal_id(scope.user):
            self._due[scope] = None

    def _after(self, scope: Scope) -> tuple[Position, ...]:
        return tuple(self._last.get(scope.tenant, {}).values())

    def _scope(self, place: Place) -> Scope:
        return Scope(self._named(place.tenant), place.user)

    async def _profiles(self) -> tuple[int, int]:
        """(profile entries that were ever current at the end, those of them that something else has replaced)."""
        held = overturned = 0
        for scope in self._due:
            for status in ("active", "superseded"):
                answer = await self._ground.memories(scope, {"status": status, "at": str(self._clock)}, ())
                count = sum(memory["state"] == "frozen" for memory in answer.body.get("memories", ()))
                held += count
                overturned += count if status == "superseded" else 0
        return held, overturned


def recalled(body: Json, open_questions: int) -> Recalled:
    """The body of a recall as the expectations look at it; tokens by the engine's own estimator."""
    sections: Mapping[str, Any] = body["sections"]
    items = tuple(
        Item(section, str(item["content"]), tokens(str(item["content"])), _is_own(item))
        for section, held in sections.items()
        if section != "question"
        for item in held
    )
    asked = [question for question in body["questions"] if question["kind"] not in GUIDED]
    questions = tuple((str(q["text"]), str(q["held"]), str(q["proposed"])) for q in asked)
    return Recalled(items, questions, max(open_questions, len(questions)), str(body["trace_id"]))


def _is_own(item: Mapping[str, Any]) -> bool:
    return PUBLIC.isdisjoint({item.get("origin"), item.get("confirmation"), item.get("type")})


def _day(moment: Moment) -> object:
    """The day of this moment where it was said: one day in two zones is not the same."""
    return local_day(moment.at, moment.zone_minutes), moment.zone_minutes
