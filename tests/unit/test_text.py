"""Text: one analyzer for both sides, language by script, sentences, an estimate of tokens that is never too low."""

from __future__ import annotations

import pytest

from tables.text import language, normalised, sentences, terms, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我对花生过敏", "zh"),
        ("I am allergic to peanuts", "en"),
        ("今天用 Python 写了一个 parser", "zh"),
        ("deploy the 服务 to staging tonight please", "en"),
        ("私は東京に住んでいます", "ja"),
        ("저는 서울에 살아요", "ko"),
        ("Привет, как дела", "other"),
        ("👍👍", "other"),
        ("12345", "other"),
        ("看 https://example.com/a/b/c/d/e/f 吧", "zh"),
    ],
)
def test_the_language_follows_from_the_script(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("我叫小林。住在南方！", ["我叫小林。", "住在南方！"]),
        ("Version 2.3 is out. I use it.", ["Version 2.3 is out.", "I use it."]),
        ("I met Dr. Chen at 9.30 a.m. today", ["I met Dr. Chen at 9.30 a.m. today"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("“真的？”我问", ["“真的？”", "我问"]),
        ("…！！", []),
    ],
)
def test_a_sentence_ends_at_its_mark_and_not_inside_a_number(text: str, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == pieces


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("花生", "我对花生过敏"),
        ("peanuts", "allergic to a peanut"),
        ("port 8080", "the PORT is 8080"),
        ("9000", "a budget of 9,000 euros"),
        ("user_id", "set user_id first"),
        ("id", "set user_id first"),
        ("ＡＢＣ１２３", "abc123"),
        ("不", "不吃辣"),
        ("not", "not for me"),
        ("20mg", "take 20mg daily"),
        ("B2-118", "车位B2-118"),
    ],
)
def test_a_query_finds_what_is_said_in_the_same_words(query: str, content: str) -> None:
    assert set(terms(query)) & set(terms(content))


def test_han_gives_single_characters_and_pairs() -> None:
    assert terms("过敏") == ["过", "敏", "过敏"]


def test_han_and_latin_never_share_a_term() -> None:
    assert "python写" not in terms("用python写代码")
    assert "python" in terms("用python写代码")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ｐｅａｎｕｔｓ！", "peanuts"), (" New   York. ", "new york"), ("花生。", "花生"), ("STRASSE", "straße")],
)
def test_values_are_equal_across_width_case_space_and_final_marks(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        # counts of cl100k_base, the larger of it and o200k_base
        ("我平时喜欢喝全糖奶茶，以后都点无糖的。", 26),
        ("I work as a civil engineer at a bridge company.", 10),
        ("龘靐齉爩", 12),
        ("def parse_time(value: object) -> tuple[int, int]:", 11),
        ("🙂", 2),
    ],
)
def test_the_token_estimate_is_not_below_the_real_count(text: str, least: int) -> None:
    assert tokens(text) >= least


def test_the_token_estimate_stays_near_the_real_count() -> None:
    assert tokens("I work as a civil engineer at a bridge company.") <= 2 * 10
    assert tokens("我平时喜欢喝全糖奶茶，以后都点无糖的。") <= 2 * 26
