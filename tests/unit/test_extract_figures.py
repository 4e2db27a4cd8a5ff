"""Figures on labelled sentences: rules alone must stay precise; recall is the trained head's part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tables.candidate import SELF
from tables.extractive import extract
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.turn import Role, Turn
from tables.worth import screen

SHARED = Path(os.environ.get("TWINSLUICE_SHARED", Path(__file__).parents[2] / ".." / "shared"))
SENTENCES = SHARED / "scenarios" / "sentences.tsv"
TURN = Turn(
    "k", "", Scope("t", "u"), "s", "", "", Role.USER, "", 1_772_355_600_000, 480, None, "", False, Position("x", 0, 0)
)


def rows(split: str, lang: str) -> Iterator[tuple[str, bool, bool]]:
    """(text, worth keeping, about a third party)"""
    for line in SENTENCES.read_text("utf-8").splitlines()[1:]:
        of_split, of_lang, text, kind, _, worth, *_ = line.split("\t")
        if (of_split, of_lang) == (split, lang):
            yield text, worth == "1", kind == "third"


def accepted(text: str, third: bool) -> bool:
    turn = replace(TURN, content=text)
    if screen(turn, True) is not None:
        return False
    kept = extract(turn, Policy()).candidates
    return any(candidate.subject == SELF or not third for candidate in kept)


@pytest.mark.skipif(not SENTENCES.exists(), reason="the labelled sentences are not here: set TWINSLUICE_SHARED")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_junk_is_at_most_one_in_twenty_of_what_is_accepted(lang: str) -> None:
    judged = [(accepted(text, third), worth) for text, worth, third in rows("test", lang)]
    taken = [worth for took, worth in judged if took]
    assert taken.count(False) <= 0.05 * len(taken)
    assert taken.count(True) >= 0.40 * sum(worth for _, worth in judged)
