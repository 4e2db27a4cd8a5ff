"""Audit: every way in which a copy may differ from the ledger has its name."""

from __future__ import annotations

from streams.audit import Difference, Seen, compared

HELD = {"a": Seen("o1", "active", 1), "b": Seen("o1", "superseded", 3)}


def problems(found: list[tuple[str, Seen]]) -> list[tuple[str, str]]:
    return [(one.memory_id, one.problem) for one in compared("redis", "t", HELD, found)]


def test_equal_copies_have_no_difference() -> None:
    assert problems(list(HELD.items())) == []


def test_every_difference_is_named() -> None:
    assert problems([("a", HELD["a"])]) == [("b", "missing")]
    assert problems([*HELD.items(), ("a", HELD["a"])]) == [("a", "twice")]
    assert problems([*HELD.items(), ("c", Seen("o1", "active", 1))]) == [("c", "extra")]
    assert problems([("a", Seen("o1", "expired", 1)), ("b", HELD["b"])]) == [("a", "status")]
    assert problems([("a", HELD["a"]), ("b", Seen("o1", "superseded", 2))]) == [("b", "version")]
    assert problems([("a", Seen("o2", "active", 1)), ("b", HELD["b"])]) == [("a", "owner")]


def test_a_difference_says_both_sides() -> None:
    found = compared("index", "t", HELD, [("a", HELD["a"]), ("b", Seen("o1", "superseded", 2))])

    assert found == [Difference("index", "t", "b", "version", "3", "2")]
