"""Drafts, freezing, questions, consent and fences on the way in: H7–H9, H17, A5, FORMAT rules 7–10 and 16."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Candidate, Confirmation, Kind, Polarity
from tables.change import Rule
from tables.memory import Freeze, State, Status
from tables.policy import Policy
from tables.question import QuestionKind, QuestionStatus
from tables.world import World
from tests.unit.builders import (
    active,
    candidate,
    frozen,
    last,
    later,
    only,
    rows,
    take,
    world,
)

NO = Polarity.NEGATIVE
LIKES = "preference.likes"
PARIS = candidate("paris")
ROME = candidate("rome", session="s2", at=later(1))
PARIS_AGAIN = candidate("paris", session="s3", at=later(2))


def mango(session: str = "s1", **fields: object) -> Candidate:
    return candidate("mango", kind=Kind.HEALTH, slot="health.allergy", session=session, **fields)


def guess(value: str, **fields: object) -> Candidate:
    return candidate(value, confidence=0.4, explicit=False, **fields)


@pytest.mark.parametrize("change", [{"confidence": 0.4}, {"confirmation": Confirmation.INFERRED}])
def test_unsure_or_inferred_is_a_draft(change: dict[str, object]) -> None:
    assert only(last([candidate("paris", **change)])).state is State.DRAFT


def test_a_second_session_commits_a_draft() -> None:
    assert only(last([guess("paris"), guess("paris", session="s2")])).state is State.COMMITTED


def test_a_second_guess_in_the_same_session_does_not() -> None:
    assert only(last([guess("paris"), guess("paris", turn_id="t2")])).state is State.DRAFT


def test_a_clear_statement_commits_a_draft_at_once() -> None:
    assert only(last([guess("paris"), candidate("paris", turn_id="t2")])).state is State.COMMITTED


def test_a_guess_does_not_replace_what_is_committed() -> None:
    assert active(last([PARIS, guess("rome", at=later(1))]).world) == ["paris"]


def test_a_guess_that_is_said_again_elsewhere_replaces() -> None:
    said = [PARIS, guess("rome", at=later(1), session="s2"), guess("rome", at=later(2), session="s3")]
    assert active(last(said).world) == ["rome"]


def test_a_guess_confirmed_late_does_not_replace_what_is_newer() -> None:
    said = [guess("rome", session="s2"), candidate("paris", at=later(9)), guess("rome", at=later(1), session="s3")]
    assert active(last(said).world) == ["paris"]


def test_a_guess_repeated_from_before_does_not_replace_what_is_newer() -> None:
    """Paris on day 9, a guess on day 10; that the guess was said on day 5 too is no news about day 9."""
    said = [candidate("paris", at=later(9)), guess("rome", at=later(10)), guess("rome", at=later(5), session="s2")]
    assert active(last(said).world) == ["paris"]


def test_a_draft_that_is_committed_points_to_what_it_replaced() -> None:
    said = [PARIS, guess("rome", at=later(1), session="s2"), guess("rome", at=later(2), session="s3")]
    here = last(said).world
    assert (here.memories[said[1].id].supersedes, here.memories[PARIS.id].superseded_by) == (PARIS.id, said[1].id)


def test_a_newer_guess_replaces_an_older_guess() -> None:
    here = last([guess("paris"), guess("rome", at=later(1))]).world
    assert [(m.value, m.status) for m in rows(here)] == [("paris", Status.SUPERSEDED), ("rome", Status.ACTIVE)]


def test_a_clear_statement_replaces_an_older_guess() -> None:
    here = last([guess("rome"), candidate("paris", at=later(1))]).world
    assert [m.value for m in rows(here) if m.status is Status.ACTIVE] == ["paris"]


def test_the_session_of_a_draft_counts_for_freezing() -> None:
    """FORMAT rule 16; 0.6 inferred and 0.9 stated: 1 − 0.4 · 0.1 = 0.96."""
    draft = candidate("paris", confidence=0.6, confirmation=Confirmation.INFERRED, explicit=False)
    assert only(last([draft, PARIS_AGAIN])).state is State.FROZEN


def test_a_second_session_freezes_an_identity() -> None:
    step = last([PARIS, PARIS_AGAIN])
    assert (step.verdict, step.changes[0].rule, only(step).state) == (Rule.FROZEN, Rule.FROZEN, State.FROZEN)


def test_one_statement_waits() -> None:
    assert only(last([PARIS])).freeze is Freeze.PENDING


def test_freezing_waits_when_the_protected_share_is_taken() -> None:
    step = last([PARIS, PARIS_AGAIN], policy=Policy(items=1))  # 1 > 0.8 · 1
    assert (only(step).state, only(step).freeze) == (State.COMMITTED, Freeze.PENDING)


def test_a_contradiction_of_a_frozen_memory_changes_nothing() -> None:
    step = last([PARIS, PARIS_AGAIN, candidate("oslo", session="s4", at=later(3))])
    assert (step.verdict, step.changes, active(step.world)) == (Rule.QUESTION, (), ["paris"])


def test_a_contradiction_of_a_frozen_memory_asks() -> None:
    held = frozen("paris")
    (question,) = last([ROME], world([held])).questions
    assert (question.kind, question.memory_id, question.held, question.proposed, question.status) == (
        QuestionKind.CONTRADICTION,
        held.id,
        held.content,
        ROME,
        QuestionStatus.OPEN,
    )


def test_a_guess_against_a_frozen_memory_asks_too() -> None:
    assert last([guess("rome", at=later(1))], world([frozen("paris")])).verdict is Rule.QUESTION


def test_a_frozen_preference_is_asked_about_as_a_preference_change() -> None:
    held = frozen("tea", slot=LIKES, kind=Kind.PREFERENCE)
    said = candidate("tea", slot=LIKES, kind=Kind.PREFERENCE, polarity=NO, at=later(1))
    assert [q.kind for q in last([said], world([held])).questions] == [QuestionKind.PREFERENCE_CHANGE]


def test_the_same_contradiction_is_not_asked_twice_while_it_is_open() -> None:
    here = world([frozen("paris")])
    assert last([ROME, candidate("rome", session="s8", at=later(8))], here).questions == ()


def test_the_statement_that_raised_a_question_is_a_repeat_when_it_comes_again() -> None:
    assert last([ROME, ROME], world([frozen("paris")])).verdict is Rule.REPEATED


def refused_once() -> World:
    asked = last([ROME], world([frozen("paris")])).world
    (question,) = asked.questions.values()
    no = replace(question, status=QuestionStatus.REJECTED, answered_at=later(2))
    return replace(asked, book=replace(asked.book, rejected=(question.id,)), questions={question.id: no})


def test_a_refused_contradiction_is_not_asked_again_at_once() -> None:
    step = last([candidate("rome", session="s8", at=later(8))], refused_once())
    assert (step.verdict, step.questions) == (Rule.REJECTED_BEFORE, ())


def test_a_refused_contradiction_may_be_asked_again_much_later() -> None:
    assert last([candidate("rome", session="s8", at=later(90))], refused_once()).verdict is Rule.QUESTION


def test_a_refused_statement_never_counts() -> None:
    assert last([ROME], refused_once()).verdict is Rule.REPEATED


def test_an_older_contradiction_of_a_frozen_memory_enters_history() -> None:
    step = last([candidate("rome", at=later(-1))], world([frozen("paris")]))
    assert (step.verdict, step.questions) == (Rule.HISTORY, ())


def test_an_explicitly_stated_allergy_is_write_protected_from_the_first_statement() -> None:
    step = last([mango(), mango("s2", polarity=NO, at=later(1))])
    assert (step.verdict, active(step.world)) == (Rule.QUESTION, ["mango"])


def test_a_name_corrected_in_one_breath_is_not_asked_about() -> None:
    """ "I'm Jon, sorry, John": the later clause of the same turn stands."""
    said = [candidate(v, slot="identity.name", turn_id="t1", span=(n, n + 4)) for n, v in enumerate(["jon", "john"])]
    assert active(last(said).world) == ["john"]


def test_a_city_stated_once_is_not() -> None:
    assert last([PARIS, ROME]).verdict is Rule.REPLACES


def test_a_frozen_commitment_that_has_ended_is_replaced_without_a_question() -> None:
    held = frozen("june 5", kind=Kind.COMMITMENT, slot="commitment.event.exam", expires_at=later(5))
    new = candidate("july 9", kind=Kind.COMMITMENT, slot="commitment.event.exam", at=later(6))
    assert active(last([new], world([held])).world) == ["july 9"]


def test_the_mango_scenario() -> None:
    """Twice in two sessions, not reviewed: awaits review; the contradiction asks, the allergy stays."""
    steps = take([mango(), mango("s2", at=later(4)), mango("s3", at=later(9), polarity=NO)])
    assert [s.verdict for s in steps] == [Rule.NEW, Rule.DUPLICATE, Rule.QUESTION]
    assert only(steps[1]).freeze is Freeze.AWAITING_REVIEW
