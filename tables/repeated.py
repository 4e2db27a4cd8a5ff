"""By which words a turn is known to repeat what an erased memory said (FORMAT rule 12).

A value that a rule has read is known by itself ("peanuts"), as far as its clause goes. Where the value is a whole
statement nobody repeats it word for word ("on sertraline for depression" comes back as "you take sertraline"), so its
telling words stand for it: long or numbered words, pairs of Han characters none of which is a function word. That errs
on the side of erasing: a window turn too many goes, none that names the erased thing stays.
"""

from __future__ import annotations

import re
from typing import Final

from tables.conflict import is_open
from tables.memory import Memory
from tables.text import normalised

LATIN_MIN: Final = 6  # letters of a word that tells
PHRASE_MIN: Final = 2  # a value of one letter or digit stands in every other turn
STEM_MIN: Final = 4  # from here on "peanut" is also found in "peanuts"
HAN_MIN: Final = 2

_PARTS: Final = re.compile(r"[，。,;；！!？?\n]|\.\s")
_LATIN: Final = re.compile(r"[a-z][a-z'-]+|[a-z]*\d[\w.,:-]*")
_HAN: Final = re.compile("[\u3400-\u9fff]+")
_FUNCTION: Final = frozenset(
    "我你您他她它们的地得了着过在是有不没吃喝要用去来到上下里个一二三两这那哪什么怎样么吗呢吧啊哦哈就都也还又再只很太更最点些会能可以把被给跟和与或但因为所以如果"
    "对从向让叫说想看做每天今明昨早晚年月日周号时分后前中大小多少好请帮记住别以现已经平常一般总是喜欢爱讨厌"
)
_COMMON: Final = frozenset({
    "please", "always", "really", "usually", "should", "would", "could", "because", "before", "after", "again",
    "another", "anything", "something", "everything", "nothing", "around", "between", "better", "coming", "during",
    "either", "enough", "every", "everyone", "family", "friend", "friends", "getting", "going", "having", "house",
    "including", "instead", "little", "living", "looking", "making", "maybe", "minutes", "moment", "month", "months",
    "morning", "evening", "afternoon", "tonight", "today", "tomorrow", "yesterday", "myself", "number", "people",
    "person", "pretty", "prefer", "question", "rather", "remember", "remind", "since", "still", "taking", "thanks",
    "there", "these", "thing", "things", "think", "those", "though", "through", "trying", "together", "under", "until",
    "using", "wanted", "weekend", "weeks", "where", "which", "while", "whole", "without", "working", "years", "answer",
    "answers", "favourite", "favorite", "never", "about", "other", "only", "monday", "tuesday", "wednesday",
    "thursday", "friday", "saturday", "sunday", "moved", "called", "started", "currently", "actually",
})  # fmt: skip


def tells_of(memory: Memory) -> tuple[str, ...]:
    """Pieces of normalised text: a turn that holds one of them repeats `memory`."""
    phrases = [text for text in (normalised(memory.content), normalised(memory.value)) if _is_long(text)]
    value = "" if is_open(memory) else normalised(memory.value)
    parts = [part for part in _PARTS.split(memory.content) if not value or value not in normalised(part)]
    return tuple(dict.fromkeys((*phrases, *(word for part in parts for word in telling(part)))))


def telling(content: str) -> tuple[str, ...]:
    """The words of a statement that are rare enough to know it by."""
    text = normalised(content)
    latin = [w for w in _LATIN.findall(text) if w not in _COMMON and (len(w) >= LATIN_MIN or _numbered(w))]
    pairs = [run[n : n + 2] for run in _HAN.findall(text) for n in range(len(run) - 1)]
    return tuple(dict.fromkeys((*latin, *(pair for pair in pairs if _FUNCTION.isdisjoint(pair)))))


def repeats(text: str, tells: tuple[str, ...]) -> bool:
    """Whether `text`, as said, holds one of `tells`."""
    if not tells:
        return False
    folded = normalised(text)
    return any(tell in folded and _stands_alone(tell, folded) for tell in tells)


def _stands_alone(tell: str, text: str) -> bool:
    """Latin words begin where a word does; short ones end there too. Han is found anywhere."""
    if not tell.isascii():
        return True
    end = r"(?![a-z0-9])" if len(tell) < STEM_MIN else ""
    return re.search(rf"(?<![a-z0-9]){re.escape(tell)}{end}", text) is not None


def _numbered(word: str) -> bool:
    return len(word) >= 3 and any(char.isdigit() for char in word)


def _is_long(text: str) -> bool:
    return len(text) >= (PHRASE_MIN if text.isascii() else HAN_MIN)
