"""The `openai` extractor: any OpenAI-compatible chat endpoint behind the port; what it says is judged by our own laws.

A failing endpoint is never "nothing found". Of each failure it is asked whose it is:

1. the endpoint's (away, slow, throttling) or the settings' (key, model, address): `Unavailable`, the batch waits;
2. the turn's (rejected, declined, answered without keeping to the schema, failing again and again): EXTRACTION_FAILED
   in its place, but only when the endpoint reads another turn well at that time. If it does not, it is 1.

So a wrong model or a server without schemas stops the stream instead of emptying it into the dead letters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import structlog

from connectors.metrics import EXTRACTOR_FACTS
from connectors.model.openai_calls import FAILURES, OWN, OpenaiCalls
from connectors.model.openai_config import OpenaiConfig
from connectors.model.openai_protocol import Outcome, Reply, request
from tables.candidate import Candidate
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.openai_reading import Source, read
from tables.policy import Policy
from tables.turn import Role, Turn

log = structlog.get_logger()

Answer: TypeAlias = tuple[Candidate, ...] | InvalidRecord

_NOBODY: Final = Turn(
    key="", id="", scope=Scope("", ""), session="", task="", topic="", role=Role.USER, content="I live in Lisbon.",
    at=1_767_225_600_000, zone_minutes=0, consent=True, lang="en", minor=False, position=Position("", 0, 0),
)  # fmt: skip
"""Said by nobody: what the endpoint is asked to read when a turn could not be read."""


class Openai:
    """Fits `streams.ports.Extractor`. One call a turn, none for a turn that may give nothing.

    Answers of the last batch are kept in memory, so that a batch that is repeated calls only for what is missing.
    `moved` is called whenever a turn is answered: a long batch is slow, not stuck. `close` ends the connections.
    """

    def __init__(
        self, config: OpenaiConfig, *, calls: OpenaiCalls | None = None, moved: Callable[[], None] = lambda: None
    ) -> None:
        self._config = config
        self._calls = calls or OpenaiCalls(config)
        self._moved = moved
        self._answers: dict[str, tuple[Turn, Policy, Answer]] = {}
        self._failed: dict[str, int] = {}  # failed calls of a turn, while its batch is repeated
        self._well = 0  # replies that could be read
        self._slots = asyncio.Semaphore(config.concurrency)
        self._doubt = asyncio.Lock()
        self._said: Outcome | None = None
        self._probe = request(config.model, _NOBODY, _NOBODY.content)

    async def extract(self, turns: Sequence[tuple[Turn, Policy]]) -> list[Answer]:
        """One answer a turn. Raises Unavailable("extractor") when one has to wait; the others are not asked again."""
        present = {turn.key for turn, _ in turns}
        self._answers = {key: held for key, held in self._answers.items() if key in present}
        self._failed = {key: count for key, count in self._failed.items() if key in present}
        if self._said is not None and not await self._is_well(self._well):
            raise self._waiting()  # what is known not to work is tried with nobody's turn before anybody's
        answers = await asyncio.gather(*(self._one(turn, policy) for turn, policy in turns))
        for answer in answers:
            if isinstance(answer, Unavailable):
                raise answer
        return [answer for answer in answers if not isinstance(answer, Unavailable)]

    async def close(self) -> None:
        await self._calls.close()

    async def _one(self, turn: Turn, policy: Policy) -> Answer | Unavailable:
        held = self._answers.get(turn.key)
        if held is not None and held[:2] == (turn, policy):
            return held[2]
        source = Source(turn, policy)
        answer: Answer | Unavailable = ()
        if source.is_open:
            async with self._slots:  # until the turn is judged, doubts included: a wrong endpoint is noticed at once
                answer = await self._answered(source)
        if isinstance(answer, Unavailable):
            return answer
        self._answers[turn.key] = (turn, policy, answer)
        self._moved()
        return answer

    async def _answered(self, source: Source) -> Answer | Unavailable:
        """Unavailable when the turn has to wait."""
        body = request(self._config.model, source.turn, source.text)
        before = self._well
        if self._failed.get(source.turn.key, 0) >= self._config.poison_calls:
            replies = [await self._last_chance(body)]
        else:
            replies = await self._calls.ask(body)
        last = replies[-1]
        if last.outcome is Outcome.READ:
            return self._read(source, last)
        failures = sum(one.outcome in FAILURES for one in replies)
        self._failed[source.turn.key] = self._failed.get(source.turn.key, 0) + failures
        if last.outcome not in OWN:
            self._say(last)
            return self._waiting(last.retry_after)
        if not await self._is_well(before):
            return self._waiting()
        return InvalidRecord(BadRecord.EXTRACTION_FAILED)

    async def _last_chance(self, body: bytes) -> Reply:
        """The reply to a turn that failed often, asked right after the endpoint was seen to be well."""
        if not await self._is_well(self._well):
            return Reply(Outcome.HELD)
        told = await self._calls.ask_once(body)
        return replace(told, outcome=Outcome.REJECTED) if told.outcome in FAILURES else told

    async def _is_well(self, before: int) -> bool:
        """Whether the endpoint has read something since the count `before`; a turn of nobody's is tried to find out."""
        async with self._doubt:
            if self._well > before:
                return True
            told = await self._calls.ask_once(self._probe, is_probe=True)
            if told.outcome is Outcome.READ:
                self._recovered()
                return True
            self._say(told)
            return False

    def _read(self, source: Source, told: Reply) -> tuple[Candidate, ...]:
        self._recovered()
        reading = read(source, told.facts)
        for verdict in reading.verdicts:
            EXTRACTOR_FACTS.labels(verdict.value).inc()
        return reading.candidates

    def _recovered(self) -> None:
        self._well += 1
        if self._said is not None:
            self._said = None
            log.info("extractor answers again")

    def _say(self, told: Reply) -> None:
        """In the log, once until it is mended: what waiting alone does not mend."""
        if told.outcome in (Outcome.DENIED, *OWN) and self._said is None:
            self._said = told.outcome
            log.error("extractor cannot work", outcome=told.outcome.value, status=told.status, check=_hint(told.status))

    def _waiting(self, seconds: float = 0.0) -> Unavailable:
        return Unavailable("extractor", seconds or self._config.open_seconds)


def _hint(status: int) -> str:
    """Which setting to look at."""
    match status:
        case 401 | 403 | 407:
            return "TWINSLUICE_OPENAI_KEY"
        case 402:
            return "the account at the endpoint"
        case 404 | 405 | 410 | 501:
            return "TWINSLUICE_OPENAI_URL and TWINSLUICE_OPENAI_MODEL"
        case _ if 300 <= status < 400:
            return "TWINSLUICE_OPENAI_URL"
        case _:
            return "whether TWINSLUICE_OPENAI_MODEL keeps to a JSON schema"
