"""The field leg: which profile slots a question asks for, by closed cues in both languages (H14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

QUERY_CHARS_MAX: Final = 400  # a question is short; a pasted document asks for no field

_CUES: Final[Mapping[str, tuple[str, ...]]] = {
    "name": (r"\bmy (?:full |first |last )?name\b|\bwho am i\b", "我(?:的名字|叫什么|姓什么|是谁)|怎么称呼我"),
    "city": (
        r"\bwhere (?:do|am) i (?:live|based)|\b(?:my|home) (?:city|town)\b",
        "我(?:在哪|住在?哪|住的城市)|哪个城市",
    ),
    "address": (
        r"\bmy (?:home |mailing |shipping )?address\b|\bdeliver(?:ed|y)? to\b|\bship (?:it|this) to\b",
        "收货地址|我的?地址|寄到哪|送到哪",
    ),
    "contact": (r"\bmy (?:phone|number|mobile|e-?mail|contact)\b", "我的?(?:电话|手机|邮箱|联系方式|微信)"),
    "occupation": (
        r"\bmy (?:job|occupation|profession|work)\b|\bwhat do i do\b",
        "我的?(?:职业|工作|行业)|我是做什么",
    ),
    "age": (r"\bhow old am i\b|\bmy age\b", "我(?:的年龄|多大|几岁)"),
    "birthday": (r"\bmy birth(?:day|date)\b", "我的?(?:生日|出生)"),
    "gender": (r"\bmy (?:gender|sex)\b", "我的?性别"),
    "language": (r"\b(?:which|what) language\b", "用什么语言|哪种语言"),
    "allergy": (r"\ballerg", "过敏|忌口"),
    "diet": (
        r"\b(?:diet|vegetarian|vegan|eat|food|dinner|lunch|breakfast|recipe|snack)\b",
        "饮食|吃什么|晚饭|午饭|早饭|零食|甜品|菜谱|忌口",
    ),
}
_PATTERNS: Final = {slot: re.compile("|".join(cues), re.IGNORECASE) for slot, cues in _CUES.items()}


def asked_slots(query: str) -> frozenset[str]:
    """The slots that `query` asks about; empty for most questions. Time is bounded by `QUERY_CHARS_MAX`."""
    head = query[:QUERY_CHARS_MAX]
    return frozenset(slot for slot, pattern in _PATTERNS.items() if pattern.search(head))
