"""From what a language model says of a turn to candidates: the model proposes, our laws decide.

Whatever it answers: a role that is no user's, an instruction to the system, text of the engine's own prompt, a business
system's facts, what follows "translate this:", a wish for this session and refused classes never become a candidate.
A candidate shows the turn's own words at the span quoted, and its subject, object and value are words of the turn or
names of our closed lists: nothing that only the model said is stored. Its confidence never makes a fact explicit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.dates import Said, days_said, end_of_day
from tables.extractive import GUESSED, SENTENCES_MAX, Extraction, expires_at, extract, refused
from tables.extractive_clauses import clauses
from tables.extractive_frames import is_hedged
from tables.extractive_judge import HARD, OPEN_SLOTS
from tables.extractive_read import FAMILY_KIND
from tables.extractive_values import about, is_task_marked
from tables.frozen import DRAFT_BELOW
from tables.keys import memory_id
from tables.openai_prompt import Lasts
from tables.openai_quote import Span, Text
from tables.policy import Policy
from tables.sensitive import gravest, masked, sensitivity
from tables.slots import SLOTS, slot_of, task_of
from tables.text import language, normalised, sentences, tokens
from tables.turn import LATEST_MS, Turn
from tables.worth import AUTHORITATIVE, Drop, is_instruction, screen

CONFIDENCE_MAX: Final = 0.9  # a model is never surer than a clear statement read by a rule
SUBJECT_CHARS_MAX, OBJECT_CHARS_MAX = 40, 40  # a name for somebody or something, not a sentence about it
_DENIES: Final = re.compile(
    r"(?<!差)不(?![过仅但只光管论]|好意思|客气)|没(?![事错]|关系|问题)|(?<![特区告分])别(?![人的])|非(?!常)|勿|未(?!来)|讨厌|戒"
    r"|\b(?:not(?! only)|no|never|cannot|without|hardly|stop(?:ped)?|quit|used to|hate|dislike|avoid)\b|n['’]?t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as the model states it: nothing in it is believed yet."""

    kind: Kind
    subject: str
    slot: str
    object: str
    value: str
    polarity: Polarity
    time: Lasts
    until: date | None
    confidence: float
    quote: str


class Verdict(StrEnum):
    """What became of a fact: the closed set."""

    KEPT = "kept"
    UNSUPPORTED = "unsupported"  # its quote, or its subject, is not in the turn
    HARD_LAW = "hard_law"
    SENSITIVE_REFUSED = "sensitive_refused"
    TOO_LONG = "too_long"
    SESSION_WISH = "session_wish"
    REPEATED = "repeated"  # the same conclusion a second time


@dataclass(frozen=True, slots=True)
class Reading:
    """Candidates in the order of the turn, and a verdict for each fact in the order given."""

    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]


class Source:
    """A turn as a model may read it. `text` is what may be seen outside: what the tenant refuses is covered in it."""

    def __init__(self, turn: Turn, policy: Policy) -> None:
        self.turn = turn
        self.policy = policy
        self.text = masked(turn.content, policy)
        self.ruled: dict[str, Candidate] = {}
        self.quoted = Text(self.text, [(0, len(self.text))])
        if screen(turn, consent=True) not in (Drop.ASSISTANT, Drop.INJECTED):
            extraction = extract(turn, policy)
            self.ruled = {candidate.id: candidate for candidate in extraction.candidates}
            self.quoted = Text(self.text, _closed(turn.content, extraction))

    @property
    def is_open(self) -> bool:
        """Whether there is a sentence that may give a candidate; if not, no model need be asked."""
        spans = sentences(self.turn.content)[:SENTENCES_MAX]
        return not all(self._is_shut(span) for span in spans)

    def _is_shut(self, span: Span) -> bool:
        return any(start <= span[0] and span[1] <= end for start, end in self.quoted.closed)


def read(source: Source, facts: Sequence[Fact]) -> Reading:
    """The candidates that the laws leave of `facts`; the same facts of the same turn give the same candidates."""
    found: dict[str, Candidate] = {}
    verdicts: list[Verdict] = []
    for fact in facts:
        one = _judged(source, fact)
        if isinstance(one, Candidate):
            verdicts.append(Verdict.REPEATED if one.id in found else Verdict.KEPT)
            found.setdefault(one.id, one)
        else:
            verdicts.append(one)
    return Reading(tuple(sorted(found.values(), key=lambda c: c.span)), tuple(verdicts))


def _closed(content: str, extraction: Extraction) -> list[Span]:
    """Spans that give no candidate: sentences under a hard law, foreign text, wishes, and what lies beyond a turn."""
    spans = sentences(content)
    hard = [drop.span[0] for drop in extraction.drops if drop.reason in HARD]
    shut = [(start, end) for start, end in spans[:SENTENCES_MAX] if any(start <= at < end for at in hard)]
    shut += extraction.foreign
    shut += [(at, at + len(w.content)) for w in extraction.wishes if (at := content.find(w.content)) >= 0]
    if len(spans) > SENTENCES_MAX:
        shut.append((spans[SENTENCES_MAX][0], len(content)))
    return shut


def _judged(source: Source, fact: Fact) -> Candidate | Verdict:
    if fact.time is Lasts.SESSION:
        return Verdict.SESSION_WISH
    span = source.quoted.place(fact.quote)
    subject = _subject(source, fact.subject)
    if span is None or subject is None:
        return Verdict.UNSUPPORTED
    clause = _clause(source.text, span)
    denied = _DENIES.search(source.text[clause[0] : span[0]]) is not None
    if denied and fact.polarity is Polarity.POSITIVE:
        return Verdict.UNSUPPORTED  # the clause says no where the quote says yes
    bare = normalised(fact.quote) == normalised(fact.value)
    whole = clause if bare else (clause[0], span[1]) if denied else span  # a "not" is never cut off
    content = source.turn.content[slice(*whole)]
    if source.quoted.touches_closed(whole) or _is_forbidden(content) or _is_forbidden(subject):
        return Verdict.HARD_LAW
    if tokens(content) > source.policy.item_tokens:
        return Verdict.TOO_LONG
    candidate = _candidate(source, fact, whole, subject)
    if refused(source.policy, candidate.sensitivity) or refused(source.policy, sensitivity(subject)):
        return Verdict.SENSITIVE_REFUSED
    return candidate


def _subject(source: Source, said: str) -> str | None:
    """ "self", or the turn's own word for somebody else; None when it is neither."""
    if normalised(said) == SELF:
        return SELF
    span = source.quoted.place(said) if len(said) <= SUBJECT_CHARS_MAX else None
    if span is None or source.quoted.touches_closed(span):
        return None
    return normalised(source.turn.content[slice(*span)])


def _clause(text: str, span: Span) -> Span:
    """The clause that `span` begins in, and as far as `span` goes; `span` itself when it begins with one."""
    for start, end in sentences(text):
        if start <= span[0] < end:
            for first, last in clauses(text, start, end, language(text[start:end]) == "zh"):
                if first <= span[0] < last:
                    return first, max(last, span[1])
    return span


def _is_forbidden(words: str) -> bool:
    return is_instruction(words.lower()) or any(pattern.search(words) for pattern in AUTHORITATIVE.values())


def _candidate(source: Source, fact: Fact, span: Span, subject: str) -> Candidate:
    turn = source.turn
    content = turn.content[slice(*span)]
    slot = _slot(fact, subject, content)
    entry = slot_of(slot)
    kind = fact.kind if subject == SELF else FAMILY_KIND
    said = days_said(content, turn.at, turn.zone_minutes)
    value, polarity = _value(fact, slot, content, said)
    known = memory_id(turn.key, subject, slot, value, polarity.value)
    ruled = source.ruled.get(known)
    confidence = _confidence(fact, content)
    return Candidate(
        id=known,
        scope=turn.scope,
        session=turn.session,
        task=task_of(kind, turn.task, is_task_marked(content)),
        topic=turn.topic,
        kind=kind,
        subject=subject,
        slot=slot,
        single=entry.single,
        value=value,
        polarity=polarity,
        content=content,
        span=span,
        expires_at=_expires_at(fact, kind, said, turn),
        confidence=confidence,
        explicit=ruled is not None and ruled.explicit and confidence >= DRAFT_BELOW,  # the closed rules alone say so
        importance=entry.importance,
        confirmation=Confirmation.STATED if confidence >= DRAFT_BELOW else Confirmation.INFERRED,
        sensitivity=_sensitivity(fact.kind, entry.sensitivity, content),
        lang=turn.lang or language(content),
        turn=turn.key,
        turn_id=turn.id,
        at=turn.at,
        position=turn.position,
    )


def _slot(fact: Fact, subject: str, content: str) -> str:
    """The slot named when it is one of the kind's, its object said by the user; else the open slot of the kind."""
    entry = SLOTS.get(fact.slot)
    if entry is not None and entry.kind is fact.kind:
        if not entry.of:
            return fact.slot
        thing = _own_words(fact.object, content)
        if thing and len(thing) <= OBJECT_CHARS_MAX:
            return f"{fact.slot}.{thing}"
    return "fact.about" if subject != SELF and fact.kind is FAMILY_KIND else OPEN_SLOTS[fact.kind]


def _value(fact: Fact, slot: str, content: str, said: Sequence[Said]) -> tuple[str, Polarity]:
    """What equality compares: a day by its date, a closed list by its name, else the user's own words in the quote."""
    if slot.startswith(("commitment.event.", "task.date.")):
        return (
            said[-1].exact if said else "" if slot.startswith("commitment.") else normalised(content)
        ), fact.polarity
    served, value, negative = about(content)
    if served == slot and value:
        return value, Polarity.NEGATIVE if negative else Polarity.POSITIVE
    if slot in OPEN_SLOTS.values():
        return normalised(content), fact.polarity
    return _own_words(fact.value, content) or normalised(content), fact.polarity


def _own_words(said: str, content: str) -> str:
    """`said` normalised when the user said it in `content`, "" when only the model did."""
    span = Text(content).place(said)
    return normalised(content[slice(*span)]) if span is not None else ""


def _confidence(fact: Fact, content: str) -> float:
    """The model's own, within bounds; a hedge in the user's words stays a guess however sure the model is."""
    bounded = min(max(fact.confidence, 0.0), CONFIDENCE_MAX)
    hedged = is_hedged(content, language(content) == "zh")
    return round(min(bounded, GUESSED) if hedged else bounded, 4)


def _expires_at(fact: Fact, kind: Kind, said: Sequence[Said], turn: Turn) -> int:
    """The end that the quoted words say; else the day that the model reads from them, when it lies ahead."""
    ending = expires_at(kind, list(said), turn)
    if ending or fact.time is not Lasts.UNTIL or fact.until is None or kind is Kind.TASK:
        return ending
    last = end_of_day(fact.until, turn.zone_minutes)
    return last if turn.at < last < LATEST_MS else 0


def _sensitivity(kind: Kind, of_slot: Sensitivity, content: str) -> Sensitivity:
    shown = gravest(of_slot, sensitivity(content))
    return gravest(Sensitivity.HEALTH, shown) if kind is Kind.HEALTH else shown
