"""Invariants of the window: bounds, order within the gap, duplicates (design §11.6, §11.17)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tables.keys import Position, Scope, turn_key
from tables.policy import Policy
from tables.session import Session, fold
from tables.turn import Role, Turn

T0 = 1_772_355_600_000
GAP = 100
POLICY = Policy(window_messages=5, window_tokens=30, session_gap_ms=GAP)
WIDE = Policy(window_messages=1000, window_tokens=10**9, session_gap_ms=10**6)
law = settings(max_examples=150, deadline=None)


def turn(number: int, at: int) -> Turn:
    key = turn_key(Scope("t", "u"), "s", str(number))
    place = Position("t", 0, number)
    return Turn(key, str(number), Scope("t", "u"), "s", "", "", Role.USER, "x", T0 + at, 0, None, "", False, place)


said = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 40)), min_size=1, max_size=20).map(
    lambda pairs: [(turn(number, at), tokens) for number, (at, tokens) in enumerate(pairs)]
)
close = st.lists(st.integers(0, GAP), min_size=1, max_size=12, unique=True).map(
    lambda times: [(turn(number, at), 1) for number, at in enumerate(times)]
)


def folded(turns: list[tuple[Turn, int]], policy: Policy = POLICY) -> Session:
    session = Session()
    for one, tokens in turns:
        session = fold(session, one, tokens, policy)
    return session


@law
@given(said)
def test_a_window_keeps_both_bounds_or_holds_one_turn(turns: list[tuple[Turn, int]]) -> None:
    window = folded(turns).window
    assert 1 <= len(window) <= POLICY.window_messages
    assert sum(one.tokens for one in window) <= POLICY.window_tokens or len(window) == 1


@law
@given(said)
def test_a_window_is_in_the_order_of_time_and_ends_with_its_last_activity(turns: list[tuple[Turn, int]]) -> None:
    session = folded(turns)
    times = [one.at for one in session.window]
    assert times == sorted(times)
    assert session.window[-1].at == session.last_at


@law
@given(said, st.data())
def test_redeliveries_anywhere_do_nothing(turns: list[tuple[Turn, int]], data: st.DataObject) -> None:
    again = list(turns)
    for _ in range(data.draw(st.integers(0, 5))):
        place = data.draw(st.integers(0, len(again) - 1))
        again.insert(data.draw(st.integers(place + 1, len(again))), again[place])
    assert folded(again) == folded(turns)


@law
@given(close.flatmap(lambda turns: st.tuples(st.just(turns), st.permutations(turns))))
def test_within_the_gap_the_order_of_arrival_leaves_no_trace(
    both: tuple[list[tuple[Turn, int]], list[tuple[Turn, int]]],
) -> None:
    one, other = (folded(turns, WIDE) for turns in both)
    assert (one.window, one.started_at, one.last_at) == (other.window, other.started_at, other.last_at)
    assert set(one.seen) == set(other.seen)


@law
@given(close.flatmap(lambda turns: st.tuples(st.just(turns), st.permutations(turns))))
def test_within_the_gap_the_newest_that_fit_are_the_same_in_any_order(
    both: tuple[list[tuple[Turn, int]], list[tuple[Turn, int]]],
) -> None:
    one, other = (folded(turns) for turns in both)
    assert one.window == other.window


@law
@given(said)
def test_every_turn_is_remembered_as_seen(turns: list[tuple[Turn, int]]) -> None:
    assert len(folded(turns).seen) == len(turns)
