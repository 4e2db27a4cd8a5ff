"""The keyword leg: literal finds in Chinese, English and mixed text, over one user's rows (§11.8)."""

from __future__ import annotations

import pytest

from tables.bm25 import scores
from tables.text import terms

ROWS = [
    "我用 go 部署服务到 k8s",
    "invoice INV-2231 is still open",
    "装修总预算确定是18万",
    "I walk every morning",
    "我不喜欢早上开会",
]


def best(query: str) -> str:
    found = scores(terms(query), [terms(row) for row in ROWS])
    return ROWS[max(range(len(ROWS)), key=lambda n: found[n])]


@pytest.mark.parametrize(
    ("query", "row"),
    [("go 部署", 0), ("what about inv-2231?", 1), ("预算多少", 2), ("18万", 2), ("morning walks", 3), ("开会", 4)],
)
def test_a_term_is_found_literally_whatever_the_language(query: str, row: int) -> None:
    assert best(query) == ROWS[row]


def test_no_shared_term_scores_nothing_and_every_score_is_below_one() -> None:
    assert scores(terms("quantum"), [terms(row) for row in ROWS]) == [0.0] * len(ROWS)
    many = scores(["x"] * 3, [["x"] * 500, ["y"]])
    assert 0 < many[0] < 1


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    rows = [["tea"], ["tea"], ["tea"], ["milk"]]
    tea, _, _, milk = scores(["tea", "milk"], rows)
    assert milk > tea


@pytest.mark.parametrize("rows", [[], [[]], [[], ["a"]]])
def test_empty_rows_are_no_error(rows: list[list[str]]) -> None:
    assert len(scores(["a"], rows)) == len(rows)
    assert scores([], rows) == [0.0] * len(rows)
