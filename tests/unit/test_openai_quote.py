"""A quote is looked up exactly, then with width, white space, case and quotes set aside; it maps back to the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.openai_quote import Text


@pytest.mark.parametrize(
    ("content", "quote", "found"),
    [
        ("a b c", "b", "b"),
        ("I love jazz", " I love jazz ", "I love jazz"),
        ("I  love\njazz", "I love jazz", "I  love\njazz"),
        ("我喜欢 ＫＴＶ", "我喜欢KTV", "我喜欢 ＫＴＶ"),
        ("I’m vegan", "I'm vegan", "I’m vegan"),
        ("he said “yes”", 'said "yes"', "said “yes”"),
        ("I LOVE jazz", "I love jazz", "I LOVE jazz"),
        ("5 ㎏ of it", "5kg", "5 ㎏"),
        ("cafe\u0301 noir", "caf\u00e9", "cafe\u0301"),
        ("part of art", "art", "art"),  # not the one inside a word
        ("花生酱和花生", "花生", "花生"),
    ],
)
def test_a_quote_is_found_and_mapped_back(content: str, quote: str, found: str) -> None:
    span = Text(content).place(quote)
    assert span is not None
    assert content[slice(*span)] == found


@pytest.mark.parametrize(
    ("content", "quote"),
    [("party", "art"), ("jazz", "rock"), ("jazz", ""), ("a, b", ","), ("room 123", "12"), ("", "x")],
)
def test_what_is_not_there_is_not_found(content: str, quote: str) -> None:
    assert Text(content).place(quote) is None


def test_an_open_place_comes_before_a_closed_one() -> None:
    assert Text("jazz jazz", [(0, 5)]).place("jazz") == (5, 9)
    assert Text("jazz", [(0, 4)]).place("jazz") == (0, 4)


@given(st.text(max_size=60), st.data())
def test_every_whole_piece_of_a_text_is_found_in_it(content: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    span = Text(content).place(content[start:end])
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(content)
