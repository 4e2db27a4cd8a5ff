"""The recall verb over fakes: scope, marks, degradation, sections (A8, A9, A11, A12, A14, §11.5, §11.19)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tables.candidate import Confirmation, Kind
from tables.context import Context, Knowledge, Message, Purpose, RecallRequest, Section
from tables.copies import UserCopy
from tables.erasure import MARK_LAPSE_MS, Mark, Reach
from tables.errors import BadRecord, InvalidRecord, Unavailable
from tables.keys import Position, Scope
from tables.memory import State, Status
from tables.policy import Policy
from tables.session import Wish
from tests.unit.recall_world import DAY, FAR, HOUR, NOW, OTHER_USER, OWNER, World, memory, question, turn, window


def ask(query: str = "where do I live", **fields: Any) -> RecallRequest:
    return RecallRequest(query, **{"session": "s1", **fields})


def contents(context: Context, *sections: Section) -> list[str]:
    wanted = sections or tuple(s for s in Section if s is not Section.QUESTION)
    return [item.content for section in wanted for item in context.assembled.sections[section]]


def mark(reach: Reach, value: str = "", **fields: Any) -> Mark:
    return replace(Mark(reach, value, NOW, 0, NOW, confirmed=False), **fields)


async def test_a_memory_is_recalled_with_its_labels_and_a_score_that_its_parts_add_up_to() -> None:
    world = World()
    await world.remember(memory("I live in Lisbon", kind=Kind.IDENTITY, slot="identity.city"))
    context = await world.recalls.recall(OWNER, ask())
    (item,) = context.assembled.sections[Section.REFERENCE]
    assert (item.kind, item.confirmation, item.content) == ("identity", "stated", "I live in Lisbon")
    assert item.parts is not None
    assert item.parts.score == pytest.approx(
        item.parts.relevance + item.parts.scope + item.parts.recency + item.parts.source
    )
    assert not context.degraded
    assert not context.stale


async def test_a_frozen_memory_is_stable_context() -> None:
    world = World()
    await world.remember(memory("I am allergic to mango", kind=Kind.HEALTH, state=State.FROZEN))
    context = await world.recalls.recall(OWNER, ask("suggest a dessert"))
    assert contents(context, Section.STABLE) == ["I am allergic to mango"]


@pytest.mark.parametrize("stranger", [OTHER_USER, FAR, Scope("te", "u1")])
async def test_nobody_else_sees_a_canary_however_alike_they_ask(stranger: Scope) -> None:
    world = World()
    await world.remember(memory("my canary is 8000-zebra"))
    world.shelf.sessions[OWNER, "s1"] = window(turn("my canary is 8000-zebra, remember"))
    context = await world.recalls.recall(stranger, ask("my canary is 8000-zebra"))
    assert contents(context) == []
    assert not context.questions
    assert contents(await world.recalls.recall(OWNER, ask("my canary is 8000-zebra")))


async def test_an_index_that_answers_for_another_user_is_not_believed() -> None:
    world = World()
    await world.remember(memory("canary of alice"))
    world.user(UserCopy(OTHER_USER, memories=(memory("something of ben", OTHER_USER),)))
    honest = world.index.search

    async def lying(tenant: Any, _: Scope, *args: Any, **kwargs: Any) -> Any:
        return await honest(tenant, OWNER, *args, **kwargs)

    world.index.search = lying  # type: ignore[method-assign, assignment]  # a broken engine
    context = await world.recalls.recall(OTHER_USER, ask("canary of alice"))
    assert "canary of alice" not in contents(context)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.SUPERSEDED},
        {"status": Status.EXPIRED},
        {"state": State.DRAFT},
        {"expires_at": NOW},
        {"task": "garden"},
    ],
)
async def test_what_is_not_active_current_and_of_this_task_is_in_no_recall(fields: dict[str, Any]) -> None:
    world = World()
    await world.remember(memory("the budget is 2,500", **fields))
    assert contents(await world.recalls.recall(OWNER, ask("what was the budget", task="kitchen"))) == []


async def test_a_task_sees_its_own_and_what_belongs_to_no_task() -> None:
    world = World()
    await world.remember(memory("kitchen budget 9,000", task="kitchen"), memory("budget talks bore me"))
    with_task = await world.recalls.recall(OWNER, ask("budget", task="kitchen"))
    without = await world.recalls.recall(OWNER, ask("budget"))
    assert sorted(contents(with_task)) == ["budget talks bore me", "kitchen budget 9,000"]
    assert contents(without) == ["budget talks bore me"]


async def test_the_newer_copy_of_a_memory_wins_whichever_engine_holds_it() -> None:
    world = World()
    old = memory("I live in Lisbon")
    await world.remember(old)
    world.user(UserCopy(OWNER, memories=(replace(old, status=Status.SUPERSEDED, version=2),)))
    assert contents(await world.recalls.recall(OWNER, ask("where do I live, Lisbon?"))) == []


async def test_a_superseded_version_is_out_even_when_a_copy_still_calls_it_active() -> None:
    world = World()
    old = memory("I live in Lisbon")
    new = memory("I live in Porto", supersedes=old.id)
    await world.remember(old, new)
    assert contents(await world.recalls.recall(OWNER, ask())) == ["I live in Porto"]


MARKS = [
    mark(Reach.USER),
    mark(Reach.TENANT),
    mark(Reach.SESSION, "s1"),
    mark(Reach.MEMORY, memory("my locker code is 4417", session="s1", turn_id="w1").id),
    mark(Reach.SOURCE, "w1"),
    mark(Reach.KIND, "fact"),
]


@pytest.mark.parametrize("one", MARKS, ids=lambda m: m.reach.value)
async def test_a_mark_hides_at_once_memory_window_wish_and_question(one: Mark) -> None:
    world = World()
    held = memory("my locker code is 4417", session="s1", turn_id="w1")
    await world.remember(held)
    said = turn("my locker code is 4417", id="w1")
    world.shelf.sessions[OWNER, "s1"] = window(
        said, wishes=(Wish("", "this time show my locker code is 4417", said.key, said.at),)
    )
    world.user(UserCopy(OWNER, questions=(question(held, "my locker code is 9"),)))
    before = await world.recalls.recall(OWNER, ask("locker code"))
    assert len(contents(before)) == 3
    assert before.questions
    await world.reader.put_marks(OWNER, [one])
    after = await world.recalls.recall(OWNER, ask("locker code"))
    assert contents(after) == []
    assert not after.questions or one.reach in (Reach.SESSION, Reach.SOURCE)


async def test_marks_written_while_the_search_runs_are_obeyed() -> None:
    world = World()
    await world.remember(memory("my canary"))
    honest = world.index.search

    async def slow(*args: Any, **kwargs: Any) -> Any:
        hits = await honest(*args, **kwargs)
        await world.reader.put_marks(OWNER, [mark(Reach.USER)])
        return hits

    world.index.search = slow  # type: ignore[method-assign]  # an erasure in the middle of a recall
    assert contents(await world.recalls.recall(OWNER, ask("canary"))) == []


async def test_an_unconfirmed_mark_lapses_and_a_new_statement_is_not_hidden() -> None:
    world = World()
    await world.remember(memory("old canary"), memory("canary said after", at=NOW + 1))
    await world.reader.put_marks(OWNER, [mark(Reach.USER)])
    assert contents(await world.recalls.recall(OWNER, ask("canary"))) == ["canary said after"]
    world.now = NOW + MARK_LAPSE_MS + 1
    assert len(contents(await world.recalls.recall(OWNER, ask("canary")))) == 2


async def test_a_neighbour_of_a_forgotten_memory_stays_in_the_window() -> None:
    world = World()
    held = memory("I have gastritis", session="s1", turn_id="w1")
    await world.remember(held)
    world.shelf.sessions[OWNER, "s1"] = window(
        turn("I have gastritis", id="w1"),
        turn("Noted: I have gastritis.", role="assistant", id="w2"),
        turn("what time is it", id="w3"),
    )
    await world.reader.put_marks(OWNER, [mark(Reach.MEMORY, held.id)])
    assert contents(await world.recalls.recall(OWNER, ask("stomach"))) == ["what time is it"]


async def test_only_the_session_asked_for_shows_its_window_and_not_after_its_gap() -> None:
    world = World()
    wish = Wish("preference.answer_length", "answer briefly this time", turn("hello").key, NOW - 60_000)
    world.shelf.sessions[OWNER, "s1"] = window(turn("hello from s1"), wishes=(wish,))
    world.user(UserCopy(OWNER))
    shown = await world.recalls.recall(OWNER, ask("hi"))
    assert contents(shown, Section.WINDOW) == ["hello from s1"]
    assert contents(shown, Section.STATE) == ["answer briefly this time"]
    assert contents(await world.recalls.recall(OWNER, ask("hi", session="s2"))) == []
    world.now = NOW + Policy().session_gap_ms
    assert contents(await world.recalls.recall(OWNER, ask("hi"))) == []


@pytest.mark.parametrize("fault", ["redis", "unserved", "redis_at_the_end"])
async def test_without_trusted_marks_only_what_the_caller_passed_comes_back(fault: str) -> None:
    world = World()
    await world.remember(memory("my canary"))
    world.shelf.sessions[OWNER, "s1"] = window(turn("canary in the window"))
    if fault == "redis":
        world.shelf.away = True
    elif fault == "unserved":
        world.shelf.served = set()
    else:

        async def away(_: Scope) -> Any:
            raise Unavailable("redis")

        world.reader.marks = away  # type: ignore[method-assign, assignment]  # Redis goes away after the view
    request = ask("canary", knowledge=(Knowledge("opening hours 9-5"),), messages=(Message("user", "hello"),))
    context = await world.recalls.recall(OWNER, request)
    assert contents(context) == ["opening hours 9-5", "hello"]
    assert "copies" in context.degraded
    assert context.profile_version == 0


@pytest.mark.parametrize("part", ["index", "embedder"])
async def test_keyword_and_field_legs_answer_while_the_vector_leg_is_away(part: str) -> None:
    world = World()
    await world.remember(memory("invoice INV-2231 is open"), memory("I like rain"))
    if part == "index":
        world.index.away = True
    else:

        async def away(_: str) -> Any:
            raise Unavailable("embedder")

        world.embedder.query = away  # type: ignore[method-assign, assignment]  # the embedder is gone
    context = await world.recalls.recall(OWNER, ask("what about INV-2231?"))
    assert contents(context)[0] == "invoice INV-2231 is open"
    assert context.degraded == (part,)


async def test_a_user_that_redis_does_not_hold_is_loaded_from_the_index_by_scope() -> None:
    world = World()
    await world.remember(memory("I live in Lisbon"), memory("ben lives in Rome", OTHER_USER))
    world.shelf.users.clear()
    assert contents(await world.recalls.recall(OWNER, ask())) == ["I live in Lisbon"]


async def test_strict_admits_only_what_was_said_outright_or_confirmed() -> None:
    world = World()
    guess = memory("maybe I like jazz", confidence=0.4)
    inferred = memory("seems to like jazz", confirmation=Confirmation.INFERRED)
    commanded = memory("likes jazz indeed", confirmation=Confirmation.COMMANDED, confidence=0.5)
    await world.remember(memory("I like jazz"), guess, inferred, commanded)
    context = await world.recalls.recall(OWNER, ask("jazz", strict=True))
    assert sorted(contents(context)) == ["I like jazz", "likes jazz indeed"]


async def test_at_most_twenty_memories_health_and_boundaries_first() -> None:
    world = World()
    await world.remember(*(memory(f"jazz record number {n}") for n in range(40)))
    await world.remember(memory("I must not eat nuts", kind=Kind.HEALTH))
    context = await world.recalls.recall(OWNER, ask("jazz record", max_tokens=100_000))
    got = contents(context, Section.STABLE, Section.REFERENCE)
    assert len(got) == 20
    assert got[0] == "I must not eat nuts"


async def test_after_waits_for_the_effects_and_says_stale_when_they_do_not_come() -> None:
    world = World()
    late = Position("conversation.turns.v1", 1, 7)
    stale = await world.recalls.recall(OWNER, ask(after=(late,)))
    assert stale.stale
    assert 2.0 <= world.slept < 2.2
    world.shelf.progress["conversation.turns.v1", 1] = 7
    assert not (await world.recalls.recall(OWNER, ask(after=(late,)))).stale


async def test_the_clock_may_be_named_by_event_time_tenants_only() -> None:
    world = World()
    scope = Scope("te", "u1")
    ends = memory("in Oslo until Friday", scope, expires_at=NOW + DAY)
    await world.remember(ends)
    assert contents(await world.recalls.recall(scope, ask("Oslo", at=NOW))) == ["in Oslo until Friday"]
    assert contents(await world.recalls.recall(scope, ask("Oslo", at=NOW + DAY))) == []
    world.shelf.clocks["te"] = NOW + 2 * DAY
    assert contents(await world.recalls.recall(scope, ask("Oslo"))) == []
    with pytest.raises(InvalidRecord) as refused:
        await world.recalls.recall(OWNER, ask(at=NOW))
    assert (refused.value.reason, refused.value.field) == (BadRecord.BAD_VALUE, "at")


@pytest.mark.parametrize(
    ("scope", "request_", "field"),
    [(OWNER, ask(as_of=NOW), "as_of"), (Scope("nobody", "u1"), ask(), "")],
)
async def test_what_cannot_be_answered_is_refused(scope: Scope, request_: RecallRequest, field: str) -> None:
    with pytest.raises(InvalidRecord) as refused:
        await World().recalls.recall(scope, request_)
    assert refused.value.field == field


async def test_rewrite_gives_window_and_state_without_a_search() -> None:
    world = World()
    await world.remember(memory("I live in Lisbon"))
    world.shelf.sessions[OWNER, "s1"] = window(turn("and what about trains?"))
    embedded = world.embedder.calls
    context = await world.recalls.recall(OWNER, ask(purpose=Purpose.REWRITE))
    assert contents(context) == ["and what about trains?"]
    assert world.embedder.calls == embedded
    assert not context.degraded


async def test_the_trace_names_ids_and_reasons_and_holds_no_word() -> None:
    world = World()
    await world.remember(memory("zebra one"), memory("zebra draft", state=State.DRAFT))
    world.shelf.sessions[OWNER, "s1"] = window(turn("zebra window"))
    context = await world.recalls.recall(OWNER, ask("zebra query", knowledge=(Knowledge("zebra knowledge"),)))
    trace = await world.reader.trace("t1", context.trace_id)
    assert trace is not None
    assert b"zebra" not in trace
    assert b"u1" not in trace
    assert b'"draft"' in trace
    assert memory("zebra one").id.encode() in trace


async def test_messages_that_the_window_holds_already_come_once() -> None:
    world = World()
    world.shelf.sessions[OWNER, "s1"] = window(turn("book the 7:40"))
    world.user(UserCopy(OWNER))
    request = ask("and a bike space", messages=(Message("user", "book the 7:40"), Message("assistant", "done")))
    assert contents(await world.recalls.recall(OWNER, request), Section.WINDOW) == ["book the 7:40", "done"]


async def test_three_hundred_memories_are_ranked_in_little_time() -> None:
    """A guard against a quadratic step, with a wide margin: what it takes is in the bench."""
    world = World()
    await world.remember(
        *(memory(f"note {n}: 部署 go service {n % 7} on {n} 台机器", at=NOW - n * HOUR) for n in range(300))
    )
    started = time.perf_counter()
    await world.recalls.recall(OWNER, ask("go 部署 service 3"))
    assert time.perf_counter() - started < 1.0
