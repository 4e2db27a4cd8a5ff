"""What an erasure selects, what each memory becomes, what never comes back, and what falls due. A11, H4, design §11."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.book import Pending
from tables.candidate import Confirmation, Kind, Sensitivity
from tables.change import Op, Rule
from tables.command import Result
from tables.erase import aliases_of, chain, erase, select
from tables.erasure import Erasure, Reach, Selector
from tables.memory import Freeze, State, Status
from tables.outbox import recorded
from tables.world import Step, World
from tests.unit.builders import (
    POLICY,
    active,
    candidate,
    erasure,
    frozen,
    last,
    later,
    memory,
    only,
    position,
    rows,
    world,
)

PARIS = candidate("paris")
ROME = candidate("rome", session="s2", at=later(1))
TEA = candidate("tea", slot="preference.likes", kind=Kind.PREFERENCE, session="s3", at=later(2))
MOVED = last([PARIS, ROME, TEA]).world


def run(request: Erasure, here: World = MOVED) -> Step:
    return erase(request, here, POLICY, position(99))


def test_a_memory_goes_with_its_whole_chain() -> None:
    assert active(run(erasure(Reach.MEMORY, ROME.id)).world) == ["tea"]
    assert PARIS.id not in run(erasure(Reach.MEMORY, ROME.id)).world.book.entries


def test_the_chain_is_followed_both_ways() -> None:
    here = {m.id: m for m in rows(last([PARIS, ROME, replace(PARIS, id="p2", turn="t9", at=later(2))]).world)}
    assert chain([ROME.id], here) == {PARIS.id, ROME.id, "p2"}


LATE = last([ROME, PARIS]).world  # Paris comes last and was over by then


@pytest.mark.parametrize("named", [PARIS.id, ROME.id])
def test_what_came_late_goes_with_the_chain_and_the_chain_with_it(named: str) -> None:
    assert rows(run(erasure(Reach.MEMORY, named), LATE).world) == []


def test_an_id_that_is_not_there_selects_nothing() -> None:
    assert select(Selector(Reach.MEMORY, ("nobody",)), MOVED).erased == frozenset()


def test_a_session_takes_what_was_said_in_it() -> None:
    assert active(run(erasure(Reach.SESSION, "s3")).world) == ["rome"]


def test_a_source_takes_what_rests_on_it() -> None:
    assert active(run(erasure(Reach.SOURCE, TEA.turn_id)).world) == ["rome"]


def test_a_turn_without_an_id_is_named_by_its_key() -> None:
    assert active(run(erasure(Reach.SOURCE, TEA.turn)).world) == ["rome"]


def test_a_task_takes_what_belongs_to_it() -> None:
    inside = candidate("9000", kind=Kind.TASK, slot="task.budget", task="kitchen")
    here = last([PARIS, inside]).world
    assert active(run(erasure(Reach.TASK, "kitchen"), here).world) == ["paris"]


def test_what_belongs_to_the_user_stays_when_a_task_goes() -> None:
    here = last([candidate("paris", task="kitchen")]).world
    assert active(run(erasure(Reach.TASK, "kitchen"), here).world) == ["paris"]


def test_a_kind_takes_its_type() -> None:
    assert active(run(erasure(Reach.KIND, "preference")).world) == ["rome"]


def test_a_kind_takes_its_sensitivity_class() -> None:
    phone = candidate("555", slot="contact.phone", sensitivity=Sensitivity.CONTACT)
    assert active(run(erasure(Reach.KIND, "contact"), last([PARIS, phone]).world).world) == ["paris"]


@pytest.mark.parametrize("reach", [Reach.USER, Reach.TENANT])
def test_a_user_or_tenant_takes_everything(reach: Reach) -> None:
    assert rows(run(erasure(reach)).world) == []


def test_history_goes_too() -> None:
    assert run(erasure(Reach.SESSION, "s1")).world.memories[PARIS.id].status is Status.DELETED


def test_before_keeps_what_was_said_at_or_after_it() -> None:
    assert active(run(erasure(Reach.USER, before=later(2))).world) == ["tea"]


def test_the_turns_behind_what_goes_are_named() -> None:
    assert select(Selector(Reach.SESSION, ("s3",)), MOVED).turns == {TEA.turn}


def test_the_ids_under_which_it_would_come_back_are_named() -> None:
    again = candidate("tea", slot="preference.likes", kind=Kind.PREFERENCE, session="s8", at=later(8))
    here = last([again], MOVED).world
    assert select(Selector(Reach.MEMORY, (TEA.id,)), here).aliases == {TEA.id, again.id}


def test_a_memory_knows_the_ids_its_sources_would_give_it() -> None:
    assert aliases_of(MOVED.memories[TEA.id]) == {TEA.id}


def test_an_erased_row_holds_nothing_that_was_said() -> None:
    row = run(erasure(Reach.SESSION, "s3")).memories[TEA.id]
    said = (row.content, row.value, row.subject, row.slot, row.topic, row.span, row.sources, row.review, row.session)
    assert said == ("", "", "", "", "", (0, 0), (), None, "")


def test_an_erased_row_keeps_id_status_and_times() -> None:
    before, row = MOVED.memories[TEA.id], run(erasure(Reach.SESSION, "s3")).memories[TEA.id]
    assert (row.id, row.scope, row.kind, row.status, row.created_at, row.version) == (
        before.id,
        before.scope,
        before.kind,
        Status.DELETED,
        before.created_at,
        before.version + 1,
    )


def test_the_event_of_an_erasure_tells_no_content() -> None:
    (change,) = run(erasure(Reach.SESSION, "s3")).changes
    assert (change.op, change.rule, change.after, change.memory.id, change.memory.content, change.memory.value) == (
        Op.DELETE,
        Rule.ERASED,
        None,
        TEA.id,
        "",
        "",
    )


def said_twice() -> World:
    return last([PARIS, candidate("paris", session="s2", at=later(1))]).world


def test_what_was_also_said_elsewhere_stays_with_the_rest() -> None:
    row = only(run(erasure(Reach.SESSION, "s1"), said_twice()))
    assert (row.status, [s.session for s in row.sources], round(row.confidence, 6)) == (Status.ACTIVE, ["s2"], 0.9)


def test_what_stays_is_its_next_version_with_an_event() -> None:
    step = run(erasure(Reach.SESSION, "s1"), said_twice())
    (change,) = step.changes
    assert (change.op, change.before and change.before.version, change.after and change.after.version) == (
        Op.UPDATE,
        2,
        3,
    )


def test_what_stays_speaks_of_the_erased_session_no_more() -> None:
    row = only(run(erasure(Reach.SESSION, "s1"), said_twice()))
    assert (row.session, row.span, row.created_at) == ("s2", (0, 0), later(1))


def test_what_stays_was_last_mentioned_by_what_is_left() -> None:
    assert only(run(erasure(Reach.SESSION, "s2"), said_twice())).last_mentioned_at == PARIS.at


def test_what_froze_by_two_sessions_waits_again_when_one_is_gone() -> None:
    row = only(run(erasure(Reach.SESSION, "s2"), said_twice()))
    assert (row.state, row.freeze) == (State.COMMITTED, Freeze.PENDING)


def test_what_is_still_said_in_two_sessions_stays_frozen() -> None:
    here = last([candidate("paris", session="s3", at=later(2))], said_twice()).world
    assert only(run(erasure(Reach.SESSION, "s2"), here)).state is State.FROZEN


def test_what_was_committed_by_repetition_is_a_draft_again() -> None:
    hedged: dict[str, Any] = {"confidence": 0.4, "explicit": False}
    here = last([candidate("paris", **hedged), candidate("paris", session="s2", at=later(1), **hedged)]).world
    assert only(run(erasure(Reach.SESSION, "s2"), here)).state is State.DRAFT


def test_what_was_confirmed_by_command_stays_committed() -> None:
    held = replace(memory(), confirmation=Confirmation.COMMANDED, confidence=0.4)
    sources = (replace(held.sources[0], confidence=0.4), replace(held.sources[0], session="s2", turn="t2"))
    row = only(run(erasure(Reach.SESSION, "s2"), world([replace(held, sources=sources)])))
    assert row.state is State.COMMITTED


def test_the_same_request_again_changes_nothing() -> None:
    first = run(erasure(Reach.SESSION, "s3"))
    again = run(erasure(Reach.SESSION, "s3"), first.world)
    assert (again.verdict, again.changes, again.world) == (Rule.REPEATED, (), first.world)


def test_the_outcome_names_what_was_reached() -> None:
    outcome = run(erasure(Reach.SESSION, "s3")).outcome
    assert outcome is not None
    assert (outcome.result, outcome.memory_ids) == (Result.APPLIED, (TEA.id,))


def test_nothing_to_erase_is_a_successful_no_op() -> None:
    outcome = run(erasure(Reach.SESSION, "s99")).outcome
    assert outcome is not None
    assert outcome.result is Result.NOOP


def test_a_deleted_memory_does_not_come_back_with_its_own_statement() -> None:
    assert last([TEA], run(erasure(Reach.SESSION, "s3")).world).verdict is Rule.REPEATED


def test_a_new_statement_after_the_erasure_is_welcome() -> None:
    here = run(erasure(Reach.USER)).world
    assert active(last([candidate("paris", at=later(20))], here).world) == ["paris"]


def disputed() -> World:
    return last([ROME], world([frozen("paris")])).world


@pytest.mark.parametrize(
    "request_",
    [
        erasure(Reach.MEMORY, PARIS.id),
        erasure(Reach.SESSION, "s1"),
        erasure(Reach.SESSION, "s2"),
        erasure(Reach.SOURCE, ROME.turn),
        erasure(Reach.KIND, "identity"),
        erasure(Reach.USER),
    ],
)
def test_a_question_goes_with_either_side(request_: Erasure) -> None:
    step = run(request_, disputed())
    assert (step.world.questions, set(step.dropped)) == ({}, set(disputed().questions))


def test_a_question_raised_at_or_after_the_bound_stays() -> None:
    kept = run(erasure(Reach.SESSION, "s2", before=ROME.at), disputed()).world.questions
    assert len(kept) == 1


def test_a_question_about_something_else_stays() -> None:
    assert len(run(erasure(Reach.SESSION, "s9"), disputed()).world.questions) == 1


def test_a_refusal_goes_with_its_question() -> None:
    here = disputed()
    here = replace(here, book=replace(here.book, rejected=(*here.questions, "other")))
    assert run(erasure(Reach.MEMORY, PARIS.id), here).world.book.rejected == ("other",)


def test_every_refusal_goes_with_the_user() -> None:
    here = disputed()
    here = replace(here, book=replace(here.book, rejected=(*here.questions, "other")))
    assert run(erasure(Reach.USER), here).world.book.rejected == ()


def test_the_outbox_keeps_no_word_of_what_is_erased() -> None:
    step = last([PARIS, ROME])
    here = replace(step.world, book=recorded(step.world.book, 5, step))
    after = run(erasure(Reach.USER), here).world.book
    told = [(side.content, side.value) for c in after.outbox[0].changes for side in (c.before, c.after) if side]
    assert told == [("", "")] * 3


def test_the_outbox_keeps_the_ids_of_its_events() -> None:
    step = last([PARIS, ROME])
    here = replace(step.world, book=recorded(step.world.book, 5, step))
    after = run(erasure(Reach.USER), here).world.book
    assert [c.id for c in after.outbox[0].changes] == [c.id for c in step.changes]


def test_the_outbox_keeps_no_question_of_what_is_erased() -> None:
    step = last([ROME], world([frozen("paris")]))
    here = replace(step.world, book=recorded(step.world.book, 5, step))
    assert run(erasure(Reach.USER), here).world.book.outbox == (Pending(5),)
