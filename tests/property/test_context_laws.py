"""Laws of context assembly and of quoting, over anything (§11.19)."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tables.bm25 import scores
from tables.context import SECTIONS, Item, Offers, Origin, Section, assemble
from tables.prompt import quoted, render

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


@st.composite
def items(draw: st.DrawFn, origin: Origin = Origin.MEMORY) -> Item:
    key = draw(st.sampled_from("abcdefghij"))
    kind = draw(st.sampled_from(["user", "assistant", "fact"]))
    content = draw(texts | st.sampled_from(["same", "same "]))
    return Item(key, key, kind, origin, "stated", 0, content, draw(st.integers(1, 60)))


@st.composite
def offers(draw: st.DrawFn) -> Offers:
    some = st.lists(items(), max_size=6).map(tuple)
    question = Item("question", "", "question", Origin.CALLER, "said", 0, draw(texts), 7)
    return Offers(question, draw(some), draw(some), draw(some), draw(some), draw(some), draw(some))


@given(offers(), st.integers(0, 200))
@settings(max_examples=300)
def test_a_context_is_within_its_budget_of_whole_items_in_order_and_nothing_twice(given_: Offers, room: int) -> None:
    assembled = assemble(given_, room)
    taken = [item for section in SECTIONS[1:] for item in assembled.sections[section]]
    assert sum(item.tokens for item in taken) == assembled.tokens <= room
    offered = {
        Section.KNOWLEDGE: given_.knowledge,
        Section.STATE: given_.state,
        Section.STABLE: given_.stable,
        Section.REFERENCE: given_.reference,
        Section.WINDOW: given_.window,
        Section.SUMMARY: given_.summary,
    }
    for section, those in offered.items():
        assert all(item in those for item in assembled.sections[section]), "whole, and of its own section"
    keys = [item.key for item in taken]
    assert len(keys) == len(set(keys))
    long_term = (Section.KNOWLEDGE, Section.STABLE, Section.REFERENCE)
    said = [item.content.strip() for section in long_term for item in assembled.sections[section]]
    assert len(said) == len(set(said))
    assert tuple(assembled.sections) == SECTIONS
    assert assembled.sections[Section.QUESTION] == (given_.question,)


@given(offers(), st.integers(0, 200))
def test_every_item_is_in_the_context_or_named_as_left_out(given_: Offers, room: int) -> None:
    assembled = assemble(given_, room)
    taken = {item.key for section in SECTIONS[1:] for item in assembled.sections[section]}
    named = taken | {one.id for one in assembled.left_out}
    every = (given_.knowledge, given_.state, given_.stable, given_.reference, given_.window, given_.summary)
    assert {item.key for those in every for item in those} <= named


@given(offers(), st.sampled_from(["en", "zh"]))
def test_a_prompt_has_one_line_an_item_whatever_is_stored(given_: Offers, lang: str) -> None:
    assembled = assemble(given_, 10_000)
    text = render(assembled, lang)
    lines = [line for line in text.splitlines() if line.startswith("- [")]
    question_lines = sum(line.startswith("- [") for line in given_.question.content.splitlines())
    assert len(lines) - question_lines <= sum(len(assembled.sections[s]) for s in SECTIONS[1:])


@given(st.text())
def test_quoting_is_one_line_and_loses_nothing(text: str) -> None:
    shown = quoted(text)
    assert len(shown.splitlines()) == 1
    assert not set("<>") & set(shown)
    assert json.loads(shown) == text


@given(st.lists(st.sampled_from("abc")), st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=6))
def test_keyword_scores_are_of_shared_terms_only(query: list[str], rows: list[list[str]]) -> None:
    for row, score in zip(rows, scores(query, rows), strict=True):
        assert 0 <= score < 1
        assert (score > 0) == bool(set(row) & set(query))
