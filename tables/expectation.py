"""What a scenario expects of an answer, and whether an answer holds it: pure, one item's content at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Want(StrEnum):
    """The kinds of expectation, by their key in a scenario file."""

    USE = "use"
    IGNORE = "ignore"
    STABLE = "stable"
    REFERENCE = "reference"
    WINDOW = "window"
    STATE = "state"
    SUMMARY = "summary"
    ASK = "ask"
    ASK_NOTHING = "ask: []"
    EMPTY = "empty"
    MAX_TOKENS = "max_tokens"
    HAS = "has"
    LACKS = "lacks"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


SECTIONED: Final = frozenset({Want.STABLE, Want.REFERENCE, Want.WINDOW, Want.STATE, Want.SUMMARY})
RECALLED: Final = frozenset({Want.USE, *SECTIONED})
USED: Final = frozenset({*RECALLED, Want.HAS, Want.AT_LEAST, Want.AT_MOST})
AVOIDED: Final = frozenset({Want.IGNORE, Want.LACKS})
LONG_TERM: Final = frozenset({"stable", "reference"})
UNSEEN: Final = frozenset({"question", "knowledge"})  # what the caller passed in is not what the engine remembered
_CONTEXT: Final = frozenset(section.value for section in SECTIONED)
_SHOWN_CHARS: Final = 120
_SHOWN_ITEMS: Final = 6


@dataclass(frozen=True, slots=True)
class Expectation:
    """`pattern` for those that match contents, `number` for the counts."""

    want: Want
    pattern: str = ""
    number: int = 0

    def __str__(self) -> str:
        match self.want:
            case Want.ASK_NOTHING:
                return self.want.value
            case Want.EMPTY:
                return "empty: true"
            case Want.MAX_TOKENS | Want.AT_LEAST | Want.AT_MOST:
                return f"{self.want.value}: {self.number}"
            case _:
                return f"{self.want.value}: {self.pattern}"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an assembled context. `own`: of the user's own, no marked public default."""

    section: str
    content: str
    tokens: int
    own: bool = True


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer to a recall. A refused one is empty, and `remark` says so.

    items      whatever its section, the live question left out
    questions  the texts of each question that the answer asks: what is asked, what is held, what was said instead
    open       how many questions are open, guided ones not counted
    """

    items: tuple[Item, ...] = ()
    questions: tuple[tuple[str, ...], ...] = ()
    open: int = 0
    trace_id: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """The answer to a list: the contents of the memories shown."""

    contents: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation against an answer; `got` is told of a failed one."""

    expectation: Expectation
    held: bool
    got: str = ""


def check_recall(expected: Sequence[Expectation], answer: Recalled) -> tuple[Check, ...]:
    """Every expectation of a recall, in their order."""
    return tuple(_checked(one, *_recall_holds(one, answer), answer.remark) for one in expected)


def check_list(expected: Sequence[Expectation], answer: Listed) -> tuple[Check, ...]:
    """Every expectation of a list, in their order."""
    return tuple(_checked(one, *_list_holds(one, answer), answer.remark) for one in expected)


def relevant(expected: Sequence[Expectation], answer: Recalled) -> tuple[int, int]:
    """(long-term items that match a `use`-type expectation, long-term items) of a recall with `use`; else (0, 0)."""
    if not any(one.want is Want.USE for one in expected):
        return 0, 0
    returned = [item for item in answer.items if item.section in LONG_TERM]
    wanted = [one for one in expected if one.want in RECALLED]
    hits = [i for i in returned if any(_looks_at(one, i) and re.search(one.pattern, i.content) for one in wanted)]
    return len(hits), len(returned)


def _checked(expectation: Expectation, held: bool, got: str, remark: str) -> Check:
    return Check(expectation, held, "" if held else "; ".join(part for part in (remark, got) if part))


def _recall_holds(expectation: Expectation, answer: Recalled) -> tuple[bool, str]:
    return _RECALL[expectation.want](expectation, answer)


def _looks_at(expectation: Expectation, item: Item) -> bool:
    """`use` looks at the five sections of the format, a section's own expectation at that section."""
    if expectation.want is Want.USE:
        return item.section in _CONTEXT
    return item.section == expectation.want.value


def _used(expectation: Expectation, answer: Recalled) -> tuple[bool, str]:
    looked = [item for item in answer.items if _looks_at(expectation, item)]
    held = any(re.search(expectation.pattern, item.content) for item in looked)
    shown = answer.items if expectation.want is Want.USE else looked
    return held, "" if held else _items_shown([item for item in shown if item.section not in UNSEEN])


def _ignored(expectation: Expectation, answer: Recalled) -> tuple[bool, str]:
    seen = [item for item in answer.items if item.section not in UNSEEN]
    found = [item for item in seen if re.search(expectation.pattern, item.content)]
    return not found, _items_shown(found)


def _asked(expectation: Expectation, answer: Recalled) -> tuple[bool, str]:
    held = any(re.search(expectation.pattern, text) for texts in answer.questions for text in texts)
    return held, "" if held else _listed([texts[0] for texts in answer.questions if texts], "no question")


def _asked_nothing(_: Expectation, answer: Recalled) -> tuple[bool, str]:
    texts = [texts[0] for texts in answer.questions if texts]
    return not answer.open, _listed(texts, f"{answer.open} open questions")


def _empty(_: Expectation, answer: Recalled) -> tuple[bool, str]:
    own = [item for item in answer.items if item.section in LONG_TERM and item.own]
    return not own, _items_shown(own)


def _fits(expectation: Expectation, answer: Recalled) -> tuple[bool, str]:
    total = sum(item.tokens for item in answer.items)
    return total <= expectation.number, f"{total} tokens"


_RECALL: Final[Mapping[Want, Callable[[Expectation, Recalled], tuple[bool, str]]]] = {
    **dict.fromkeys(RECALLED, _used),
    Want.IGNORE: _ignored,
    Want.ASK: _asked,
    Want.ASK_NOTHING: _asked_nothing,
    Want.EMPTY: _empty,
    Want.MAX_TOKENS: _fits,
}


def _list_holds(expectation: Expectation, answer: Listed) -> tuple[bool, str]:
    contents = answer.contents
    match expectation.want:
        case Want.HAS:
            return any(re.search(expectation.pattern, one) for one in contents), _listed(contents, "nothing")
        case Want.LACKS:
            found = [one for one in contents if re.search(expectation.pattern, one)]
            return not found, _listed(found, "")
        case Want.AT_LEAST:
            return len(contents) >= expectation.number, f"{len(contents)}: {_listed(contents, 'nothing')}"
        case Want.AT_MOST:
            return len(contents) <= expectation.number, f"{len(contents)}: {_listed(contents, 'nothing')}"
        case _:
            raise ValueError(f"a list has no {expectation.want}")


def _items_shown(items: Iterable[Item]) -> str:
    return _listed([f"{item.section}: {item.content}" for item in items], "nothing")


def _listed(texts: Sequence[str], nothing: str) -> str:
    shown = [one if len(one) <= _SHOWN_CHARS else f"{one[:_SHOWN_CHARS]}…" for one in texts[:_SHOWN_ITEMS]]
    more = [f"and {len(texts) - _SHOWN_ITEMS} more"] if len(texts) > _SHOWN_ITEMS else []
    return " | ".join([*shown, *more]) or nothing
