"""The write side scored: what became memory of a chat whose turns say what should have (`keep`, `drop`, `third`)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tables.errors import InvalidRecord
from tables.scenario import BadScenario
from tables.text import normalised
from tables.turn import parse_time


class Label(StrEnum):
    KEEP = "keep"
    DROP = "drop"
    THIRD = "third"  # a third party's fact: counts neither way
    NONE = ""


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """A line of a chat. `values`: patterns of what is to be kept of it; `at` epoch ms, `said_at` as written."""

    id: str
    lang: str
    user: str
    session: str
    role: str
    at: int
    said_at: str
    text: str
    label: Label
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory that was active at the end of a session; `sources` are ids of turns, `current`: it still is at last."""

    user: str
    subject: str
    slot: str
    value: str
    content: str
    sources: tuple[str, ...]
    current: bool = True


@dataclass(frozen=True, slots=True)
class WriteScores:
    """turns, stored and duplicates are counts, the others shares (junk 0, recall and values_found 1 of nothing)."""

    turns: int
    stored: int
    junk: float
    recall: float
    values_found: float
    duplicates: int


_TEXTS: Final = ("id", "lang", "user", "session", "role", "at", "text")


def parse_chat_turn(data: object, where: str) -> ChatTurn:
    """The turn of one line. Raises BadScenario, `where` first."""
    if not isinstance(data, Mapping):
        raise BadScenario(where, "a JSON object is wanted")
    for key in _TEXTS:
        if not isinstance(data.get(key), str):
            raise BadScenario(where, f"{key}: a text is wanted")
    label = data.get("label") or ""
    if label not in set(Label):
        raise BadScenario(where, f"label: {label!r} is none of keep, drop, third")
    values = data.get("values") or []
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise BadScenario(where, "values: a list of texts is wanted")
    try:
        at, _ = parse_time(data["at"], "at")
        for value in values:
            re.compile(value)
    except (InvalidRecord, re.error) as error:
        raise BadScenario(where, str(error)) from None
    texts = {key: data[key] for key in _TEXTS if key != "at"}
    return ChatTurn(**texts, at=at, said_at=data["at"], label=Label(label), values=tuple(values))


def write_scores(turns: Sequence[ChatTurn], stored: Sequence[Stored]) -> dict[str, WriteScores]:
    """The scores of each language. A memory belongs to the language of the first turn that it rests on."""
    langs = dict.fromkeys(turn.lang for turn in turns)
    said = {(turn.user, turn.id): turn for turn in turns}
    grouped: dict[str, list[Stored]] = {lang: [] for lang in langs}
    for memory in stored:
        sources = _sources(memory, said)
        if sources:
            grouped[sources[0].lang].append(memory)
    return {lang: _scores([turn for turn in turns if turn.lang == lang], grouped[lang], said) for lang in langs}


def _scores(
    turns: Sequence[ChatTurn], stored: Sequence[Stored], said: Mapping[tuple[str, str], ChatTurn]
) -> WriteScores:
    labels = [{turn.label for turn in _sources(memory, said)} for memory in stored]
    counted = [found for found in labels if found != {Label.THIRD}]
    junk = sum(Label.DROP in found and Label.KEEP not in found for found in counted)
    keep = [turn for turn in turns if turn.label is Label.KEEP]
    kept = {(turn.user, turn.id): [m for m in stored if m.user == turn.user and turn.id in m.sources] for turn in keep}
    values = [(turn, value) for turn in keep for value in turn.values]
    found = sum(any(re.search(value, m.content) for m in kept[turn.user, turn.id]) for turn, value in values)
    return WriteScores(
        turns=len(turns),
        stored=len(stored),
        junk=junk / len(counted) if counted else 0.0,
        recall=sum(map(bool, kept.values())) / len(kept) if kept else 1.0,
        values_found=found / len(values) if values else 1.0,
        duplicates=duplicates([memory for memory in stored if memory.current]),
    )


def duplicates(stored: Sequence[Stored]) -> int:
    """How many memories say again what another of the same user says: the same content, or subject, slot and value."""
    seen: set[Hashable] = set()
    again = 0
    for memory in stored:
        content = (memory.user, normalised(memory.content))
        value = (memory.user, normalised(memory.subject), memory.slot, normalised(memory.value))
        again += content in seen or value in seen
        seen |= {content, value}
    return again


def _sources(memory: Stored, said: Mapping[tuple[str, str], ChatTurn]) -> list[ChatTurn]:
    return [said[memory.user, one] for one in memory.sources if (memory.user, one) in said]
