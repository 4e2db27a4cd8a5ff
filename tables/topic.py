"""Telling projects apart that have no task id: by the names they are given, and by what a question asks of two alike.

A topic is given by the platform with a turn, or named in it ("project Heron", 白鹭项目), or carried on from the turns
of the session before it. At recall it never adds anything: it keeps a sibling's facts out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tables.candidate import Kind
from tables.keys import digest
from tables.memory import Memory
from tables.session import WindowTurn
from tables.text import normalised, terms

MARK: Final = "topic-"
CARRIED_TURNS: Final = 6  # a project named longer ago is not what is spoken of now

_CUES: Final = ("项目", "工程", "专案", "project", "rollout", "migration", "launch")
_ZH: Final = re.compile(r"(?:(?P<v>[A-Za-z0-9]{1,12})|(?P<w>[\u4e00-\u9fff]{1,8}?))\s?(?:项目|工程|专案)")
_ZH_BEFORE: Final = re.compile(r"[的在给把跟和与及说聊问查看于续到个是有这那我做]")
_EN: Final = re.compile(
    r"\bproject (?P<v>[A-Z][\w-]{0,24}|[\"'“][\w -]{2,24}[\"'”])"
    r"|\b(?P<w>(?!(?:For|The|This|That|Our|My|In|On|About|And|Your)\b)[A-Z][\w-]{0,24})"
    r" (?:project|rollout|migration|launch)\b"
)
_NO_NAME: Final = frozenset({
    "本", "该", "此", "新", "老", "大", "小", "两", "几", "每", "哪", "各", "同一", "其他", "另一", "下", "上", "一些",
    "所有", "负责", "重点", "开源", "外包", "公司", "工作", "the", "this", "our", "my", "for", "in", "on", "about",
})  # fmt: skip
_APART: Final = frozenset({Kind.TASK, Kind.PLAN, Kind.FACT})
_ALIKE_FROM: Final = 0.4
_NUMBER: Final = re.compile(r"\d")


def named(text: str) -> frozenset[str]:
    """The projects that `text` names, normalised; none for "this project"."""
    lowered = text.lower()
    if not any(cue in lowered for cue in _CUES):
        return frozenset()
    found = [match["v"] or _ZH_BEFORE.split(match["w"])[-1] for match in _ZH.finditer(text)]
    found += [match["v"] or match["w"] for match in _EN.finditer(text)]
    return frozenset(name for name in map(normalised, found) if name and name not in _NO_NAME)


def carried(content: str, window: Sequence[WindowTurn]) -> str:
    """The one project that a turn speaks of: named by itself, else by the user's last turns; "" when none is or two.

    A name from an earlier turn is carried on as a mark only: that turn may be erased, and its words with it.
    """
    names = named(content)
    if names:
        return next(iter(names)) if len(names) == 1 else ""
    for turn in reversed(window[-CARRIED_TURNS:]):
        names = named(turn.content) if turn.role == "user" else frozenset()
        if names:
            return mark(next(iter(names))) if len(names) == 1 else ""
    return ""


def mark(name: str) -> str:
    """By which a project is known again without its name."""
    return MARK + digest("topic", normalised(name))[:12]


def topics_of(memory: Memory) -> frozenset[str]:
    return named(memory.content) or (frozenset({normalised(memory.topic)}) if memory.topic else frozenset())


def apart(memories: Iterable[Memory], query: str, topic: str) -> set[str]:
    """Ids of the memories of another project than the one that is asked about.

    A memory that names a project, or was said under a topic, is left out when the request names others only. Of two
    memories that say much the same of two things, the question naming the one leaves out the other.
    """
    known = list(memories)
    asked = named(query) or (frozenset({normalised(topic)}) if topic else frozenset())
    asked |= {mark(name) for name in asked}
    others = {m.id for m in known if asked and (own := topics_of(m)) and not own & asked and _is_of_a_project(m)}
    wanted = _words(query)
    facts = [(m, _words(m.content)) for m in known if m.kind in _APART and m.id not in others]
    for memory, words in facts:
        if any(_is_sibling(words, rival, wanted) for other, rival in facts if other is not memory):
            others.add(memory.id)
    return others


def _is_of_a_project(memory: Memory) -> bool:
    return memory.kind not in (Kind.IDENTITY, Kind.HEALTH, Kind.BOUNDARY, Kind.VALUE)


def _is_sibling(words: frozenset[str], rival: frozenset[str], wanted: frozenset[str]) -> bool:
    """Whether the rival says much the same of the thing that is asked about, and this one of another thing."""
    if not words or not rival or len(words & rival) < _ALIKE_FROM * min(len(words), len(rival)):
        return False
    return bool((rival - words) & wanted) and not (words - rival) & wanted


def _words(text: str) -> frozenset[str]:
    """Terms that tell things apart: no numbers, no single Han characters."""
    return frozenset(term for term in terms(text) if not _NUMBER.search(term) and (len(term) > 1 or term.isascii()))
