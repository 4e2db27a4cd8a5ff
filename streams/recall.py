"""The recall verb: scope, copies, search, marks, and then one pure law decides what is offered (design §7).

Effects in order, and what each guarantees:

1. The user's copy and the query's vector are fetched side by side; neither needs the other.
2. The vector leg runs in the tenant's partition with owner, status, task and expiry in its filter.
3. Marks and the proof that the partition is served come last (`Reading.proof`): an erasure asked for before this moment
   is obeyed. Without that proof the answer holds what the caller passed in, nothing else, and says `degraded`.
4. The trace is kept, ids and reasons only; losing it loses nobody's answer.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from connectors.codec import to_json
from streams.ports import Embedder, Index, Vector
from streams.reading import Reading, Sight
from streams.recall_ports import NewId, Traces
from tables.context import Assembled, Context, Purpose, RecallRequest, assemble
from tables.copies import Hit
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Scope, scope_digest, session_digest, task_digest
from tables.policy import Policy, Tenant
from tables.prompt import render
from tables.ranking import Ask, Calibration
from tables.selection import Material, Passed, Selection, passed_only, select
from tables.text import language
from tables.trace import Trace

HITS: Final = 60  # three times what a recall may give: filters after the search must not starve it
EMBED_CHARS_MAX: Final = 2000  # the model reads 512 tokens; a longer text only costs time
ENGINE_SECONDS: Final = 1.0  # an embedder or index slower than this is away for this request
LEFT_OUT_TRACED: Final = 400


class Recall:
    """Fits `connectors.http.ports.Recalls`."""

    def __init__(
        self,
        reading: Reading,
        index: Index,
        embedder: Embedder,
        *,
        traces: Traces | None = None,
        calibration: Calibration | None = None,
        new_id: NewId = lambda: uuid.uuid4().hex,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._reading = reading
        self._index = index
        self._embedder = embedder
        self._traces = traces
        self._calibration = calibration or Calibration()
        self._new_id = new_id
        self._seconds = seconds

    async def recall(self, scope: Scope, request: RecallRequest) -> Context:
        """Raises InvalidRecord for an unknown tenant, `as_of`, or `at` under a wall clock; never Unavailable."""
        tenant = self._reading.tenant(scope.tenant)
        if request.as_of is not None:
            raise InvalidRecord(BadRecord.BAD_VALUE, "as_of")
        named = self._reading.asked_at(tenant, request.at)
        run = _Run(self, tenant, scope, request, named)
        return await run.answer()


class _Run:
    """One recall: what it has learnt so far."""

    def __init__(self, verb: Recall, tenant: Tenant, scope: Scope, request: RecallRequest, named: int | None) -> None:
        self._verb = verb
        self._tenant = tenant
        self._scope = scope
        self._request = request
        self._named = named
        self._passed = Passed(request.query, request.messages, request.knowledge)
        self._degraded: list[str] = []
        self._millis: dict[str, float] = {}

    async def answer(self) -> Context:
        verb, request = self._verb, self._request
        stale = not await verb._reading.waited(request.after)
        started = verb._seconds()
        sight, vector = await asyncio.gather(self._look(), self._vector())
        self._timed("read", started)
        now = verb._reading.now(self._tenant, self._named, sight.view.clock if sight else 0)
        policy = self._tenant.policy_at(now)
        selection = await self._selected(sight, vector, now, policy) if sight else None
        if selection is None:
            self._degraded.append("copies")
            selection = passed_only(self._passed)
        room = policy.recall_tokens if request.max_tokens is None else request.max_tokens
        assembled = assemble(selection.offers, room)
        lang = self._lang()
        context = Context(
            trace_id=verb._new_id(),
            at=now,
            assembled=assembled,
            questions=selection.questions,
            max_tokens=room,
            profile_version=sight.view.profile_version if sight and "copies" not in self._degraded else 0,
            prompt=render(assembled, lang) if request.render != "none" else "",
            lang=lang,
            stale=stale,
            degraded=tuple(dict.fromkeys(self._degraded)),
        )
        await self._keep_trace(context, selection, policy)
        return context

    async def _look(self) -> Sight | None:
        try:
            async with asyncio.timeout(ENGINE_SECONDS):
                sight = await self._verb._reading.look(self._tenant, self._scope, self._request.session)
        except (Unavailable, TimeoutError):
            return None
        if sight.index_away:
            self._degraded.append("index")
        return sight

    async def _vector(self) -> Vector | None:
        if self._request.purpose is Purpose.REWRITE:
            return None
        try:
            async with asyncio.timeout(ENGINE_SECONDS):
                return await self._verb._embedder.query(self._request.query[:EMBED_CHARS_MAX])
        except (Unavailable, TimeoutError):
            self._degraded.append("embedder")
            return None

    async def _hits(self, vector: Vector | None, now: int) -> list[Hit] | None:
        if vector is None:
            return None
        tasks = (self._request.task,) if self._request.task else ()
        try:
            async with asyncio.timeout(ENGINE_SECONDS):
                return await self._verb._index.search(
                    self._tenant, self._scope, vector, tasks=tasks, now=now, limit=HITS
                )
        except (Unavailable, TimeoutError):
            self._degraded.append("index")
            return None

    async def _selected(self, sight: Sight, vector: Vector | None, now: int, policy: Policy) -> Selection | None:
        """None when nothing of the user's may be served."""
        verb, request = self._verb, self._request
        started = verb._seconds()
        hits = await self._hits(vector, now)
        self._timed("search", started)
        started = verb._seconds()
        marks = await verb._reading.proof(self._tenant, self._scope)
        self._timed("marks", started)
        if marks is None:
            return None
        started = verb._seconds()
        material = Material(
            memories=tuple(sight.memories.values()),
            questions=sight.view.questions,
            session=sight.view.session,
            marks=marks,
            hits=hits,
            limit=HITS,
            offered=request.purpose is not Purpose.REWRITE,
        )
        selection = select(self._passed, material, self._ask(now, policy, hits), policy, verb._calibration)
        self._timed("rank", started)
        return selection

    def _ask(self, now: int, policy: Policy, hits: list[Hit] | None) -> Ask:
        """Without the vector leg the floor goes: too little is known to leave anything out."""
        request = self._request
        ask = Ask(
            self._scope, request.session, request.task, now, self._verb._reading.wall(), strict=request.strict,
            count=policy.recall_items, topic=request.topic,
        )  # fmt: skip
        return ask if hits is not None else replace(ask, floor=0.0)

    def _lang(self) -> str:
        asked = self._request.render
        return asked if asked in ("zh", "en") else "zh" if language(self._request.query) == "zh" else "en"

    def _timed(self, part: str, started: float) -> None:
        self._millis[part] = round((self._verb._seconds() - started) * 1000, 2)

    async def _keep_trace(self, context: Context, selection: Selection, policy: Policy) -> None:
        traces = self._verb._traces
        if traces is None:
            return
        trace = Trace(
            id=context.trace_id,
            at=context.at,
            scope=scope_digest(self._scope),
            session=session_digest(self._scope, self._request.session),
            task=task_digest(self._scope, self._request.task),
            policy=policy.version,
            profile_version=context.profile_version,
            window=tuple(item.key for item in selection.offers.window),
            legs=selection.legs,
            left_out=(*selection.left_out, *context.assembled.left_out)[:LEFT_OUT_TRACED],
            injected=_injected(context.assembled),
            questions=tuple(question.id for question in context.questions),
            tokens=context.assembled.tokens,
            strict=self._request.strict,
            stale=context.stale,
            degraded=context.degraded,
            millis=self._millis,
        )
        try:
            await traces.put_trace(self._scope.tenant, trace.id, to_json(trace))
        except Unavailable:
            return


def _injected(assembled: Assembled) -> tuple[str, ...]:
    """Keys of all that went in: memory ids, turn keys, places of what the caller passed; no words."""
    return tuple(item.key for items in assembled.sections.values() for item in items if item.key != "question")
