"""Clauses: a sentence cut where one statement ends and the next begins, never inside a number or a quotation."""

from __future__ import annotations

import re

from tables.text import trimmed

_ZH = re.compile(
    r"[，；;、—…]+|,(?![0-9])|[：:](?!\d)(?=.{0,3}我)|(?<=[^\s])(?:但是|不过(?![敏分去来问滤期如是])|所以|而且"
    r"|因为)(?=.{3})"
    r"|\s{2,}|(?<=[\u4e00-\u9fff])\s(?=[\u4e00-\u9fff])"
)
_EN = re.compile(
    r",(?![0-9])\s*|;\s*|\s[-–—]+\s|…\s*|(?<=\S)\s\((?=i\b)|(?<=\S)\s(?=(?:and|but|so|because|since|although|though"
    r"|cos|cause)\s+"
    r"(?:now |then |also |please )?(?:i|i'm|i've|i'd|im|my|we|we're|our|don'?t|never|no|please|from now|use"
    r"|always)\b)",
    re.IGNORECASE,
)  # fmt: skip
CLAUSE_MAX = 200  # characters a rule is tried on: a longer clause is read by its beginning


def clauses(text: str, start: int, end: int, zh: bool) -> list[tuple[int, int]]:
    """Spans of the clauses of text[start:end] in order, trimmed; 、 parts stay together when they only list things."""
    spans: list[tuple[int, int]] = []
    at = start
    for match in (_ZH if zh else _EN).finditer(text, start, end):
        if match[0] == "、":
            continue
        _append(spans, text, at, match.start())
        at = match.end()
    _append(spans, text, at, end)
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    start, end = trimmed(text, start, end)
    if start < end and any(map(str.isalnum, text[start:end])):
        spans.append((start, end))
