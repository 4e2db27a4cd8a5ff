"""The steps of the walk: what went in, what was kept and why, what was not and why, and a recall.

Each shows what the running engine answers, and checks what it says about it; `StepFailed` when that is not so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.codec import to_json
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import COMMANDS, DELETE, TURNS
from deploy.local.walk_engine import Json, WalkEngine, holds, until
from deploy.local.walk_story import Person, Record, Story
from deploy.local.walk_views import View
from tables.extractive import extract
from tables.keys import Position, route
from tables.policy import Policy
from tables.turn import parse_turn
from tables.worth import Drop, screen

NOWHERE = Position("", 0, 0)
QUERY = "给我推荐一杯饮料，再配一份点心"


@dataclass(slots=True)
class Walk:
    """What the steps share."""

    engine: WalkEngine
    view: View
    story: Story
    begun_at: float = field(default_factory=time.time)

    @property
    def zh(self) -> Person:
        return self.story.zh

    @property
    def en(self) -> Person:
        return self.story.en

    async def everything(self, person: Person) -> list[Json]:
        """What is held of a user, past versions too."""
        return await self.engine.memories(person.scope) + await self.engine.memories(person.scope, "superseded")

    async def find(self, person: Person, slot: str, status: str = "active") -> Json:
        """The one memory of a slot."""
        found = [m for m in await self.engine.memories(person.scope, status) if m["slot"] == slot]
        holds(len(found) == 1, f"{person.name} has {len(found)} {status} memories of {slot}, not one")
        return found[0]


async def conversation(walk: Walk) -> None:
    """The turns go out through the topic; reads of the next steps wait for them by their tokens."""
    view = walk.view
    view.title("1  A conversation goes in", "一段对话进入")
    for person in walk.story.people():
        await walk.engine.say(person.scope, list(person.records(walk.begun_at)))
    rows = [
        (person.name if number == 0 else "", record["session_id"], record["id"], record["role"], record["content"])
        for person in walk.story.people()
        for number, record in enumerate(person.records(walk.begun_at))
    ]
    view.table(("user", "session", "turn", "role", "said"), [tuple(str(cell) for cell in row) for row in rows], wide=4)
    view.note(f"Sent to {TURNS} as a platform would, with any Kafka client.")


async def remembered(walk: Walk) -> None:
    """Memories, each in the user's own words, with the verdicts of the gates as `memory.changes.v1` tells them."""
    view = walk.view
    view.title("2  What was remembered, and why", "记住了什么，为什么")
    for person in walk.story.people():
        found = await walk.engine.memories(person.scope)
        rules = await _rules(walk.engine, person, found)
        if person is walk.zh:
            view.first_result()
        view.note(f"{person.name}")
        view.memories(found, rules)
        _check_sources(person, await walk.everything(person))
    view.held("every memory is a user's own words; each turn meant to be kept is a source of one, no other is")
    states = {memory["slot"]: memory["state"] for memory in await walk.engine.memories(walk.zh.scope)}
    holds(states.get("identity.city") == "frozen", "a city said in two sessions is not frozen")
    guess = await walk.find(walk.en, "health.allergy")
    holds(guess["state"] == "draft", "a guess is no draft")
    view.held("said in two sessions: frozen. A guess (“I think …”): a draft, which no recall shows")


async def refused(walk: Walk) -> None:
    """Turns and clauses that became nothing, each with the reason of the law that the worker applies."""
    view = walk.view
    view.title("3  What was refused, and why", "拒绝了什么，为什么")
    rows = [row for person in walk.story.people() for row in _drops(person, walk.begun_at)]
    view.note("By the worth law, before anything was stored:")
    view.table(("user", "turn", "said", "reason"), rows, wide=2)
    told = {(name, turn) for name, turn, _, _ in rows}
    opened = [(walk.zh.name, q) for q in await walk.engine.questions(walk.zh.scope)]
    view.note("By the gates, which keep what is frozen or protected and ask instead:")
    rows_asked = [(name, q["proposed"], q["held"], f"asked: {q['kind']}") for name, q in opened]
    view.table(("user", "said", "against", "verdict"), rows_asked, wide=1)
    asked = {question["proposed"] for _, question in opened}
    for person in walk.story.people():
        for said in person.turns():
            known = said.kept or (person.name, said.id) in told or said.content in asked
            holds(known, f"nothing says why {said.id} of {person.name} was not remembered")
    view.held("every turn that left no memory has its reason")
    await _dead_letters(walk)


async def recalled(walk: Walk) -> None:
    """The context for a question in a session that goes on."""
    view = walk.view
    view.title("4  What a recall returns", "一次召回返回什么")
    view.note(f"POST /v1/recall for {walk.zh.name}, session {walk.zh.latest_session}: {QUERY}")
    context = await walk.engine.recall(walk.zh, QUERY)
    view.recall(context)
    contents = texts(context, "stable", "reference")
    holds("我对花生过敏" in contents, "the allergy is not recalled")
    holds("我平时喜欢喝无糖的奶茶" not in contents, "a preference of the past is recalled")
    holds("这次帮我点少冰的" in texts(context, "state"), "the wish of this session is not in its state")
    holds(0 < context["tokens"] <= context["max_tokens"], "the recall does not keep its budget")
    view.held("current memories only, the wish in this session's state alone, within the budget")


def texts(context: Json, *sections: str) -> set[str]:
    """The contents in these sections, or in all of them."""
    named = sections or tuple(context["sections"])
    return {item["content"] for name in named for item in context["sections"][name]}


async def _rules(engine: WalkEngine, person: Person, found: Sequence[Json]) -> Mapping[str, Sequence[str]]:
    """The verdicts over each memory in order."""

    async def all_told() -> Mapping[str, Sequence[str]] | None:
        rules = await engine.rules(person.scope.tenant)
        return rules if all(memory["id"] in rules for memory in found) else None

    return await until(all_told, "change event of every memory")


def _check_sources(person: Person, found: Sequence[Json]) -> None:
    said = {turn.id: turn for turn in person.turns()}
    sources = {source for memory in found for source in memory["source_ids"]}
    holds(sources <= said.keys(), f"{person.name} has memories of turns that were not this user's")
    for memory in found:
        own = any(memory["content"] in said[source].content for source in memory["source_ids"])
        holds(own, f"a memory of {person.name} is not in the user's own words")
    wrong = sorted(turn.id for turn in said.values() if turn.kept != (turn.id in sources))
    holds(not wrong, f"of {person.name}, what came of {', '.join(wrong)} is not what was meant")


def _drops(person: Person, begun_at: float) -> Iterator[tuple[str, str, str, str]]:
    for record in person.records(begun_at):
        turn = parse_turn(record, NOWHERE)
        reason = screen(turn, consent=True)
        if reason is not None:
            yield person.name, turn.id, turn.content, reason.value
            continue
        extraction = extract(turn, Policy())
        for wish in extraction.wishes:
            yield person.name, turn.id, wish.content, Drop.SESSION_WISH.value
        if not extraction.wishes:
            for drop in extraction.drops:
                yield person.name, turn.id, turn.content[slice(*drop.span)], drop.reason.value


async def _dead_letters(walk: Walk) -> None:
    """Three records that nobody should have sent: they wait in the dead-letter topics, and their neighbours go on."""
    scope = walk.zh.scope
    key = route(scope)
    bad: Record = {**next(iter(walk.zh.records(walk.begun_at))), "id": "x01", "at": "1970-01-01T00:00:00Z"}
    command = {"request_id": "x02", "kind": "reset", "tenant_id": scope.tenant, "user_id": scope.user, "scope": "all"}
    delete = {"request_id": "x03", "tenant_id": scope.tenant, "user_id": scope.user, "selector": {"reach": "user"}}
    asked = {"actor": {"sub": "nobody", "role": "admin"}, "at": int(walk.begun_at * 1000)}
    sent = (
        ("a record cut short", Outgoing(TURNS, key, to_json(bad)[:40])),
        ("a turn of the year 1970", Outgoing(TURNS, key, to_json(bad))),
        ("a reset that nobody signed", Outgoing(COMMANDS, key, to_json(command | asked))),
        ("an erasure that nobody signed", Outgoing(DELETE, key, to_json(delete | asked))),
    )
    before = {memory["id"] for memory in await walk.everything(walk.zh)}
    rows = []
    for what, outgoing in sent:
        positions = await walk.engine.send(scope, [outgoing])
        facts = (await walk.engine.letters(outgoing.topic, positions))[0]
        rows.append((what, outgoing.topic, facts["stage"], facts["reason"], facts.get("field", "")))
    walk.view.note("By the door, into the dead-letter topics, with the original bytes:")
    walk.view.table(("record", "topic", "step", "reason", "field"), rows)
    reasons = [row[3] for row in rows]
    holds(reasons == ["not_json", "bad_time", "unsigned", "unsigned"], f"dead letters for other reasons: {reasons}")
    after = {memory["id"] for memory in await walk.everything(walk.zh)}
    holds(after == before, "a record of the dead letters has changed something")
    walk.view.held("none of them changed anything")
