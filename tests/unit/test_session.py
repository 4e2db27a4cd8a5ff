"""The short-term window in event time (A2, A3, design §11.6, §11.17)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.keys import Position, Scope
from tables.policy import HOUR_MS, Policy
from tables.session import SEEN_MAX, Session, Wish, fold, readable, seen_mark, wished, without
from tables.turn import Role, Turn

T0 = 1_772_355_600_000
GAP = HOUR_MS
POLICY = Policy(window_messages=3, window_tokens=10, session_gap_ms=GAP, session_ttl_ms=3 * GAP)


def turn(name: str, at: int = 0) -> Turn:
    key = name.ljust(32, "0")
    place = Position("t", 0, 0)
    return Turn(key, name, Scope("a", "u"), "s", "", "", Role.USER, name, T0 + at, 0, None, "", False, place)


def folded(*turns: Turn, tokens: int = 1, policy: Policy = POLICY) -> Session:
    session = Session()
    for one in turns:
        session = fold(session, one, tokens, policy)
    return session


def names(session: Session) -> list[str]:
    return [one.id for one in session.window]


def test_the_newest_turns_that_fit_stay() -> None:
    assert names(folded(*(turn(f"t{n}", n) for n in range(5)))) == ["t2", "t3", "t4"]


@pytest.mark.parametrize(("tokens", "kept"), [(3, 3), (4, 2), (5, 2), (6, 1)])  # 3 × 3 ≤ 10 < 3 × 4; 2 × 5 ≤ 10 < 2 × 6
def test_the_window_keeps_its_budget_of_tokens(tokens: int, kept: int) -> None:
    assert len(folded(*(turn(f"t{n}", n) for n in range(5)), tokens=tokens).window) == kept


def test_the_newest_turn_stays_however_long_it_is() -> None:
    assert names(folded(turn("a"), turn("b", 1), tokens=1000)) == ["b"]


def test_a_turn_that_comes_late_takes_its_place_in_time() -> None:
    assert names(folded(turn("b", 2), turn("a", 1), turn("c", 3))) == ["a", "b", "c"]


def test_turns_of_the_same_millisecond_stay_in_the_order_taken() -> None:
    assert names(folded(turn("b"), turn("a"), turn("c", -1))) == ["c", "b", "a"]


@pytest.mark.parametrize(("later", "kept"), [(GAP, ["a", "b"]), (GAP + 1, ["b"])])
def test_only_more_than_the_gap_opens_a_new_window(later: int, kept: list[str]) -> None:
    assert names(folded(turn("a"), turn("b", later))) == kept


def test_a_new_window_has_none_of_the_old_wishes_and_all_of_the_marks() -> None:
    session = wished(folded(turn("a")), Wish("length", "short", "x", T0))
    session = fold(session, turn("b", GAP + 1), 1, POLICY)
    assert (session.wishes, session.started_at) == ((), T0 + GAP + 1)
    assert len(session.seen) == 2


@pytest.mark.parametrize(("earlier", "kept"), [(GAP, ["a", "b"]), (GAP + 1, ["b"])])
def test_a_turn_from_before_the_window_goes_to_memory_only(earlier: int, kept: list[str]) -> None:
    session = folded(turn("b"), turn("a", -earlier))
    assert names(session) == kept
    assert seen_mark(turn("a").key) in session.seen


def test_a_late_turn_moves_no_clock_back() -> None:
    session = folded(turn("b", 5), turn("a", 1))
    assert (session.started_at, session.last_at) == (T0 + 1, T0 + 5)


def test_a_turn_seen_before_changes_nothing() -> None:
    session = folded(turn("a"), turn("b", 1))
    assert fold(session, turn("a", 9), 1, POLICY) is session


def test_the_last_512_turns_are_known() -> None:
    session = folded(*(turn(f"{n:016d}", n) for n in range(SEEN_MAX + 1)))
    assert len(session.seen) == SEEN_MAX


def test_folding_keeps_the_guard() -> None:
    session = replace(folded(turn("a")), offsets={"t": 7})
    assert fold(session, turn("b", 1), 1, POLICY).offsets == {"t": 7}
    assert fold(session, turn("c", 9 * GAP), 1, POLICY).offsets == {"t": 7}


def test_a_later_wish_replaces_the_earlier_of_its_slot_in_any_order() -> None:
    early, late, other = (
        Wish("length", "long", "x", T0),
        Wish("length", "short", "y", T0 + 1),
        Wish("tone", "dry", "z", T0),
    )
    one = wished(wished(wished(Session(), early), other), late)
    two = wished(wished(wished(Session(), late), early), other)
    assert set(one.wishes) == set(two.wishes) == {late, other}


def test_what_is_taken_out_of_a_window_takes_its_wishes_along() -> None:
    a = turn("a")
    session = wished(folded(a, turn("b", 1)), Wish("length", "short", a.key, T0))
    left = without(session, lambda one: one.key == a.key, lambda _: False)
    assert (names(left), left.wishes) == (["b"], ())
    assert left.seen == session.seen


def test_taking_nothing_out_is_the_same_session() -> None:
    session = folded(turn("a"))
    assert without(session, lambda _: False, lambda _: False) is session


@pytest.mark.parametrize(
    ("idle", "gap", "ttl", "shown"),
    [(GAP, GAP, 3 * GAP, True), (GAP + 1, GAP, 3 * GAP, False), (GAP + 1, 5 * GAP, GAP, False), (-5, GAP, GAP, True)],
)
def test_a_window_is_read_until_its_gap_or_its_ttl_is_over(idle: int, gap: int, ttl: int, shown: bool) -> None:
    policy = replace(POLICY, session_gap_ms=gap, session_ttl_ms=ttl)
    assert readable(folded(turn("a")), T0 + idle, policy) is shown
