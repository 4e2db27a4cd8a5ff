"""Clauses: a sentence cut where one statement ends and the next begins, never inside a number or a quotation."""

from __future__ import annotations

import re

from tables.text import trimmed

_ZH = re.compile(
    r"[，；;—…]+|,(?![0-9])|[：:](?!\d)(?=.{0,3}我)|(?<=[^\s])(?:但是|不过(?![敏分去来问滤期如是])|所以|而且"
    r"|因为)(?=.{3})"
    r"|\s{2,}|(?<=[\u4e00-\u9fff])\s(?=[\u4e00-\u9fff])"
)
_ITEM = r"(?!(?:i|i'm|im|my|we|but|so|and|she|he|it|don'?t|no|not|never|please|use)\b)[\w-]{1,20}(?: [\w-]{1,20})?"
_LIST = rf"\s?{_ITEM}(?:, {_ITEM}){{0,6}},? (?:and|or) {_ITEM}\s*(?:$|[.,!;])"  # "peanuts, eggs and shellfish" is one
_SUBJECTS = r"i|i'm|i've|i'd|im|my|we|we're|our|don'?t|never|no|please|from now|use|always"
_VERBS = r"take|have|am|live|work|love|hate|like|prefer|can'?t|need|keep|wear|speak"
_EN = re.compile(
    rf",(?![0-9])(?!{_LIST})\s*|;\s*|\s[-–—]+\s|…\s*|(?<=\S)\s\((?=i\b)"
    r"|(?<=\S)\s(?=(?:and|but|so|because|since|although|though|cos|cause)\s+"
    rf"(?:now |then |also |please )?(?:{_SUBJECTS}|{_VERBS})\b)",
    re.IGNORECASE,
)
CLAUSE_MAX = 200  # characters a rule is tried on: a longer clause is read by its beginning


def clauses(text: str, start: int, end: int, zh: bool) -> list[tuple[int, int]]:
    """Spans of the clauses of text[start:end] in order, trimmed. Things listed stay together."""
    spans: list[tuple[int, int]] = []
    at = start
    for match in (_ZH if zh else _EN).finditer(text, start, end):
        _append(spans, text, at, match.start())
        at = match.end()
    _append(spans, text, at, end)
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    start, end = trimmed(text, start, end)
    if start < end and any(map(str.isalnum, text[start:end])):
        spans.append((start, end))


_TURNS = re.compile(r"[，,\s]*(?:但|不过|可是|然而|but\b|though\b)", re.IGNORECASE)


def turns(text: str, at: int) -> bool:
    """Whether a "but" follows at `at`: what comes then is another matter."""
    return _TURNS.match(text, at) is not None
