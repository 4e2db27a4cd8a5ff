"""Expectations against answers: which sections each looks at, one content at a time."""

from __future__ import annotations

import pytest

from tables.expectation import Expectation, Item, Listed, Recalled, Want, check_list, check_recall, relevant

CONTEXT = Recalled(
    items=(
        Item("knowledge", "returns take 7 days", 5),
        Item("state", "answer briefly", 3),
        Item("stable", "allergic to mango", 4),
        Item("reference", "likes tea", 3),
        Item("reference", "short answers", 2, own=False),
        Item("window", "hello there", 2),
    ),
    questions=(("Is mango fine now?", "allergic to mango", "mango is fine"),),
    open=1,
    trace_id="tr",
)


@pytest.mark.parametrize(
    ("want", "pattern", "held"),
    [
        (Want.USE, "mango", True),
        (Want.USE, "hello", True),
        (Want.USE, "^likes tea$", True),
        (Want.USE, "7 days", False),  # what the caller passed in is no item of the engine's
        (Want.USE, "tea.*mango", False),  # one content at a time
        (Want.STABLE, "mango", True),
        (Want.STABLE, "tea", False),
        (Want.REFERENCE, "tea", True),
        (Want.WINDOW, "hello", True),
        (Want.STATE, "briefly", True),
        (Want.SUMMARY, "hello", False),
        (Want.IGNORE, "coffee", True),
        (Want.IGNORE, "briefly", False),
        (Want.IGNORE, "Mango", True),  # no flags
        (Want.IGNORE, "7 days", True),
        (Want.ASK, "fine", True),
        (Want.ASK, "tea", False),
    ],
)
def test_a_pattern_looks_where_its_kind_says(want: Want, pattern: str, held: bool) -> None:
    (check,) = check_recall([Expectation(want, pattern)], CONTEXT)
    assert check.held is held
    assert bool(check.got) is not held


def test_empty_means_nothing_of_the_users_own() -> None:
    public = Recalled(items=(Item("reference", "short answers", 2, own=False), Item("window", "hi", 1)))
    assert [check_recall([Expectation(Want.EMPTY)], one)[0].held for one in (CONTEXT, public)] == [False, True]


def test_no_question_may_be_open() -> None:
    assert [check_recall([Expectation(Want.ASK_NOTHING)], one)[0].held for one in (CONTEXT, Recalled())] == [
        False,
        True,
    ]


@pytest.mark.parametrize(("most", "held"), [(19, True), (18, False)])
def test_tokens_of_all_items_count_together(most: int, held: bool) -> None:
    """5 + 3 + 4 + 3 + 2 + 2 = 19."""
    assert check_recall([Expectation(Want.MAX_TOKENS, number=most)], CONTEXT)[0].held is held


def test_a_refused_recall_is_empty_and_says_so() -> None:
    refused = Recalled(remark="refused with 422")
    use, ignore = check_recall([Expectation(Want.USE, "x"), Expectation(Want.IGNORE, "x")], refused)
    assert (use.held, ignore.held) == (False, True)
    assert use.got == "refused with 422; nothing"


@pytest.mark.parametrize(
    ("expectation", "held"),
    [
        (Expectation(Want.HAS, "tea"), True),
        (Expectation(Want.HAS, "milk"), False),
        (Expectation(Want.LACKS, "milk"), True),
        (Expectation(Want.LACKS, "tea"), False),
        (Expectation(Want.AT_LEAST, number=2), True),
        (Expectation(Want.AT_LEAST, number=3), False),
        (Expectation(Want.AT_MOST, number=2), True),
        (Expectation(Want.AT_MOST, number=1), False),
    ],
)
def test_a_list_is_matched_and_counted(expectation: Expectation, held: bool) -> None:
    assert check_list([expectation], Listed(("likes tea", "has a dog")))[0].held is held


def test_relevant_items_are_those_that_any_use_type_expectation_finds() -> None:
    """Long-term items: mango (stable), tea and short answers (reference); mango and tea are wanted."""
    wanted = [Expectation(Want.USE, "tea"), Expectation(Want.STABLE, "mango"), Expectation(Want.IGNORE, "short")]
    assert relevant(wanted, CONTEXT) == (2, 3)


def test_without_use_nothing_is_asked_of_what_was_returned() -> None:
    assert relevant([Expectation(Want.STABLE, "mango")], CONTEXT) == (0, 0)
