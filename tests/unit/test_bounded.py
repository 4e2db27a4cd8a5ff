"""The bounded gate: H2, H3, H17, design §11.12."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.book import Entry
from tables.bounded import eviction_order, fits, fits_share, is_exempt, victims
from tables.candidate import Candidate, Kind
from tables.change import Op, Rule
from tables.command import CommandKind
from tables.commanded import apply
from tables.memory import Pin, State, Status
from tables.policy import Policy
from tables.question import QuestionStatus
from tests.unit.builders import (
    POLICY,
    SCOPE,
    T0,
    active,
    candidate,
    command,
    entry,
    last,
    later,
    memory,
    position,
    take,
    world,
)


def items(count: int, **fields: Any) -> list[Entry]:
    return [entry(id=f"m{n}", **fields) for n in range(count)]


def test_within_the_budgets_nobody_goes() -> None:
    assert victims(items(2), entry(id="new"), Policy(items=3), T0) == ()


def test_one_item_too_many_displaces_the_lowest_score() -> None:
    held = [entry(id="a", importance=0.9), entry(id="b", importance=0.1), entry(id="c", importance=0.5)]
    out = victims(held, entry(id="new", importance=0.6), Policy(items=3), T0)
    assert [e.id for e in out or ()] == ["b"]


def test_too_much_weight_displaces_as_many_as_it_takes() -> None:
    held = [entry(id=f"m{n}", weight=30.0, importance=n / 10) for n in range(3)]
    out = victims(held, entry(id="new", weight=50.0), Policy(total_weight=90), T0)  # 140 − 30 − 30 = 80 ≤ 90
    assert [e.id for e in out or ()] == ["m0", "m1"]


def test_a_draft_goes_before_any_committed_one() -> None:
    held = [entry(id="draft", state=State.DRAFT, importance=1.0), entry(id="poor", importance=0.0)]
    out = victims(held, entry(id="new"), Policy(items=2), T0)
    assert [e.id for e in out or ()] == ["draft"]


def test_of_equal_scores_the_older_goes() -> None:
    held = [entry(id="a", created_at=T0), entry(id="b", created_at=T0 - 1)]
    out = victims(held, entry(id="new", importance=1.0), Policy(items=2), T0)
    assert [e.id for e in out or ()] == ["b"]


def test_of_equal_scores_and_ages_the_smaller_id_goes() -> None:
    out = victims([entry(id="b"), entry(id="a")], entry(id="new", importance=1.0), Policy(items=2), T0)
    assert [e.id for e in out or ()] == ["a"]


@pytest.mark.parametrize(
    "exempt", [{"state": State.FROZEN}, {"protected": True}, {"pin": Pin.CORE}, {"pin": Pin.INTERN}]
)
def test_the_exempt_are_never_displaced(exempt: dict[str, Any]) -> None:
    held = [entry(id="kept", importance=0.0, **exempt), entry(id="other", importance=0.5)]
    out = victims(held, entry(id="new", importance=1.0), Policy(items=2), later(1))
    assert [e.id for e in out or ()] == ["other"]


def test_a_newcomer_is_refused_when_nobody_may_go() -> None:
    assert victims(items(2, state=State.FROZEN), entry(id="new"), Policy(items=2), T0) is None


def test_a_newcomer_that_is_itself_the_lowest_is_refused() -> None:
    assert victims(items(2, importance=0.9), entry(id="new", importance=0.1), Policy(items=2), T0) is None


def test_a_newcomer_that_replaces_does_not_compete() -> None:
    out = victims(items(2, importance=0.9), entry(id="new", importance=0.1), Policy(items=2), T0, competes=False)
    assert [e.id for e in out or ()] == ["m0"]


def test_a_draft_never_displaces_a_committed_one() -> None:
    newcomer = entry(id="new", state=State.DRAFT, importance=1.0)
    assert victims(items(2, importance=0.0), newcomer, Policy(items=2), T0) is None


def test_a_protected_newcomer_is_stored_even_when_nobody_may_go() -> None:
    assert victims(items(2, state=State.FROZEN), entry(id="new", protected=True), Policy(items=2), T0) == ()


def test_history_takes_no_room() -> None:
    held = items(5, status=Status.SUPERSEDED)
    assert victims(held, entry(id="new"), Policy(items=1), T0) == ()


def test_history_does_not_count_as_over_budget() -> None:
    assert fits(items(5, status=Status.EXPIRED), Policy(items=1))


def test_the_order_is_by_score_and_not_by_age() -> None:
    old_but_core = entry(id="a", kind=Kind.IDENTITY, importance=1.0, created_at=T0, last_mentioned_at=T0)
    new_but_passing = entry(id="b", kind=Kind.PLAN, importance=0.0, created_at=later(20), last_mentioned_at=later(20))
    assert eviction_order(new_but_passing, later(60)) < eviction_order(old_but_core, later(60))


def test_freezing_keeps_to_the_share_of_items() -> None:
    held = items(8, state=State.FROZEN, weight=1.0)
    assert not fits_share(held, entry(id="new", weight=1.0), Policy(items=10))  # 9 > 0.8 · 10


def test_freezing_keeps_to_the_share_of_weight() -> None:
    held = items(1, state=State.FROZEN, weight=70.0)
    assert not fits_share(held, entry(id="new", weight=11.0), Policy(total_weight=100))  # 81 > 80


def test_what_is_exempt_already_takes_nothing_more_of_the_share() -> None:
    held = items(10, state=State.FROZEN)
    assert fits_share(held, entry(id="new", protected=True), Policy(items=10))


def test_a_pinned_memory_is_exempt() -> None:
    assert is_exempt(entry(pin=Pin.INTERN))


def fact(number: int) -> Candidate:
    """A fact of its own dimension."""
    return candidate(f"v{number}", kind=Kind.FACT, slot="fact.note", at=T0 + number)


def test_an_evicted_memory_leaves_the_book() -> None:
    step = last([fact(0), fact(1)], policy=Policy(items=1))
    assert active(step.world) == ["v1"]


def test_an_eviction_is_a_delete_event_with_what_was_there() -> None:
    change = last([fact(0), fact(1)], policy=Policy(items=1)).changes[-1]
    assert (change.op, change.rule, change.before and change.before.value, change.after) == (
        Op.DELETE,
        Rule.EVICTED,
        "v0",
        None,
    )


def test_the_row_of_an_evicted_memory_holds_nothing_that_was_said() -> None:
    step = last([fact(0), fact(1)], policy=Policy(items=1))
    row = step.world.memories[fact(0).id]
    assert (row.status, row.content, row.value, row.subject, row.span) == (Status.EVICTED, "", "", "", (0, 0))


def test_an_evicted_memory_does_not_come_back_with_its_own_statement() -> None:
    step = last([fact(0), fact(1), fact(0)], policy=Policy(items=1))
    assert (step.verdict, step.changes) == (Rule.REPEATED, ())


def test_a_content_over_the_cap_is_refused_whole() -> None:
    step = last([candidate("a", content="word " * 200)], policy=Policy(item_tokens=128))
    assert (step.verdict, step.memories) == (Rule.TOO_LONG, {})


def test_a_refused_newcomer_changes_nothing() -> None:
    here = world([memory("paris", state=State.FROZEN)])
    step = last([fact(1)], here, Policy(items=1))
    assert (step.verdict, step.world) == (Rule.OVER_BUDGET, here)


def test_a_protected_fact_is_stored_over_budget() -> None:
    here = world([memory("paris", state=State.FROZEN)])
    allergy = candidate("mango", kind=Kind.HEALTH, slot="health.allergy")
    assert active(last([allergy], here, Policy(items=1)).world) == ["mango", "paris"]


def test_merging_comes_before_the_gate() -> None:
    """An equal conclusion takes no room, so nobody has to go for it (H3)."""
    steps = take([fact(0), fact(1), replace(fact(1), id="again", turn="t9", session="s9")], policy=Policy(items=2))
    assert [step.verdict for step in steps] == [Rule.NEW, Rule.NEW, Rule.DUPLICATE]


def test_the_scope_of_a_memory_is_that_of_its_candidate() -> None:
    assert last([fact(0)]).world.memories[fact(0).id].scope == SCOPE


def test_a_doubt_about_what_is_evicted_is_withdrawn() -> None:
    here = last([fact(0)], policy=Policy(items=1)).world
    doubted = apply(command(CommandKind.FEEDBACK, memory_ids=(fact(0).id,)), here, POLICY, position()).world
    assert [q.status for q in last([fact(1)], doubted, Policy(items=1)).questions] == [QuestionStatus.WITHDRAWN]


def test_a_value_that_replaces_does_not_compete() -> None:
    """The old one goes whatever happens; refusing the new one would leave the dimension with what is false."""
    here = world([memory(str(n), slot=f"fact.about.{n}", kind=Kind.FACT, importance=1.0, tokens=10) for n in range(2)])
    here = last([candidate("paris", importance=1.0, content="x")], here).world
    longer = candidate("rome", importance=0.0, session="s2", at=later(1), content="some more words than it had")
    step = last([longer], here, Policy(total_weight=18))
    assert "rome" in active(step.world)
