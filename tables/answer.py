"""Answers that need the question before them: "What city are you in?" – "Leeds".

The assistant's question only says which slot is spoken of, from a closed list; value and content are the user's own
words, and a plain yes, no or "don't know" says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tables.candidate import SELF, Candidate, Confirmation, Polarity
from tables.extractive_frames import is_request
from tables.keys import memory_id
from tables.sensitive import gravest, sensitivity
from tables.session import WindowTurn
from tables.slots import slot_of, task_of
from tables.text import language, normalised, tokens
from tables.turn import Role, Turn
from tables.worth import asks

ANSWER_TOKENS: Final = 16  # a longer answer is a statement of its own
QUESTION_CHARS: Final = 300
CONFIDENCE: Final = 0.85

_QUESTIONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (slot, re.compile(f"{chinese}|{english}", re.IGNORECASE))
    for slot, chinese, english in (
        (
            "identity.name",
            r"怎么称呼|(?:您|你)(?:叫什么|贵姓|的名字)",
            r"\bwhat(?:'s| is) your name\b|\bwhat (?:should|shall|can|may) i call you\b",
        ),
        (
            "identity.city",
            r"(?:您|你)(?:现在)?(?:在|住在?)(?:哪|什么)(?:个|座)?(?:城市|里|儿|地方)",
            r"\b(?:where|which city|what city) (?:do you live|are you (?:based|living|in))\b",
        ),
        (
            "identity.occupation",
            r"(?:您|你)(?:是)?(?:做什么|从事什么)(?:工作|职业|行业)?",
            r"\bwhat do you do (?:for a living|for work)\b|\bwhat(?:'s| is) your (?:job|occupation|profession)\b",
        ),
        ("identity.birthday", r"(?:您|你)的?生日(?:是)?(?:哪天|几号|什么时候)", r"\bwhen(?:'s| is) your birthday\b"),
        ("identity.native_language", r"(?:您|你)的母语是", r"\bwhat(?:'s| is) your (?:native|first) language\b"),
        (
            "health.allergy",
            r"(?:对什么|有(?:没有)?(?:什么|哪些)?(?:食物)?)过敏|(?:什么|哪些)(?:不能吃|忌口)|有什么忌口",
            r"\bwhat are you allergic to\b|\bany (?:food )?allergies\b",
        ),
        (
            "health.medication",
            r"(?:在吃|服用)(?:什么|哪些)药",
            r"\bwhat (?:medication|medicines?) (?:are you (?:on|taking)|do you take)\b",
        ),
        ("preference.seat", r"靠窗还是(?:靠)?过道", r"\b(?:aisle or window|window or aisle)\b"),
        (
            "preference.answer_language",
            r"(?:用|以)(?:什么|哪种)语言(?:回答|回复|交流)",
            r"\b(?:which|what) language (?:should|shall|do you want me to) (?:i )?(?:answer|reply|use|write)\b",
        ),
        ("preference.units", r"公制还是英制", r"\bmetric or imperial\b|\bmiles or (?:km|kilomet(?:re|er)s)\b"),
        (
            "preference.channel",
            r"(?:怎么|用什么方式)联系(?:您|你)",
            r"\bhow (?:should|do you want) (?:we|us to|i) (?:contact|reach) you\b",
        ),
        (
            "contact.address",
            r"(?:收货|寄送|家庭)?地址(?:是)?(?:哪|什么|在哪)",
            r"\bwhat(?:'s| is) your (?:home |delivery |mailing )?address\b",
        ),
    )
)
_NOTHING: Final = re.compile(
    r"(?:是的?|对的?|好的?|嗯+|不是|不|没有?|没|都行|随便|不知道|不清楚|不告诉你|算了|保密|无|都可以|看情况)[啊吧了的呢哦。!！~]*"
    r"|(?:yes|no|nope|yeah|yep|none|nothing|nah|sure|ok(?:ay)?|either|any(?:thing)?|both|whatever|no idea|i don'?t know"
    r"|dunno|not sure|maybe|it depends|rather not say|none of your business|never mind|skip|no preference)[.! ]*",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(
    r"^(?:(?:well|oh|um|just|so|it'?s|i'?m|i am|my name is|call me|in|on|to|the|a|an|from)\b[ ,]*)+"
    r"|^(?:嗯|哦|那|就|叫我|我叫|我是|我在|我住在?|我|叫|是|在|住在?)+",
    re.IGNORECASE,
)
_CLOSES: Final = re.compile(r"(?:过敏|就行|就好|吧|呢|啊|哈|哦|please|thanks|thank you)+[.!。！~ ]*$", re.IGNORECASE)


def question_before(window: Sequence[WindowTurn]) -> str:
    """What the assistant asked right before the last turn of `window`, as far as one of the slots is asked for."""
    if len(window) < 2 or window[-2].role != Role.ASSISTANT:
        return ""
    asked = window[-2].content[-QUESTION_CHARS:]
    return asked if _slot(asked) else ""


def answered(turn: Turn) -> Candidate | None:
    """The fact that a bare answer gives to the question before it; None when it gives none."""
    slot = _slot(turn.asked) if turn.asked else ""
    content = turn.content.strip()
    zh = language(content) == "zh"
    if not slot or turn.role is not Role.USER or tokens(content) > ANSWER_TOKENS:
        return None
    if _NOTHING.fullmatch(content) or asks(content) or is_request(content, zh):
        return None
    value = normalised(_CLOSES.sub("", _OPENS.sub("", content, count=1), count=1))
    if not value:
        return None
    entry = slot_of(slot)
    start = turn.content.index(content)
    return Candidate(
        id=memory_id(turn.key, SELF, slot, value, Polarity.POSITIVE.value),
        scope=turn.scope,
        session=turn.session,
        task=task_of(entry.kind, turn.task),
        topic=turn.topic,
        kind=entry.kind,
        subject=SELF,
        slot=slot,
        single=entry.single,
        value=value,
        polarity=Polarity.POSITIVE,
        content=content,
        span=(start, start + len(content)),
        expires_at=0,
        confidence=CONFIDENCE,
        explicit=True,
        importance=entry.importance,
        confirmation=Confirmation.STATED,
        sensitivity=gravest(entry.sensitivity, sensitivity(content)),
        lang=turn.lang or language(content),
        turn=turn.key,
        turn_id=turn.id,
        at=turn.at,
        position=turn.position,
    )


def _slot(question: str) -> str:
    return next((slot for slot, pattern in _QUESTIONS if pattern.search(question)), "")
