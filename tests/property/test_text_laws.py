"""Laws of text over any legal text: emoji, lone combining marks, right-to-left, every script."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tables.candidate import Candidate
from tables.extractive import extract
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.sensitive import found
from tables.text import language, normalised, sentences, terms, tokens
from tables.turn import Role, Turn
from tables.worth import screen

_SEEDS = st.sampled_from(
    [
        "我对花生过敏", "I'm allergic to", "，", ". ", "如果", "if ", "以后", "always ", "不", "not ",
        "👩‍👩‍👧", "\u0301", "שלום", "العربية", "预算是", "18万", "9,000 ", "until Friday", "周五之前", "\n",
        "“", "”", "记住", "remember ", "和", " and ",
    ]
)  # fmt: skip
LEGAL = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=200)
TEXTS = st.one_of(LEGAL, st.lists(st.one_of(_SEEDS, LEGAL), max_size=12).map("".join))


def turn(content: str) -> Turn:
    return Turn(
        key="k",
        id="1",
        scope=Scope("t", "u"),
        session="s",
        task="",
        topic="",
        role=Role.USER,
        content=content,
        at=1_772_355_600_000,
        zone_minutes=480,
        consent=None,
        lang="",
        minor=False,
        position=Position("turns", 0, 0),
    )


@given(TEXTS)
def test_tokens_are_positive_and_never_fall_when_text_is_added(text: str) -> None:
    assert 1 <= tokens(text) <= tokens(text + " word") <= tokens(text + " word 词")


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(TEXTS)
def test_sentences_lie_inside_in_order_and_apart(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert at <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        at = end


@given(TEXTS)
def test_every_text_has_a_language_and_terms(text: str) -> None:
    assert language(text) in {"zh", "en", "ja", "ko", "other"}
    assert all(terms(text))


@given(TEXTS)
def test_sensitive_spans_lie_inside_and_apart(text: str) -> None:
    at = 0
    for start, end, _ in found(text):
        assert at <= start < end <= len(text)
        at = end


@settings(max_examples=300)
@given(TEXTS)
def test_a_candidate_is_in_the_words_of_its_turn(text: str) -> None:
    said = turn(text)
    screen(said, True)
    extraction = extract(said, Policy())
    for candidate in extraction.candidates:
        assert_quoted(candidate, text)
    for dropped in extraction.drops:
        assert 0 <= dropped.span[0] <= dropped.span[1] <= len(text)


def assert_quoted(candidate: Candidate, text: str) -> None:
    start, end = candidate.span
    assert 0 <= start < end <= len(text)
    assert candidate.content == text[start:end] == text[start:end].strip()
    assert tokens(candidate.content) <= Policy().item_tokens
    assert candidate.vector == ()


@given(TEXTS)
def test_the_same_turn_gives_the_same_extraction(text: str) -> None:
    assert extract(turn(text), Policy()) == extract(turn(text), Policy())
