"""Dimensions: which facts say the same, and which cannot be true at the same time (H5, A10, H9).

A single-valued slot holds one affirmed value at a time (one home town) but any number of denials ("not Paris, not
Rome"): a denial contradicts only the affirmation of the very value that it denies. On a slot of many values each value
is a dimension of its own, and its affirmation and its denial contradict each other. So polarity is compared always,
and unrelated facts never retire each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from tables.book import Entry
from tables.candidate import Candidate, Kind, Polarity
from tables.keys import digest
from tables.memory import Memory, State, Status
from tables.question import Question, QuestionKind
from tables.text import normalised

OF_THE_USER: Final = frozenset({Kind.IDENTITY, Kind.HEALTH, Kind.BOUNDARY, Kind.VALUE})
"""Kinds that belong to the user wherever they were said; of the others the candidate's own task decides."""


class Fact(Protocol):
    """What two facts are compared by: candidates and memories both have it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def task(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def slot(self) -> str: ...
    @property
    def single(self) -> bool: ...
    @property
    def value(self) -> str: ...
    @property
    def polarity(self) -> Polarity: ...


def owning_task(fact: Fact) -> str:
    """The task that a fact belongs to, "" for the user's own (design §4)."""
    return "" if fact.kind in OF_THE_USER else fact.task


class Worded(Fact, Protocol):
    @property
    def content(self) -> str: ...


def is_open(fact: Worded) -> bool:
    """Whether no rule has read a value in it: its value is all that was said, so only its meaning can be compared."""
    return fact.value == normalised(fact.content)


def dimension(fact: Fact) -> str:
    """Digest of (task, subject, slot), and of the value too where a slot holds many: one current memory each."""
    narrow = (fact.value,) if not fact.single or fact.polarity is Polarity.NEGATIVE else ()
    side = "denied" if fact.single and narrow else ""
    return digest("dimension", owning_task(fact), fact.subject, fact.slot, side, *narrow)


def conclusion(fact: Fact, polarity: Polarity | None = None) -> str:
    """Digest of what a fact says; `polarity` asks for the same fact with that polarity."""
    side = polarity if polarity is not None else fact.polarity
    return digest("conclusion", owning_task(fact), fact.subject, fact.slot, fact.value, side.value)


def opposite(polarity: Polarity) -> Polarity:
    return Polarity.NEGATIVE if polarity is Polarity.POSITIVE else Polarity.POSITIVE


@dataclass(frozen=True, slots=True)
class Standing:
    """How a fact stands to what a book holds at a time.

    same    the active entry of the same conclusion, a committed one before a draft
    kin     every entry of the same conclusion, history included
    rivals  active, no drafts: cannot be true together with the fact
    drafts  active drafts that cannot be true together with the fact
    lapsed  entries of any of these whose said end lies at or before the time: no longer current
    doubted active entries that by their meaning may not fit together with the fact
    """

    same: Entry | None
    kin: tuple[Entry, ...]
    rivals: tuple[Entry, ...]
    drafts: tuple[Entry, ...]
    lapsed: tuple[Entry, ...]
    doubted: tuple[Entry, ...] = ()


def standing(fact: Fact, entries: Mapping[str, Entry], at: int) -> Standing:
    own, mine, against = dimension(fact), conclusion(fact), conclusion(fact, opposite(fact.polarity))
    near = [e for e in entries.values() if e.dimension == own or e.conclusion == against or e.conclusion == mine]
    active = [e for e in near if e.status is Status.ACTIVE]
    lapsed = tuple(e for e in active if 0 < e.expires_at <= at)
    live = [e for e in active if e not in lapsed]
    same = sorted((e for e in live if e.conclusion == mine), key=lambda e: (e.state is State.DRAFT, e.id))
    others = [e for e in live if e.conclusion != mine]
    return Standing(
        same=same[0] if same else None,
        kin=tuple(e for e in near if e.conclusion == mine),
        rivals=tuple(e for e in others if e.state is not State.DRAFT),
        drafts=tuple(e for e in others if e.state is State.DRAFT),
        lapsed=lapsed,
    )


def is_older(candidate: Candidate, memory: Memory) -> bool:
    """Whether `candidate` was said before `memory` was last: then it never supersedes it (design §11.6).

    Records come in log order, so of two statements of one time the one that comes later is the newer; inside one
    turn the later clause is, then the greater id.
    """
    if candidate.at != memory.last_mentioned_at:
        return candidate.at < memory.last_mentioned_at
    if not memory.sources or memory.sources[0].turn != candidate.turn:
        return False
    return (candidate.span, candidate.id) < (memory.span, memory.id)


_TEXTS: Final[Mapping[tuple[QuestionKind, bool], str]] = {
    (QuestionKind.CONTRADICTION, True): "我记得你说过：“{held}”，刚才你说：“{said}”。要按新的说法改吗？",
    (QuestionKind.CONTRADICTION, False): "I have noted: “{held}”. You now said: “{said}”. Should I change it?",
    (QuestionKind.PREFERENCE_CHANGE, True): "你一直是：“{held}”，刚才你说：“{said}”。以后都按新的来吗？",
    (QuestionKind.PREFERENCE_CHANGE, False): "So far it was: “{held}”. You now said: “{said}”. Is that for good?",
    (QuestionKind.SUSPECTED, True): "“{held}”和“{said}”可能有矛盾。以新的说法为准吗？",
    (QuestionKind.SUSPECTED, False): "“{held}” and “{said}” may not fit together. Does the new one hold?",
}
_WRONG_TEXTS: Final = {
    True: "你说这条记得不对：“{held}”。要去掉它吗？",
    False: "You say this is wrong: “{held}”. Should I drop it?",
}


def question_id(held: Memory, proposed: Fact) -> str:
    """The same contradiction of the same memory is the same question."""
    return digest("question", held.id, conclusion(proposed))


def ask(kind: QuestionKind, held: Memory, proposed: Candidate, at: int) -> Question:
    """The question whether `proposed` replaces `held` (H9), in the language of the held memory.

    A `proposed` without content asks whether `held` is wrong.
    """
    chinese = held.lang.startswith("zh")
    form = _TEXTS.get((kind, chinese)) or _TEXTS[QuestionKind.CONTRADICTION, chinese]
    text = (form if proposed.content else _WRONG_TEXTS[chinese]).format(held=held.content, said=proposed.content)
    return Question(question_id(held, proposed), kind, held.id, held.content, proposed, text, held.lang, at)
