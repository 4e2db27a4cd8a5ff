"""What never comes back, and what falls due: fences, expiry, purge. A11, H4, design §11.7 and §11.12."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.candidate import Candidate, Kind, Sensitivity
from tables.change import Rule
from tables.erase import due_at, expire, fenced, purge
from tables.erasure import Fence, Reach, Selector
from tables.keys import Position
from tables.memory import State, Status
from tables.policy import DAY_MS, Policy
from tables.question import QuestionStatus
from tests.unit.builders import (
    POLICY,
    T0,
    candidate,
    frozen,
    last,
    later,
    memory,
    only,
    position,
    world,
)

PARIS = candidate("paris")
ROME = candidate("rome", session="s2", at=later(1))
TEA = candidate("tea", slot="preference.likes", kind=Kind.PREFERENCE, session="s3", at=later(2))


def is_fenced(fence: Fence, said: Candidate = PARIS, position_: Position | None = None) -> bool:
    return fenced(
        [fence],
        turn_id=said.turn_id,
        session=said.session,
        task=said.task,
        kind=said.kind,
        memory_id=said.id,
        at=said.at,
        position=position_,
        turn=said.turn,
        sensitivity=said.sensitivity,
    )


@pytest.mark.parametrize(
    ("selector", "covers"),
    [
        (Selector(Reach.USER), True),
        (Selector(Reach.TENANT), True),
        (Selector(Reach.SESSION, ("s1",)), True),
        (Selector(Reach.SESSION, ("s2",)), False),
        (Selector(Reach.SOURCE, (PARIS.turn_id,)), True),
        (Selector(Reach.SOURCE, (PARIS.turn,)), True),
        (Selector(Reach.SOURCE, ("t99",)), False),
        (Selector(Reach.TASK, ("kitchen",)), False),
        (Selector(Reach.KIND, ("identity",)), True),
        (Selector(Reach.KIND, ("health",)), False),
        (Selector(Reach.MEMORY, (PARIS.id,)), True),
        (Selector(Reach.MEMORY, (ROME.id,)), False),
    ],
)
def test_a_fence_covers_what_its_selector_names(selector: Selector, covers: bool) -> None:
    assert is_fenced(Fence(selector, later(1), "e1")) is covers


def test_a_task_fence_covers_its_task() -> None:
    fence = Fence(Selector(Reach.TASK, ("kitchen",)), later(1), "e1")
    assert is_fenced(fence, candidate("x", task="kitchen"))


def test_a_kind_fence_covers_a_sensitivity_class() -> None:
    fence = Fence(Selector(Reach.KIND, ("contact",)), later(1), "e1")
    assert is_fenced(fence, candidate("x", sensitivity=Sensitivity.CONTACT))


def test_what_is_not_known_matches_nothing() -> None:
    fence = Fence(Selector(Reach.SOURCE, ("x",)), later(1), "e1")
    assert not fenced([fence], turn_id="", session="", task="", kind="", memory_id="", at=T0, position=None)


@pytest.mark.parametrize(("at", "covers"), [(T0 - 1, False), (T0, True), (T0 + 1, True)])
def test_a_fence_covers_what_was_said_up_to_its_time(at: int, covers: bool) -> None:
    assert is_fenced(Fence(Selector(Reach.USER), at, "e1")) is covers


@pytest.mark.parametrize(("offset", "covers"), [(6, True), (7, False)])
def test_a_fence_covers_what_lay_in_the_log_before_it(offset: int, covers: bool) -> None:
    fence = Fence(Selector(Reach.USER), T0 - 1, "e1", {"conversation.turns.v1": 7})
    assert is_fenced(fence, position_=position(offset, "conversation.turns.v1")) is covers


def test_a_fence_with_a_bound_keeps_what_was_said_at_or_after_it() -> None:
    assert not is_fenced(Fence(Selector(Reach.USER, (), T0), later(1), "e1"))


TRIP = candidate("oslo", kind=Kind.PLAN, slot="plan.away", expires_at=later(5))


def test_what_is_due_expires_at_its_own_time() -> None:
    step = expire(TRIP.id, later(5), last([TRIP]).world, position())
    row = only(step)
    assert (step.verdict, row.status, row.updated_at, step.changes[0].at) == (
        Rule.EXPIRED,
        Status.EXPIRED,
        later(5),
        later(5),
    )


def test_an_expired_memory_keeps_its_content_as_history() -> None:
    assert only(expire(TRIP.id, later(5), last([TRIP]).world, position())).content == TRIP.content


def test_an_end_that_was_moved_does_not_expire() -> None:
    here = last([TRIP, replace(TRIP, id="x", turn="t9", at=later(1), expires_at=later(7))]).world
    assert expire(TRIP.id, later(5), here, position()).changes == ()


def test_what_is_no_longer_active_does_not_expire() -> None:
    here = world([memory(status=Status.SUPERSEDED, expires_at=later(5))])
    assert expire(PARIS.id, later(5), here, position()).changes == ()


def test_what_has_no_end_does_not_expire() -> None:
    assert expire(PARIS.id, later(500), last([PARIS]).world, position()).changes == ()


def test_an_unknown_id_does_not_expire() -> None:
    assert expire("nobody", later(5), world(), position()).changes == ()


def test_a_commitment_is_frozen_no_longer_when_it_ends() -> None:
    held = frozen("june 5", kind=Kind.COMMITMENT, slot="commitment.event.exam", expires_at=later(5))
    assert only(expire(held.id, later(5), world([held]), position())).state is State.COMMITTED


def test_questions_about_what_expired_are_withdrawn() -> None:
    held = frozen("paris", expires_at=later(5))
    here = last([ROME], world([held])).world
    assert [q.status for q in expire(held.id, later(5), here, position()).questions] == [QuestionStatus.WITHDRAWN]


@pytest.mark.parametrize(("days", "gone"), [(29, False), (30, True)])
def test_history_is_purged_when_its_time_is_over(days: int, gone: bool) -> None:
    held = memory(status=Status.SUPERSEDED)
    step = purge(held.id, later(days), world([held]), Policy(history_ms=30 * DAY_MS), position())
    assert bool(step.changes) is gone


def test_what_is_current_is_never_purged() -> None:
    assert purge(PARIS.id, later(999), last([PARIS]).world, POLICY, position()).changes == ()


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({}, 0),
        ({"expires_at": later(5)}, later(5)),
        ({"status": Status.SUPERSEDED}, later(30)),
        ({"status": Status.EXPIRED}, later(30)),
        ({"status": Status.EVICTED}, 0),
        ({"status": Status.DELETED}, 0),
    ],
)
def test_what_falls_due_when(fields: dict[str, Any], at: int) -> None:
    assert due_at(memory(**fields), POLICY) == at
