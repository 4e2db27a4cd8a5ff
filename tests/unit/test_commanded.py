"""Commands as laws: A10, H7–H9, H16, H17, design §11.3, FORMAT rules 6–11."""

from __future__ import annotations

import pytest

from tables.candidate import Confirmation
from tables.change import Rule
from tables.command import Actor, ActorRole, CommandKind, Result
from tables.commanded import Reason, apply
from tables.keys import Scope
from tables.memory import Freeze, State, Status
from tables.policy import Policy
from tables.question import QuestionStatus
from tests.unit.builders import (
    POLICY,
    active,
    candidate,
    command,
    last,
    later,
    memory,
    only,
    position,
    world,
)
from tests.unit.commanding import APPLIED, PARIS, REVIEWER, ROME, SERVICE, answer, asked, do, ended, question


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
