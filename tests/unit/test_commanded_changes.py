"""Corrections, feedback, records, pins, reviews and consent: A10, H7, H8, H16, H17, FORMAT rules 7–11."""

from __future__ import annotations

from typing import Any

import pytest

from tables.candidate import Confirmation, Kind, Polarity, Sensitivity
from tables.change import Rule
from tables.command import CommandKind, Result
from tables.commanded import Reason, apply
from tables.memory import Freeze, Memory, Pin, Review, State, Status
from tables.policy import Policy
from tables.question import QuestionKind, QuestionStatus
from tables.world import Step, World
from tests.unit.builders import (
    POLICY,
    T0,
    active,
    candidate,
    command,
    frozen,
    last,
    later,
    memory,
    only,
    position,
    rows,
    world,
)
from tests.unit.commanding import PARIS, REVIEWER, SERVICE, answer, asked, do, ended, question


def corrected(held: Memory, text: str = "I live in Rome", **fields: Any) -> Step:
    return do(world([held]), CommandKind.CORRECT, held, text=text, **fields)


def newcomer(step: Step) -> Memory:
    return next(m for m in step.memories.values() if m.status is Status.ACTIVE)


def test_a_correction_is_a_new_memory_that_supersedes() -> None:
    held = memory()
    step = corrected(held)
    new, old = newcomer(step), step.memories[held.id]
    assert (new.content, new.confirmation, new.supersedes, old.superseded_by) == (
        "I live in Rome",
        Confirmation.COMMANDED,
        held.id,
        new.id,
    )


def test_the_correction_of_a_frozen_memory_stays_frozen() -> None:
    assert newcomer(corrected(frozen())).state is State.FROZEN


def test_the_correction_of_a_committed_memory_is_committed() -> None:
    assert newcomer(corrected(memory())).state is State.COMMITTED


def test_a_correction_that_outgrows_the_protected_share_waits_to_freeze() -> None:
    held = frozen(tokens=10)
    cmd = command(CommandKind.CORRECT, memory_ids=(held.id,), text="word " * 25)
    new = newcomer(apply(cmd, world([held]), Policy(total_weight=30), position()))
    assert (new.state, new.freeze) == (State.COMMITTED, Freeze.PENDING)


def test_a_correction_voids_the_review() -> None:
    assert newcomer(corrected(frozen(review=Review("rev", T0, "paris")))).review is None


def test_a_correction_keeps_the_pin() -> None:
    assert newcomer(corrected(memory(pin=Pin.CORE))).pin is Pin.CORE


def test_a_correction_is_no_session() -> None:
    here = corrected(memory()).world
    again = last([candidate("i live in rome", session="s9", at=later(9))], here)
    assert again.verdict is Rule.DUPLICATE


def test_the_id_of_a_correction_follows_from_the_request() -> None:
    assert newcomer(corrected(memory())).id == newcomer(corrected(memory())).id


def test_what_was_said_before_the_correction_does_not_replace_it() -> None:
    here = corrected(memory()).world
    assert last([candidate("oslo", at=later(0.9))], here).verdict is Rule.HISTORY


def test_the_reading_of_a_correction_gives_value_and_polarity() -> None:
    held = memory()
    reading = candidate("rome", polarity=Polarity.NEGATIVE, expires_at=later(40))
    cmd = command(CommandKind.CORRECT, memory_ids=(held.id,), text="not in Rome any more")
    new = newcomer(apply(cmd, world([held]), POLICY, position(), reading))
    assert (new.value, new.polarity, new.expires_at, new.content) == (
        "rome",
        Polarity.NEGATIVE,
        later(40),
        "not in Rome any more",
    )


def test_a_correction_to_what_is_held_elsewhere_takes_that_one_over() -> None:
    tea, milk = memory("tea", slot="preference.likes"), memory("milk", slot="preference.likes")
    cmd = command(CommandKind.CORRECT, memory_ids=(tea.id,), text="I like milk")
    reading = candidate("milk", slot="preference.likes")
    step = apply(cmd, world([tea, milk]), POLICY, position(), reading)
    assert (active(step.world), len(newcomer(step).sources)) == (["milk"], 2)


def test_several_corrected_at_once_become_one() -> None:
    tea, milk = memory("tea", slot="preference.likes"), memory("milk", slot="preference.likes")
    step = do(world([tea, milk]), CommandKind.CORRECT, tea, milk, text="I like water")
    assert active(step.world) == ["i like water"]


def test_correcting_to_the_same_words_is_a_no_op() -> None:
    held = memory()
    assert ended(corrected(held, held.content)) == (Result.NOOP, Reason.ALREADY)


def test_a_correction_over_the_cap_is_refused() -> None:
    assert ended(corrected(memory(), "word " * 200)) == (Result.REFUSED, Reason.TOO_LONG)


def test_a_correction_may_not_bring_in_what_is_refused() -> None:
    held = memory()
    cmd = command(CommandKind.CORRECT, memory_ids=(held.id,), text="my card is 4111")
    reading = candidate("4111", sensitivity=Sensitivity.CREDENTIAL)
    step = apply(cmd, world([held]), POLICY, position(), reading)
    assert (ended(step), step.changes) == ((Result.REFUSED, Reason.SENSITIVE), ())


def test_a_correction_withdraws_the_open_questions() -> None:
    here = do(asked(), CommandKind.CORRECT, PARIS, text="I live in Oslo").world
    assert question(here).status is QuestionStatus.WITHDRAWN


def test_feedback_with_a_text_corrects() -> None:
    assert (
        newcomer(do(world([memory()]), CommandKind.FEEDBACK, memory(), text="I live in Rome")).value == "i live in rome"
    )


def test_feedback_without_a_text_asks() -> None:
    step = do(world([memory()]), CommandKind.FEEDBACK, memory())
    assert ([q.kind for q in step.questions], step.changes) == ([QuestionKind.SUSPECTED], ())


def test_yes_to_a_doubt_takes_the_memory_out_of_the_way() -> None:
    here = do(world([memory()]), CommandKind.FEEDBACK, memory()).world
    step = answer(here, CommandKind.CONFIRM, request_id="r2")
    assert (only(step).status, only(step).superseded_by) == (Status.SUPERSEDED, "")


def test_no_to_a_doubt_keeps_it() -> None:
    here = do(world([memory()]), CommandKind.FEEDBACK, memory()).world
    assert active(answer(here, CommandKind.REJECT, request_id="r2").world) == ["paris"]


def test_the_same_doubt_is_asked_once() -> None:
    here = do(world([memory()]), CommandKind.FEEDBACK, memory()).world
    assert ended(do(here, CommandKind.FEEDBACK, memory(), request_id="r2")) == (Result.NOOP, Reason.ALREADY)


def update(held: Memory, **fields: Any) -> Step:
    return do(
        world([held]), CommandKind.SYSTEM_UPDATE, held, actor=SERVICE, record="o1", text="moved to Rome", **fields
    )


def test_a_business_record_replaces_what_is_free_to_change() -> None:
    new = newcomer(update(memory()))
    assert (new.content, new.confirmation, new.sources[0].turn_id) == (
        "moved to Rome",
        Confirmation.IMPORTED,
        "record:o1",
    )


def test_a_business_record_asks_about_what_is_frozen() -> None:
    step = update(frozen())
    assert (step.changes, [q.proposed.content for q in step.questions]) == ((), ["moved to Rome"])


def test_a_business_record_asks_about_what_is_protected_and_stated() -> None:
    assert len(update(memory(slot="identity.name")).questions) == 1


def test_a_business_record_never_creates() -> None:
    step = do(world(), CommandKind.SYSTEM_UPDATE, memory(), actor=SERVICE, text="x", record="o1")
    assert (ended(step), step.memories) == ((Result.NOOP, Reason.NOT_FOUND), {})


@pytest.mark.parametrize(("said", "pin"), [("intern", Pin.INTERN), ("core", Pin.CORE), ("", Pin.CORE)])
def test_pinning_pins(said: str, pin: Pin) -> None:
    assert only(do(world([memory()]), CommandKind.PIN, memory(), pin=said)).pin is pin


def test_pinning_what_is_pinned_is_a_no_op() -> None:
    held = memory(pin=Pin.CORE)
    assert ended(do(world([held]), CommandKind.PIN, held, pin="core")) == (Result.NOOP, Reason.ALREADY)


def test_unpinning_unpins() -> None:
    held = memory(pin=Pin.CORE)
    assert only(do(world([held]), CommandKind.UNPIN, held)).pin is Pin.NONE


def test_pinning_beyond_the_protected_share_is_refused_whole() -> None:
    tea, milk = memory("tea", slot="preference.likes"), memory("milk", slot="preference.likes")
    step = do(world([tea, milk]), CommandKind.PIN, tea, milk, policy=Policy(items=2))  # 2 > 0.8 · 2
    assert (ended(step), step.changes) == ((Result.REFUSED, Reason.SHARE_FULL), ())


def allergy(*sessions: str) -> World:
    said = [
        candidate("mango", kind=Kind.HEALTH, slot="health.allergy", session=s, at=later(n / 10))
        for n, s in enumerate(sessions)
    ]
    return last(said).world


def review(here: World, **fields: Any) -> Step:
    return do(here, CommandKind.REVIEW, *rows(here), actor=REVIEWER, **fields)


def test_a_review_after_the_second_session_freezes() -> None:
    assert only(review(allergy("s1", "s2"))).state is State.FROZEN


def test_a_review_before_the_second_session_freezes_then() -> None:
    here = review(allergy("s1")).world
    again = candidate("mango", kind=Kind.HEALTH, slot="health.allergy", session="s2", at=later(3))
    assert [m.state for m in rows(here)] == [State.COMMITTED]
    assert only(last([again], here)).state is State.FROZEN


def test_a_review_names_who_when_and_which_value() -> None:
    assert only(review(allergy("s1"))).review == Review("rev", later(1), "mango")


def test_reviewing_twice_is_a_no_op() -> None:
    here = review(allergy("s1")).world
    assert ended(review(here, request_id="r2")) == (Result.NOOP, Reason.ALREADY)


def test_a_review_does_not_freeze_what_never_freezes() -> None:
    held = memory(kind=Kind.FACT, slot="fact.note")
    assert only(do(world([held]), CommandKind.REVIEW, held, actor=REVIEWER)).state is State.COMMITTED
