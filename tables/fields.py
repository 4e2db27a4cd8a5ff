"""The field leg: which profile slots a question asks for, by closed cues in both languages (H14)."""

from __future__ import annotations

import re
from typing import Final

QUERY_CHARS_MAX: Final = 400  # a question is short; a pasted document asks for no field

_CUES: Final[tuple[tuple[frozenset[str], str, str], ...]] = (
    (
        frozenset({"identity.name", "identity.called"}),
        r"\bmy (?:full |first |last )?name\b|\bwho am i\b|\bcall(?:ed)? me\b",
        "我(?:的名字|叫什么|姓什么|是谁)|怎么称呼我",
    ),
    (
        frozenset({"identity.city", "identity.often_in"}),
        r"\bwhere (?:do|am) i (?:live|based)|\b(?:my|home) (?:city|town)\b|\bweather\b|\bnear me\b",
        "我(?:在哪|住在?哪|住的城市)|哪个城市|天气|附近",
    ),
    (
        frozenset({"contact.address"}),
        r"\bmy (?:home |mailing |shipping )?address\b|\bdeliver(?:ed|y)? to\b|\bship (?:it|this) to\b",
        "收货地址|我的?地址|寄到哪|送到哪",
    ),
    (frozenset({"contact.phone"}), r"\bmy (?:phone|mobile|number)\b|\bcall me\b", "我的?(?:电话|手机)"),
    (frozenset({"contact.email"}), r"\bmy e-?mail\b", "我的?(?:邮箱|邮件地址)"),
    (frozenset({"contact.handle"}), r"\bmy (?:handle|account name)\b", "我的?微信"),
    (
        frozenset({"identity.occupation", "identity.workplace"}),
        r"\bmy (?:job|occupation|profession|work|employer)\b|\bwhat do i do\b|\bwhere do i work\b",
        "我的?(?:职业|工作|行业|公司|单位)|我是做什么|我在哪(?:上班|工作)",
    ),
    (frozenset({"identity.age", "identity.birthday"}), r"\bhow old am i\b|\bmy age\b", "我(?:的年龄|多大|几岁)"),
    (frozenset({"identity.birthday"}), r"\bmy birth(?:day|date)\b", "我的?(?:生日|出生)"),
    (frozenset({"identity.sex"}), r"\bmy (?:gender|sex)\b", "我的?性别"),
    (frozenset({"identity.children"}), r"\bmy (?:kids?|child(?:ren)?|son|daughter)\b", "我的?(?:孩子|儿子|女儿)"),
    (
        frozenset({"preference.diet", "health.allergy", "health.advice"}),
        r"\ballerg|\b(?:diet|eat|food|dinner|lunch|breakfast|recipes?|snacks?|dessert|menu)\b",
        "过敏|忌口|饮食|吃什么|吃点|晚饭|午饭|早饭|零食|甜品|菜谱|菜单",
    ),
    (
        frozenset({"health.condition", "health.injury", "health.limit", "health.medication"}),
        r"\b(?:health|medicine|medication|exercise|workout|training plan|symptoms?)\b",
        "健康|身体状况|吃药|用药|健身|锻炼|运动计划|症状",
    ),
    (frozenset({"preference.seat"}), r"\b(?:seat|flight|train)\b", "座位|机票|车票|高铁|航班"),
    (frozenset({"commitment.event"}), r"\bmy (?:exam|interview|appointment)\b", "我的?(?:考试|面试|预约)"),
    (frozenset({"task.budget"}), r"\bbudget\b", "预算"),
    (frozenset({"task.date"}), r"\b(?:deadline|due date|launch|go live)\b", "截止|上线|交付"),
)
_ANSWERS: Final = (
    "preference.answer_language",
    "preference.answer_length",
    "preference.answer_tone",
    "preference.answer_format",
)
_WRITING: Final = (
    r"\b(?:write|draft|reply|answer|translate|summari[sz]e|explain|compose)\b|写|起草|回复|翻译|总结|解释|润色"
)
_PATTERNS: Final = (
    *((slots, re.compile(f"{english}|{chinese}", re.IGNORECASE)) for slots, english, chinese in _CUES),
    (frozenset(_ANSWERS), re.compile(_WRITING, re.IGNORECASE)),
)


def asked_slots(query: str) -> frozenset[str]:
    """The slots, without their objects, that `query` asks about; often none. Time is bounded by `QUERY_CHARS_MAX`."""
    head = query[:QUERY_CHARS_MAX]
    asked: set[str] = set()
    for slots, pattern in _PATTERNS:
        if pattern.search(head):
            asked |= slots
    return frozenset(asked)


def is_asked(slot: str, asked: frozenset[str]) -> bool:
    """Whether `slot`, with or without an object, is among those asked for."""
    return ".".join(slot.split(".", 2)[:2]) in asked
