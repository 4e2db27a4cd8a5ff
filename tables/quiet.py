"""Subjects that the user does not want to hear of in this session ("don't mention the exam today", 今天先别提考试)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tables.memory import Memory
from tables.session import Wish
from tables.text import normalised

_ZH: Final = re.compile(
    r"(?:别|不要|不想|先不|甭|不许)(?:再|跟我|和我|给我|老)*(?:提|说|聊|谈|讲|讨论|问)(?:起|到|及|了)?"
    r"(?P<o>[^，。！？,.!?\s]{1,12}?)(?:的?(?:事情?|话题))?(?:了|吧|啊|哈|好吗|行吗)*(?:$|[，。！？,.!?\s])"
)
_EN: Final = re.compile(
    r"\b(?:don'?t|do not|no|not|never|stop|rather not|let'?s not|skip)\s+(?:want to |wanna )?"
    r"(?:mention(?:ing)?|talk(?:ing)? about|bring(?:ing)? up|discuss(?:ing)?|ask(?:ing)? (?:me )?about|hear about)\s+"
    r"(?:the |my |our |that |this |any |about )*(?P<o>[a-z0-9][^,.!?]{0,40}?)"
    r"(?:\s+(?:today|tonight|now|for now|right now|this time|in this chat|please|again|any ?more))*\s*(?:$|[,.!?])",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'-]+")
_EMPTY: Final = frozenset("的了事情话题那这个件些我你他她它")
_IDLE: Final = frozenset({"it", "thing", "things", "stuff", "anything", "whole", "all"})


def subjects(wishes: Iterable[Wish]) -> tuple[str, ...]:
    """What the wishes of a session ask to be silent about, normalised."""
    found = (match["o"] for wish in wishes for pattern in (_ZH, _EN) for match in pattern.finditer(wish.content))
    return tuple(dict.fromkeys(normalised(one) for one in found))


def is_about(memory: Memory, subject: str) -> bool:
    """Whether `memory` speaks of `subject`: every telling word, or every Han character, of it stands there."""
    content = normalised(f"{memory.subject} {memory.content}")
    words = [word.rstrip("s") for word in _WORD.findall(subject) if word not in _IDLE]
    chars = [char for char in subject if "\u3400" <= char <= "\u9fff" and char not in _EMPTY]
    if not words and len(chars) < 2:
        return bool(chars) and subject in content
    return all(word in content for word in words) and all(char in content for char in chars)
