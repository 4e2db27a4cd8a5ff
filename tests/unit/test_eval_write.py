"""The write side scored: chats whose turns say what should have become memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.scenario import BadScenario
from tables.write_scoring import ChatTurn, Label, Stored, duplicates, parse_chat_turn, write_scores

LINE: dict[str, Any] = {
    "id": "m1",
    "lang": "en",
    "user": "u",
    "session": "s",
    "role": "user",
    "at": "2026-03-01T09:00:00Z",
    "text": "I live in York",
    "label": "keep",
    "values": ["York"],
}


def said(id_: str, label: str = "", values: list[str] | None = None, lang: str = "en") -> ChatTurn:
    return parse_chat_turn({**LINE, "id": id_, "label": label, "values": values, "lang": lang}, "f")


def stored(content: str, *sources: str, user: str = "u", slot: str = "fact", value: str = "") -> Stored:
    return Stored(user, "user", slot, value or content, content, sources)


def test_a_line_is_read() -> None:
    turn = parse_chat_turn(LINE, "f")
    assert (turn.id, turn.label, turn.values, turn.at) == ("m1", Label.KEEP, ("York",), 1_772_355_600_000)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"text": None}, "f: text: a text is wanted"),
        ({"id": 3}, "f: id: a text is wanted"),
        ({"label": "maybe"}, "f: label: 'maybe' is none of keep, drop, third"),
        ({"values": "York"}, "f: values: a list of texts is wanted"),
        ({"values": ["("]}, "f: missing ), unterminated subpattern"),
        ({"at": "now"}, "f: bad_time: at"),
    ],
)
def test_a_bad_line_says_what_is_wrong(change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadScenario) as error:
        parse_chat_turn({**LINE, **change}, "f")
    assert str(error.value).startswith(says)


def test_a_line_that_is_no_object_is_refused() -> None:
    with pytest.raises(BadScenario, match="f: a JSON object is wanted"):
        parse_chat_turn([], "f")


def test_the_scores_counted_by_hand() -> None:
    """Kept: a (York found, Leeds not), not b. Stored of a, c (drop), d (third), a and c together: junk 1 of 3."""
    turns = [said("a", "keep", ["York", "Leeds"]), said("b", "keep"), said("c", "drop"), said("d", "third"), said("e")]
    memories = [
        stored("I live in York", "a"),
        stored("nice weather", "c"),
        stored("my aunt knits", "d"),
        stored("tea", "a", "c"),
    ]
    found = write_scores(turns, memories)["en"]
    assert (found.turns, found.stored, found.duplicates) == (5, 4, 0)
    assert (found.recall, found.values_found) == (0.5, 0.5)
    assert found.junk == pytest.approx(1 / 3)


def test_a_value_counts_only_in_a_memory_of_its_own_turn() -> None:
    turns = [said("a", "keep", ["York"]), said("b", "keep", ["York"])]
    assert write_scores(turns, [stored("York", "a")])["en"].values_found == 0.5


def test_languages_and_users_are_told_apart() -> None:
    turns = [said("a", "keep"), said("b", "keep", lang="zh")]
    found = write_scores(turns, [stored("x", "a"), stored("y", "b", user="stranger")])
    assert {lang: (one.stored, one.recall) for lang, one in found.items()} == {"en": (1, 1.0), "zh": (0, 0.0)}


@pytest.mark.parametrize(
    ("memories", "count"),
    [
        ([stored("Likes tea."), stored("likes  TEA")], 1),
        ([stored("likes tea", value="tea"), stored("tea is great", value="Tea")], 1),
        ([stored("likes tea", value="tea"), stored("tea is great", value="tea", slot="other")], 0),
        ([stored("likes tea"), stored("likes tea", user="v")], 0),
        ([stored("likes tea")] * 3, 2),
    ],
)
def test_a_duplicate_says_again_what_another_says(memories: list[Stored], count: int) -> None:
    assert duplicates(memories) == count


def test_what_ended_or_was_replaced_is_kept_but_is_no_duplicate() -> None:
    first = stored("likes tea", "1")
    again = stored("likes tea", "2")
    assert duplicates([first, again]) == 1
    scores = write_scores([said("1", "keep"), said("2", "keep")], [replace(first, current=False), again])
    assert (scores["en"].recall, scores["en"].duplicates) == (1.0, 0)
