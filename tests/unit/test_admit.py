"""The verdict over one candidate: H1, H3, H5, H7–H9, H17, A5, A10, design §11.6, FORMAT rules 7–10 and 16."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.admit import admit
from tables.book import Book, Grant
from tables.candidate import Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.change import Op, Rule
from tables.erasure import Fence, Reach, Selector
from tables.keys import Scope
from tables.memory import Freeze, Pin, State, Status
from tables.policy import DAY_MS, Policy, Sensitive
from tables.question import QuestionKind, QuestionStatus
from tables.world import World
from tests.unit.builders import (
    POLICY,
    SCOPE,
    T0,
    active,
    candidate,
    frozen,
    last,
    later,
    memory,
    only,
    position,
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


# --- new, duplicate, repeated


def test_a_new_fact_is_committed() -> None:
    row = only(last([PARIS]))
    assert (row.id, row.status, row.state, row.version) == (PARIS.id, Status.ACTIVE, State.COMMITTED, 1)


def test_a_new_fact_is_one_create_event() -> None:
    (change,) = last([PARIS]).changes
    assert (change.op, change.rule, change.before, change.after) == (Op.CREATE, Rule.NEW, None, only(last([PARIS])))


def test_the_same_candidate_again_leaves_the_very_same_world() -> None:
    first, again = take([PARIS, PARIS])
    assert (again.verdict, again.world) == (Rule.REPEATED, first.world)


def test_the_same_conclusion_from_another_turn_is_one_memory() -> None:
    assert len(rows(last([PARIS, PARIS_AGAIN]).world)) == 1


def test_a_touch_adds_the_source_and_rejoins_the_confidence() -> None:
    row = only(last([PARIS, PARIS_AGAIN]))
    assert ([s.session for s in row.sources], round(row.confidence, 6)) == (["s1", "s3"], 0.99)  # 1 − 0.1 · 0.1


def test_a_touch_is_one_version_and_one_update_event() -> None:
    step = last([PARIS, candidate("paris", turn_id="again", at=later(2))])
    assert ([(c.op, c.rule) for c in step.changes], only(step).version) == ([(Op.UPDATE, Rule.DUPLICATE)], 2)


def test_a_touch_refreshes_the_last_mention() -> None:
    assert only(last([PARIS, PARIS_AGAIN])).last_mentioned_at == later(2)


def test_a_late_touch_does_not_age_the_last_mention() -> None:
    late = candidate("paris", session="s0", at=later(-5))
    assert only(last([PARIS, late])).last_mentioned_at == T0


def test_a_touch_keeps_the_words_of_the_first_statement() -> None:
    again = replace(PARIS_AGAIN, content="did I say that I live in Paris")
    assert only(last([PARIS, again])).content == PARIS.content


def test_a_touch_by_the_same_turn_is_a_repeat() -> None:
    assert last([PARIS, PARIS_AGAIN, replace(PARIS_AGAIN, id="other id")]).verdict is Rule.REPEATED


def test_a_touch_that_says_another_end_moves_the_end() -> None:
    first = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    again = replace(first, id="x", turn="t9", at=later(1), expires_at=later(7))
    assert only(last([first, again])).expires_at == later(7)


def test_a_touch_without_an_end_keeps_the_end() -> None:
    first = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    assert only(last([first, replace(first, id="x", turn="t9", at=later(1), expires_at=0)])).expires_at == later(5)


def test_two_sessions_of_the_same_words_ten_times_are_one_memory() -> None:
    said = [candidate("paris", session=f"s{n}", at=later(n)) for n in range(10)]
    assert len(rows(last(said).world)) == 1


# --- superseding, history


def test_a_newer_value_supersedes() -> None:
    assert active(last([PARIS, ROME]).world) == ["rome"]


def test_superseding_links_the_chain_both_ways() -> None:
    here = last([PARIS, ROME]).world
    old, new = here.memories[PARIS.id], here.memories[ROME.id]
    assert (old.status, old.superseded_by, new.supersedes) == (Status.SUPERSEDED, new.id, old.id)


def test_superseding_tells_the_old_first_then_the_new() -> None:
    changes = last([PARIS, ROME]).changes
    assert [(c.op, c.rule, c.memory.value) for c in changes] == [
        (Op.UPDATE, Rule.SUPERSEDED, "paris"),
        (Op.CREATE, Rule.REPLACES, "rome"),
    ]


def test_the_opposite_supersedes() -> None:
    step = last([candidate("tea", slot=LIKES), candidate("tea", slot=LIKES, polarity=NO, at=later(1))])
    assert [m.polarity for m in rows(step.world) if m.status is Status.ACTIVE] == [NO]


def test_unrelated_facts_do_not_retire_each_other() -> None:
    assert active(last([PARIS, candidate("nurse", slot="identity.occupation")]).world) == ["nurse", "paris"]


def test_values_of_a_slot_of_many_accumulate() -> None:
    assert active(last([candidate("tea", slot=LIKES), candidate("milk", slot=LIKES)]).world) == ["milk", "tea"]


def test_american_not_british_keeps_american() -> None:
    slot = "preference.answer_language"
    said = [
        candidate("british english", slot=slot),
        candidate("american english", slot=slot, at=later(1), turn_id="t2", span=(0, 9)),
        candidate("british english", slot=slot, at=later(1), turn_id="t2", span=(10, 20), polarity=NO),
    ]
    affirmed = [m.value for m in rows(last(said).world) if m.recallable and m.polarity is not NO]
    assert affirmed == ["american english"]


def test_what_is_true_twice_in_time_is_stored_twice() -> None:
    step = last([PARIS, ROME, PARIS_AGAIN])
    intervals = [(m.value, m.status) for m in rows(step.world)]
    assert intervals == [
        ("paris", Status.SUPERSEDED),
        ("rome", Status.SUPERSEDED),
        ("paris", Status.ACTIVE),
    ]


def test_an_older_value_that_comes_late_enters_history() -> None:
    step = last([ROME, PARIS])
    assert (step.verdict, active(step.world), only(step).status) == (Rule.HISTORY, ["rome"], Status.SUPERSEDED)


def test_what_came_late_points_to_what_replaced_it() -> None:
    assert only(last([ROME, PARIS])).superseded_by == ROME.id


def test_a_value_older_than_the_last_mention_enters_history() -> None:
    """Paris on day 0 and again on day 2: Rome of day 1, coming last, is over by then."""
    assert last([PARIS, PARIS_AGAIN, ROME]).verdict is Rule.HISTORY


def test_a_repeat_of_what_is_history_changes_nothing() -> None:
    assert last([PARIS, ROME, PARIS]).changes == ()


def test_a_touch_of_what_is_history_by_now_changes_nothing_when_it_is_repeated() -> None:
    touch = candidate("paris", turn_id="touch", at=later(0.5))
    assert last([PARIS, touch, ROME, touch]).verdict is Rule.REPEATED


def test_history_is_kept_to_the_limit_of_its_dimension() -> None:
    said = [candidate(f"city {n}", session=f"s{n}", at=later(n)) for n in range(6)]
    here = last(said, policy=Policy(versions_per_slot=3)).world
    assert [m.value for m in rows(here)] == ["city 2", "city 3", "city 4", "city 5"]


def test_history_beyond_the_limit_loses_its_content_with_an_event() -> None:
    said = [candidate(f"city {n}", session=f"s{n}", at=later(n)) for n in range(3)]
    step = last(said, policy=Policy(versions_per_slot=1))
    gone = step.changes[-1]
    assert (gone.op, gone.rule, step.memories[said[0].id].content) == (Op.DELETE, Rule.PURGED, "")


def test_history_older_than_the_limit_is_purged() -> None:
    said = [PARIS, ROME, candidate("oslo", session="s4", at=later(40))]
    assert [m.value for m in rows(last(said, policy=Policy(history_ms=30 * DAY_MS)).world)] == ["rome", "oslo"]


def test_a_pin_moves_on_to_the_successor() -> None:
    here = world([memory("paris", pin=Pin.CORE)])
    assert last([ROME], here).world.memories[ROME.id].pin is Pin.CORE


def test_what_has_ended_by_then_expires_and_the_same_words_begin_anew() -> None:
    trip = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    again = replace(trip, id="x", turn="t9", at=later(300), expires_at=later(305))
    step = last([trip, again])
    assert [(m.status, m.expires_at) for m in rows(step.world)] == [
        (Status.EXPIRED, later(5)),
        (Status.ACTIVE, later(305)),
    ]


# --- drafts


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


# --- freezing, questions


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


# --- consent, sensitivity, fences, scope


def test_without_any_grant_nothing_is_written() -> None:
    assert last([PARIS], policy=Policy(consent_default=False)).verdict is Rule.NO_CONSENT


@pytest.mark.parametrize("key", ["", "identity"])
def test_a_withdrawn_consent_refuses_what_it_covers(key: str) -> None:
    step = last([PARIS], world(consent={key: False}))
    assert (step.verdict, step.memories) == (Rule.NO_CONSENT, {})


def test_a_withdrawn_consent_for_a_class_refuses_that_class() -> None:
    phone = candidate("555", slot="contact.phone", sensitivity=Sensitivity.CONTACT)
    assert last([phone], world(consent={"contact": False})).verdict is Rule.NO_CONSENT


def test_a_withdrawn_consent_for_another_kind_is_without_effect() -> None:
    assert last([PARIS], world(consent={"health": False})).verdict is Rule.NEW


@pytest.mark.parametrize(("at", "verdict"), [(later(1), Rule.NO_CONSENT), (later(3), Rule.NEW)])
def test_a_late_turn_is_judged_by_the_consent_of_its_time(at: int, verdict: Rule) -> None:
    grants = (Grant("", allow=False, at=later(0)), Grant("", allow=True, at=later(2)))
    here = world(consent={"": True}, grants=grants)
    assert last([candidate("paris", at=at)], here).verdict is verdict


@pytest.mark.parametrize("sensitivity", [Sensitivity.IDENTITY_NUMBER, Sensitivity.CREDENTIAL])
def test_numbers_and_credentials_are_refused(sensitivity: Sensitivity) -> None:
    assert last([candidate("4111", sensitivity=sensitivity)]).verdict is Rule.SENSITIVE


@pytest.mark.parametrize(
    ("consent", "verdict"), [({}, Rule.NO_CONSENT), ({"health": True}, Rule.NEW), ({"": True}, Rule.NEW)]
)
def test_a_class_to_ask_for_needs_a_grant_by_word(consent: dict[str, bool], verdict: Rule) -> None:
    policy = Policy(sensitive={Sensitivity.HEALTH: Sensitive.ASK})
    said = mango(sensitivity=Sensitivity.HEALTH)
    assert last([said], world(consent=consent), policy).verdict is verdict


@pytest.mark.parametrize(
    "selector",
    [
        Selector(Reach.USER),
        Selector(Reach.SESSION, ("s1",)),
        Selector(Reach.SOURCE, (PARIS.turn_id,)),
        Selector(Reach.SOURCE, (PARIS.turn,)),
        Selector(Reach.KIND, ("identity",)),
        Selector(Reach.MEMORY, (PARIS.id,)),
    ],
)
def test_what_a_fence_covers_is_refused(selector: Selector) -> None:
    step = admit(PARIS, world(), POLICY, position(), [Fence(selector, T0, "e1")])
    assert (step.verdict, step.memories) == (Rule.FENCED, {})


def test_what_is_said_after_the_fence_is_welcome() -> None:
    fence = Fence(Selector(Reach.USER), T0 - 1, "e1")
    assert admit(PARIS, world(), POLICY, position(), [fence]).verdict is Rule.NEW


def test_a_candidate_of_another_user_is_a_bug() -> None:
    with pytest.raises(ValueError, match="another user"):
        admit(PARIS, World(Scope("t1", "u2"), Book()), POLICY, position())


# --- the step as a value


def test_the_world_before_stays_as_it_was() -> None:
    here = last([PARIS]).world
    before = (dict(here.book.entries), dict(here.memories))
    admit(ROME, here, POLICY, position(9))
    assert (dict(here.book.entries), dict(here.memories)) == before


def test_a_lazy_mapping_is_asked_only_for_what_matters() -> None:
    class Lazy(dict[str, object]):
        def __iter__(self):  # type: ignore[no-untyped-def]  # must never be called
            raise AssertionError("walked")

    here = last([PARIS, *(candidate(f"v{n}", slot=LIKES) for n in range(5))]).world
    lazy = World(SCOPE, here.book, Lazy(here.memories))  # type: ignore[arg-type]  # a dict of memories
    assert admit(ROME, lazy, POLICY, position(9)).world.memories[ROME.id].value == "rome"


def test_every_step_with_changes_raises_the_profile_version() -> None:
    assert [s.world.book.profile_version for s in take([PARIS, PARIS, ROME])] == [1, 1, 2]


def test_event_ids_are_the_same_when_the_same_record_is_decided_again() -> None:
    one, two = (admit(ROME, last([PARIS]).world, POLICY, position(7)) for _ in range(2))
    assert [c.id for c in one.changes] == [c.id for c in two.changes]


def test_event_ids_of_one_step_differ() -> None:
    ids = [c.id for c in last([PARIS, ROME]).changes]
    assert len(set(ids)) == len(ids)
