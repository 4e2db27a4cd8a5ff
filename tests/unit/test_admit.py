"""The verdict over one candidate: H1, H3, H5, H7–H9, H17, A5, A10, design §11.6, FORMAT rules 7–10 and 16."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Confirmation, Kind, Polarity
from tables.change import Op, Rule
from tables.memory import Pin, State, Status
from tables.policy import DAY_MS, Policy
from tests.unit.builders import (
    T0,
    active,
    candidate,
    last,
    later,
    memory,
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


def test_a_late_touch_does_not_move_the_end() -> None:
    first = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    late = replace(first, id="x", turn="t9", at=later(-1), expires_at=later(3))
    assert only(last([first, late])).expires_at == later(5)


def test_a_touch_keeps_the_greater_importance() -> None:
    said = [candidate("paris", importance=0.8), candidate("paris", session="s2", importance=0.3)]
    assert only(last(said)).importance == 0.8


def test_a_statement_makes_an_inferred_memory_a_stated_one() -> None:
    inferred = candidate("paris", confirmation=Confirmation.INFERRED)
    assert only(last([inferred, PARIS_AGAIN])).confirmation is Confirmation.STATED


def test_an_inference_does_not_weaken_a_statement() -> None:
    inferred = candidate("paris", session="s2", confirmation=Confirmation.INFERRED)
    assert only(last([PARIS, inferred])).confirmation is Confirmation.STATED


def test_a_touch_without_an_end_keeps_the_end() -> None:
    first = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    assert only(last([first, replace(first, id="x", turn="t9", at=later(1), expires_at=0)])).expires_at == later(5)


def test_two_sessions_of_the_same_words_ten_times_are_one_memory() -> None:
    said = [candidate("paris", session=f"s{n}", at=later(n)) for n in range(10)]
    assert len(rows(last(said).world)) == 1


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


@pytest.mark.parametrize("policy", [Policy(history_ms=DAY_MS), Policy(versions_per_slot=1)])
def test_what_comes_too_late_for_history_is_not_kept(policy: Policy) -> None:
    """Oslo of day −1, after Paris of day 0 and Rome of day 1: over for two days, and one version too many."""
    step = last([PARIS, ROME, candidate("oslo", at=later(-1))], policy=policy)
    assert (step.verdict, step.changes) == (Rule.HISTORY, ())


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


def test_a_pin_that_no_longer_fits_the_share_stays_behind() -> None:
    here = world([memory("paris", pin=Pin.CORE, tokens=10)])
    longer = replace(ROME, content="word " * 25)
    assert last([longer], here, Policy(total_weight=30)).world.memories[ROME.id].pin is Pin.NONE


def test_a_new_value_is_taken_even_if_it_scores_lowest() -> None:
    facts = [memory(f"v{n}", kind=Kind.FACT, slot=f"fact.about.{n}", importance=1.0) for n in range(2)]
    here = world([*facts, memory("paris", importance=1.0)])
    assert "rome" in active(last([replace(ROME, importance=0.0)], here, Policy(items=3)).world)


def test_what_has_ended_by_then_expires_and_the_same_words_begin_anew() -> None:
    trip = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))
    again = replace(trip, id="x", turn="t9", at=later(300), expires_at=later(305))
    step = last([trip, again])
    assert [(m.status, m.expires_at) for m in rows(step.world)] == [
        (Status.EXPIRED, later(5)),
        (Status.ACTIVE, later(305)),
    ]
