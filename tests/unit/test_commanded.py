"""Commands as laws: A10, H7–H9, H16, H17, design §11.3, FORMAT rules 6–11."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.book import Grant
from tables.candidate import Confirmation, Kind, Polarity, Sensitivity
from tables.change import Rule
from tables.command import Actor, ActorRole, Command, CommandKind, Result
from tables.commanded import Reason, apply, withdrawal
from tables.erasure import Reach, Selector
from tables.keys import Scope
from tables.memory import Freeze, Memory, Pin, Review, State, Status
from tables.policy import Policy
from tables.question import Question, QuestionKind, QuestionStatus
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

PARIS = frozen("paris")
ROME = candidate("rome", session="s2", at=later(0.5))
REVIEWER = Actor("rev", ActorRole.REVIEWER)
SERVICE = Actor("crm", ActorRole.SERVICE)


def do(here: World, kind: CommandKind, *memories: Memory, policy: Policy = POLICY, **fields: Any) -> Step:
    """Apply one command about `memories` to `here`."""
    return apply(command(kind, memory_ids=tuple(m.id for m in memories), **fields), here, policy, position(9))


def asked() -> World:
    """Paris is frozen, Rome was said, the question is open."""
    return last([ROME], world([PARIS])).world


def question(here: World) -> Question:
    (one,) = here.questions.values()
    return one


def answer(here: World, kind: CommandKind, **fields: Any) -> Step:
    return apply(command(kind, question_ids=(question(here).id,), **fields), here, POLICY, position(9))


def ended(step: Step) -> tuple[Result, str]:
    assert step.outcome is not None
    return step.outcome.result, step.outcome.reason


APPLIED = (Result.APPLIED, "")

# --- outcomes


def test_an_outcome_is_kept_in_the_book() -> None:
    step = do(world([memory()]), CommandKind.PIN, memory())
    assert step.world.book.outcomes == (step.outcome,)


def test_the_same_request_again_does_nothing_and_ends_the_same() -> None:
    first = do(world([memory()]), CommandKind.PIN, memory())
    again = do(first.world, CommandKind.UNPIN, memory())
    assert (again.outcome, again.world, again.verdict) == (first.outcome, first.world, Rule.REPEATED)


def test_outcomes_are_kept_a_day_of_event_time() -> None:
    first = do(world([memory()]), CommandKind.PIN, memory(), at=later(1))
    second = do(first.world, CommandKind.UNPIN, memory(), request_id="r2", at=later(2))
    assert [o.request_id for o in second.world.book.outcomes] == ["r2"]


@pytest.mark.parametrize(
    "kind",
    [
        CommandKind.PIN,
        CommandKind.UNPIN,
        CommandKind.CORRECT,
        CommandKind.FEEDBACK,
        CommandKind.CONFIRM,
        CommandKind.REJECT,
    ],
)
def test_naming_nothing_of_the_users_is_a_successful_no_op(kind: CommandKind) -> None:
    assert ended(do(world(), kind, memory())) == (Result.NOOP, Reason.NOT_FOUND)


def test_history_is_not_corrected() -> None:
    old = memory(status=Status.SUPERSEDED)
    assert ended(do(world([old]), CommandKind.CORRECT, old, text="x")) == (Result.NOOP, Reason.NOT_FOUND)


@pytest.mark.parametrize(
    "kind",
    [CommandKind.PIN, CommandKind.CORRECT, CommandKind.FEEDBACK, CommandKind.CONFIRM, CommandKind.REJECT],
)
def test_a_version_that_is_no_longer_current_is_a_conflict_with_the_current_one(kind: CommandKind) -> None:
    held = memory(version=4)
    outcome = do(world([held]), kind, held, expected_version=3, text="x").outcome
    assert outcome is not None
    assert (outcome.result, outcome.reason, outcome.version) == (Result.CONFLICT, Reason.VERSION, 4)


def test_the_current_version_is_none() -> None:
    held = memory(version=4)
    assert ended(do(world([held]), CommandKind.PIN, held, expected_version=4)) == APPLIED


@pytest.mark.parametrize(
    ("kind", "actor"),
    [
        (CommandKind.REVIEW, Actor("u1", ActorRole.USER)),
        (CommandKind.REVIEW, SERVICE),
        (CommandKind.SYSTEM_UPDATE, Actor("u1", ActorRole.USER)),
        (CommandKind.SYSTEM_UPDATE, REVIEWER),
    ],
)
def test_a_command_of_another_role_is_refused(kind: CommandKind, actor: Actor) -> None:
    assert ended(do(world([memory()]), kind, memory(), actor=actor, text="x")) == (Result.REFUSED, Reason.ROLE)


@pytest.mark.parametrize("kind", [CommandKind.TICK, CommandKind.RESET, CommandKind.CLOSE_TASK])
def test_tick_reset_and_close_task_leave_memories_alone(kind: CommandKind) -> None:
    step = do(world([memory()]), kind, task="kitchen")
    assert (ended(step), step.changes) == (APPLIED, ())


def test_a_command_of_another_user_is_a_bug() -> None:
    with pytest.raises(ValueError, match="another user"):
        apply(command(CommandKind.TICK, scope=Scope("t1", "u2")), world(), POLICY, position())


# --- confirm and reject


def test_yes_moves_the_old_value_to_history_and_commits_the_new_one() -> None:
    here = answer(asked(), CommandKind.CONFIRM).world
    old, new = here.memories[PARIS.id], here.memories[ROME.id]
    assert (old.status, old.superseded_by, new.status, new.state, new.supersedes) == (
        Status.SUPERSEDED,
        ROME.id,
        Status.ACTIVE,
        State.COMMITTED,
        PARIS.id,
    )


def test_what_was_confirmed_waits_to_freeze() -> None:
    row = answer(asked(), CommandKind.CONFIRM).world.memories[ROME.id]
    assert (row.freeze, row.confirmation) == (Freeze.PENDING, Confirmation.COMMANDED)


def test_the_statement_that_raised_the_question_is_the_first_session() -> None:
    here = answer(asked(), CommandKind.CONFIRM).world
    again = last([candidate("rome", session="s7", at=later(7))], here)
    assert again.verdict is Rule.FROZEN


def test_the_same_session_is_no_second_one() -> None:
    here = answer(asked(), CommandKind.CONFIRM).world
    again = last([candidate("rome", session="s2", at=later(7))], here)
    assert again.verdict is Rule.DUPLICATE


def test_what_was_said_before_the_answer_does_not_replace_it() -> None:
    here = answer(asked(), CommandKind.CONFIRM).world  # answered on day 1
    assert last([candidate("oslo", at=later(0.7))], here).verdict is Rule.HISTORY


def test_an_answered_question_is_answered() -> None:
    assert question(answer(asked(), CommandKind.CONFIRM).world).status is QuestionStatus.CONFIRMED


def test_answering_again_is_a_no_op() -> None:
    here = answer(asked(), CommandKind.CONFIRM).world
    assert ended(answer(here, CommandKind.REJECT, request_id="r2")) == (Result.NOOP, Reason.NOT_FOUND)


def test_no_changes_no_memory() -> None:
    step = answer(asked(), CommandKind.REJECT)
    assert (step.changes, active(step.world)) == ((), ["paris"])


def test_after_no_the_same_is_not_asked_again_at_once() -> None:
    here = answer(asked(), CommandKind.REJECT).world
    assert last([candidate("rome", session="s5", at=later(3))], here).verdict is Rule.REJECTED_BEFORE


def test_another_contradiction_of_what_is_history_by_now_is_withdrawn() -> None:
    here = last([ROME, candidate("oslo", session="s3", at=later(0.6))], world([PARIS])).world
    yes = next(q for q in here.questions.values() if q.proposed.value == "oslo")
    after = apply(command(CommandKind.CONFIRM, question_ids=(yes.id,)), here, POLICY, position(9)).world
    assert sorted(q.status for q in after.questions.values()) == [QuestionStatus.CONFIRMED, QuestionStatus.WITHDRAWN]


def test_confirming_a_draft_commits_it() -> None:
    draft = memory(state=State.DRAFT, confidence=0.4)
    row = only(do(world([draft]), CommandKind.CONFIRM, draft))
    assert (row.state, row.confirmation) == (State.COMMITTED, Confirmation.COMMANDED)


def test_a_confirmed_draft_replaces_what_cannot_stand_beside_it() -> None:
    draft = memory("rome", state=State.DRAFT)
    here = do(world([PARIS, draft]), CommandKind.CONFIRM, draft).world
    assert active(here) == ["rome"]


def test_rejecting_a_draft_takes_it_out_of_the_way() -> None:
    draft = memory(state=State.DRAFT)
    assert only(do(world([draft]), CommandKind.REJECT, draft)).status is Status.SUPERSEDED


def test_rejecting_a_committed_memory_by_id_changes_nothing() -> None:
    assert ended(do(world([memory()]), CommandKind.REJECT, memory())) == (Result.NOOP, Reason.NOT_FOUND)


def test_confirming_a_committed_memory_marks_it_confirmed() -> None:
    assert only(do(world([memory()]), CommandKind.CONFIRM, memory())).confirmation is Confirmation.COMMANDED


def test_what_does_not_fit_is_not_confirmed() -> None:
    here = asked()
    step = apply(
        command(CommandKind.CONFIRM, question_ids=tuple(here.questions)), here, Policy(item_tokens=1), position()
    )
    assert (ended(step), step.changes, question(step.world).status) == (
        (Result.REFUSED, Reason.TOO_LONG),
        (),
        QuestionStatus.OPEN,
    )


# --- correct


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


# --- feedback, system update


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


# --- pin, review


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


# --- consent


def consent(here: World, allow: bool, kind: str = "", **fields: Any) -> Step:
    return do(here, CommandKind.CONSENT, allow=allow, of_kind=kind, **fields)


def test_withdrawn_consent_is_kept() -> None:
    assert consent(world(), False, "health").world.book.consent == {"health": False}


def test_a_consent_command_is_kept_with_its_time() -> None:
    assert consent(world(), False).world.book.grants == (Grant("", allow=False, at=later(1)),)


def test_a_late_consent_command_does_not_undo_a_newer_one() -> None:
    here = consent(world(), False, at=later(5)).world
    assert consent(here, True, at=later(2), request_id="r2").world.book.consent == {"": False}


def test_a_word_about_everything_ends_what_was_allowed_by_name() -> None:
    here = consent(world(), True, "health").world
    assert consent(here, False, request_id="r2", at=later(2)).world.book.consent == {"": False}


def test_what_was_refused_by_name_stays_refused() -> None:
    here = consent(world(), False, "health").world
    assert consent(here, True, request_id="r2", at=later(2)).world.book.consent == {"": True, "health": False}


def test_one_kind_may_be_allowed_while_the_rest_is_not() -> None:
    here = consent(consent(world(), False).world, True, "identity", request_id="r2", at=later(2)).world
    assert last([candidate("paris", at=later(3))], here).verdict is Rule.NEW


def test_an_unknown_kind_is_refused() -> None:
    assert ended(consent(world(), False, "hats")) == (Result.REFUSED, Reason.UNKNOWN_KIND)


@pytest.mark.parametrize(
    ("kind", "selector"), [("", Selector(Reach.USER)), ("health", Selector(Reach.KIND, ("health",)))]
)
def test_what_a_withdrawn_consent_covered_is_for_erasure(kind: str, selector: Selector) -> None:
    assert withdrawal(command(CommandKind.CONSENT, allow=False, of_kind=kind)) == selector


@pytest.mark.parametrize(
    "harmless",
    [
        command(CommandKind.CONSENT, allow=True),
        command(CommandKind.CONSENT, allow=False, of_kind="hats"),
        command(CommandKind.PIN),
    ],
)
def test_nothing_else_erases(harmless: Command) -> None:
    assert withdrawal(harmless) is None


def test_a_refused_command_leaves_only_its_outcome() -> None:
    here = world([memory()])
    step = do(here, CommandKind.REVIEW, memory())
    assert step.world.book == replace(here.book, outcomes=(step.outcome,) if step.outcome else ())
