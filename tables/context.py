"""The assembled context of a recall: labelled sections of whole items inside a token budget (A9, H12, design §11.19).

Two orders: `FILL` says who gets room first, `SECTIONS` how the answer lists them. Everything here is data; how it is
put into words for a model is `tables.prompt`'s affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tables.keys import Position
from tables.question import Question, QuestionKind
from tables.ranking import Parts
from tables.session import Wish
from tables.text import tokens
from tables.trace import LeftOut, Reason


class Section(StrEnum):
    QUESTION = "question"
    KNOWLEDGE = "knowledge"
    STATE = "state"
    STABLE = "stable"
    REFERENCE = "reference"
    WINDOW = "window"
    SUMMARY = "summary"


SECTIONS: Final = tuple(Section)


class Origin(StrEnum):
    """Where an item comes from: what the caller passed in, this session, or long-term memory."""

    CALLER = "caller"
    SESSION = "session"
    MEMORY = "memory"


class Purpose(StrEnum):
    ANSWER = "answer"
    REWRITE = "rewrite"  # for a query rewriter: window, state and summary only, nothing is searched


@dataclass(frozen=True, slots=True)
class Message:
    """A recent message that the caller has and the engine may not have yet. `at` epoch ms, 0 = unknown."""

    role: str
    content: str
    at: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A piece of authoritative knowledge that the caller passes in; on facts it beats personal memory."""

    content: str
    id: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """`at` and `as_of` as the client wrote them, None when absent; `after` what the writes it waits for returned."""

    query: str
    session: str
    task: str = ""
    topic: str = ""
    messages: tuple[Message, ...] = ()
    knowledge: tuple[Knowledge, ...] = ()
    max_tokens: int | None = None
    strict: bool = False
    at: object = None
    as_of: object = None
    after: tuple[Position, ...] = ()
    purpose: Purpose = Purpose.ANSWER
    render: str = "auto"  # auto | zh | en | none


@dataclass(frozen=True, slots=True)
class Item:
    """One whole item with its labels. `key` is unique in a context; `id` is what the platform knows it by.

    kind          the memory's type, a wish's slot, or the role of who said it
    confirmation  of a memory; "said" for a turn or wish of this session, "given" for what the caller passed in
    """

    key: str
    id: str
    kind: str
    origin: Origin
    confirmation: str
    at: int
    content: str
    tokens: int
    confidence: float = 1.0
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class Offers:
    """What may go into a context, every list best first, the window oldest first."""

    question: Item
    knowledge: tuple[Item, ...] = ()
    state: tuple[Item, ...] = ()
    stable: tuple[Item, ...] = ()
    reference: tuple[Item, ...] = ()
    window: tuple[Item, ...] = ()
    summary: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Assembled:
    """`tokens` counts every section but `question` and is at most the budget."""

    sections: Mapping[Section, tuple[Item, ...]]
    tokens: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """The answer to a recall. `degraded` names what was away; then nothing of the missing part is guessed at."""

    trace_id: str
    at: int
    assembled: Assembled
    questions: tuple[Question, ...]
    max_tokens: int
    profile_version: int
    prompt: str = ""
    lang: str = "en"
    stale: bool = False
    degraded: tuple[str, ...] = ()


def assemble(offers: Offers, max_tokens: int) -> Assembled:
    """Fit `offers` into the budget in the order latest user turn, state, stable, knowledge, reference, summary, rest of
    the window; an item goes in whole or not at all, and no long-term or given text goes in twice.
    """
    filling = _Filling(max_tokens)
    window = tuple(_once(offers.window))
    latest = next((item for item in reversed(window) if item.kind == "user"), None)
    if latest is not None:
        filling.take(Section.WINDOW, [latest])
    filling.take(Section.STATE, offers.state)
    filling.take(Section.STABLE, offers.stable, distinct=True)
    filling.take(Section.KNOWLEDGE, offers.knowledge, distinct=True)
    filling.take(Section.REFERENCE, offers.reference, distinct=True)
    filling.take(Section.SUMMARY, offers.summary)
    filling.take_newest(window)
    sections: dict[Section, tuple[Item, ...]] = {Section.QUESTION: (offers.question,)}
    for section in SECTIONS[1:]:
        sections[section] = tuple(filling.taken[section])
    in_window = {item.key for item in filling.taken[Section.WINDOW]}
    sections[Section.WINDOW] = tuple(item for item in window if item.key in in_window)
    return Assembled(sections, filling.tokens, tuple(filling.left_out))


class _Filling:
    """A budget being filled."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._keys: set[str] = set()
        self._texts: set[str] = set()
        self.tokens = 0
        self.taken: dict[Section, list[Item]] = {section: [] for section in SECTIONS}
        self.left_out: list[LeftOut] = []

    def take(self, section: Section, items: Sequence[Item], *, distinct: bool = False) -> None:
        """Every item that still fits; a large one does not keep a later small one out."""
        for item in items:
            text = item.content.strip()
            if item.key in self._keys or (distinct and text in self._texts):
                self.left_out.append(LeftOut(item.key, item.kind, Reason.DUPLICATE))
            elif self._fits(section, item) and distinct:
                self._texts.add(text)

    def take_newest(self, window: Sequence[Item]) -> None:
        """The window from its newest turn back, until one does not fit: a conversation with holes misleads."""
        full = False
        for item in reversed(window):
            if item.key in self._keys:
                continue
            if full:
                self.left_out.append(LeftOut(item.key, item.kind, Reason.OVER_BUDGET))
            else:
                full = not self._fits(Section.WINDOW, item)

    def _fits(self, section: Section, item: Item) -> bool:
        if self.tokens + item.tokens > self._room:
            self.left_out.append(LeftOut(item.key, item.kind, Reason.OVER_BUDGET))
            return False
        self.tokens += item.tokens
        self._keys.add(item.key)
        self.taken[section].append(item)
        return True


def _once(items: Iterable[Item]) -> Iterable[Item]:
    seen: set[str] = set()
    for item in items:
        if item.key not in seen:
            seen.add(item.key)
            yield item


def item_of_wish(wish: Wish) -> Item:
    key = f"wish:{wish.slot}:{wish.turn}"
    return Item(key, "", wish.slot or "wish", Origin.SESSION, "said", wish.at, wish.content, tokens(wish.content))


def is_change_in(question: Question, session: str) -> bool:
    """Whether this session gave an instruction against a frozen preference: obeyed here, asked about for later."""
    return question.kind is QuestionKind.PREFERENCE_CHANGE and question.proposed.session == session != ""


def item_of_change(question: Question) -> Item:
    said = question.proposed
    return Item(
        f"change:{question.id}",
        "",
        said.kind.value,
        Origin.SESSION,
        "said",
        said.at,
        said.content,
        tokens(said.content),
    )
