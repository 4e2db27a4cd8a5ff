"""The default extractor: clauses in the user's own words, read by closed rules. It invents nothing.

    turn ─► sentences ─► frames (imagined, quoted, aimed at the system) ─► clauses
         ─► remember? wish? question? request? third party? ─► rules ─► candidates

A clause that no rule reads either belongs to the fact before it ("my dog is called …, she is four") or is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tables import extractive_frames as frames
from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.dates import Said, days_said
from tables.extractive_clauses import CLAUSE_MAX, clauses, turns
from tables.extractive_read import FAMILY_KIND, family, read, read_on, standing
from tables.extractive_rules import Reading
from tables.extractive_values import about, is_task_marked, values
from tables.keys import memory_id
from tables.policy import Policy, Sensitive
from tables.sensitive import gravest, sensitivity
from tables.session import Wish
from tables.slots import family as slot_family
from tables.slots import slot_of, task_of
from tables.text import language, normalised, sentences, tokens
from tables.turn import Role, Turn
from tables.worth import AUTHORITATIVE, Drop, asks, is_instruction

SENTENCES_MAX, CLAUSES_MAX = 200, 200  # a turn with more is a document: the rest is not read
STATED, GUESSED = 0.9, 0.4  # confidence of an explicit statement, and of a hedge (H8)
_HARD = (Kind.IDENTITY, Kind.HEALTH, Kind.COMMITMENT, Kind.TASK)  # stand although said of today
AIM_TOKENS = 64  # H2: an item grows by what follows it only up to here


@dataclass(frozen=True, slots=True)
class Dropped:
    """A span of the turn that became no candidate, and why. It carries no text."""

    span: tuple[int, int]
    reason: Drop


@dataclass(frozen=True, slots=True)
class Extraction:
    candidates: tuple[Candidate, ...] = ()
    wishes: tuple[Wish, ...] = ()
    drops: tuple[Dropped, ...] = ()
    foreign: tuple[tuple[int, int], ...] = ()  # spans that no one may read: what follows "translate this:"


@dataclass(slots=True)
class _Fact:
    """A fact being read: its span may still grow by clauses that only go on about it; `stated` ends its own clause."""

    start: int
    end: int
    stated: int
    reading: Reading
    subject: str
    remembered: bool
    zh: bool
    marked: bool


@dataclass(slots=True)
class _Work:
    turn: Turn
    policy: Policy
    context: str
    authoritative: Mapping[str, re.Pattern[str]]
    facts: list[_Fact] = field(default_factory=list)
    wishes: list[Wish] = field(default_factory=list)
    drops: list[Dropped] = field(default_factory=list)
    foreign: list[tuple[int, int]] = field(default_factory=list)

    def drop(self, span: tuple[int, int], reason: Drop) -> None:
        self.drops.append(Dropped(span, reason))


def extract(
    turn: Turn,
    policy: Policy,
    previous: Turn | None = None,
    *,
    authoritative: Mapping[str, re.Pattern[str]] | None = None,
) -> Extraction:
    """What `turn` says about its user: candidates without vectors, wishes for this session, and what was dropped.

    `previous` is the turn before, for an object left unsaid ("the budget is now …"). The same turn gives the same
    result; every candidate's content is the substring of the turn at its span.
    """
    if turn.role is not Role.USER:
        return Extraction(drops=(Dropped((0, len(turn.content)), Drop.ASSISTANT),))
    held = authoritative or {name: AUTHORITATIVE[name] for name in policy.authoritative if name in AUTHORITATIVE}
    work = _Work(turn, policy, previous.content if previous else "", held)
    spans = sentences(turn.content)[:SENTENCES_MAX]
    for number, (start, end) in enumerate(spans):
        foreign = _read_sentence(work, start, end)
        if foreign is not None:
            work.foreign = spans[number + 1 :]
            work.drops += [Dropped(span, foreign) for span in work.foreign]
            break
    return _finished(work)


def _read_sentence(work: _Work, start: int, end: int) -> Drop | None:
    """Reads one sentence into `work`. A reason when the rest of the turn is no statement of the user's either."""
    text = work.turn.content[start:end]
    zh = language(text) == "zh"
    if is_instruction(text.lower()):
        work.drop((start, end), Drop.INSTRUCTION)
        return None
    if frames.opens_foreign(text[:CLAUSE_MAX], zh):
        work.drop((start, end), Drop.HYPOTHETICAL)
        return Drop.QUOTATION
    cut = end
    frame = frames.sentence_frame(text[:CLAUSE_MAX], zh)
    if frame is not None:
        cut = _before_frame(work, start, end, zh)
        work.drop((cut, end), frame)
    _read_clauses(work, start, cut, zh)
    return None


def _before_frame(work: _Work, start: int, end: int, zh: bool) -> int:
    """The end of the clauses before the one that carries the frame: "I'm coeliac, what if I eat bread"."""
    kept = start
    for clause_start, clause_end in clauses(work.turn.content, start, end, zh):
        if frames.sentence_frame(work.turn.content[clause_start:clause_end], zh) is not None:
            break
        kept = clause_end
    else:
        return start
    return kept


def _read_clauses(work: _Work, start: int, end: int, zh: bool) -> None:
    grows, lead = False, -1
    for clause_start, clause_end in clauses(work.turn.content, start, end, zh):
        if len(work.facts) + len(work.drops) > CLAUSES_MAX:
            return
        first = lead if lead >= 0 else clause_start
        if frames.is_lead(work.turn.content[clause_start:clause_end], zh):
            lead = first
            continue
        grows, lead = _read_clause(work, first, clause_end, zh, grows), -1


def _read_clause(work: _Work, start: int, end: int, zh: bool, grows: bool) -> bool:
    """Reads one clause; whether a clause after it may go on about the same fact."""
    skipped, remembered = frames.preface(work.turn.content[start : min(end, start + CLAUSE_MAX)], zh)
    text = work.turn.content[start + skipped : min(end, start + CLAUSE_MAX)].rstrip(" 。.!！~～…")
    found = _judge(work, text, zh, remembered, (start, end))
    if found is Drop.NOT_WORTH and grows and work.facts[-1].subject == SELF:
        further = read_on(text, zh)
        found = (SELF, further) if further is not None else found
    if isinstance(found, Drop):
        if found is Drop.NOT_WORTH and grows and _grow(work, end):
            return True
        if found is Drop.THIRD_PARTY and grows and work.facts[-1].subject != SELF and _grow(work, end):
            return True
        if found is Drop.NOT_WORTH and refused(work.policy, sensitivity(text)):
            found = Drop.SENSITIVE_REFUSED
        if found is not Drop.SESSION_WISH:
            work.drop((start, end), found)
        return False
    subject, reading = found
    for value in values(reading.slot, reading.value, zh):
        one = replace(reading, value=value)
        work.facts.append(_Fact(start, end, end, one, subject, remembered, zh, is_task_marked(text)))
    return True


def _judge(work: _Work, text: str, zh: bool, remembered: bool, span: tuple[int, int]) -> tuple[str, Reading] | Drop:
    """The fact in a clause, or the reason why there is none. Frames first, then rules, then the rest."""
    for pattern in work.authoritative.values():
        if pattern.search(text):
            return Drop.AUTHORITATIVE
    if asks(text):
        return Drop.QUESTION
    kin = family(text, zh)
    if kin is not None:
        return kin
    if frames.third_party(text, zh):
        return Drop.THIRD_PARTY
    reading = read(text, zh, work.context, normalised(work.turn.task))
    hard = reading is not None and slot_of(reading.slot).kind in (
        Kind.IDENTITY,
        Kind.HEALTH,
        Kind.COMMITMENT,
        Kind.TASK,
    )
    if frames.is_wish(text, zh) and not (hard and not frames.refuses(text, zh)) and not standing(text, zh):
        work.wishes.append(Wish(about(text)[0], work.turn.content[slice(*span)], work.turn.key, work.turn.at))
        return Drop.SESSION_WISH
    if reading is not None and not (frames.is_momentary(text, zh) and not hard):
        return SELF, reading
    if remembered and len(text) > 3 and not frames.is_request(text, zh):
        return SELF, Reading("fact.note", normalised(text), False, 0.9)
    if frames.is_momentary(text, zh):
        return Drop.MOMENTARY
    return Drop.REQUEST if frames.is_request(text, zh) else Drop.NOT_WORTH


def refused(policy: Policy, kind: Sensitivity) -> bool:
    """Whether the tenant stores nothing of this class."""
    return policy.sensitive.get(kind, Sensitive.ALLOW) is Sensitive.REFUSE


def _grow(work: _Work, end: int) -> bool:
    """Lets the last fact run on to `end`; not over a "but", and not beyond the aim of an item."""
    fact = work.facts[-1]
    if turns(work.turn.content, fact.end):
        return False
    if tokens(work.turn.content[fact.start : end]) > min(AIM_TOKENS, work.policy.item_tokens):
        return False
    fact.end = end
    return True


def _finished(work: _Work) -> Extraction:
    """Candidates of the facts read: one per conclusion, none too long, none of a refused class."""
    candidates: dict[str, Candidate] = {}
    for fact in work.facts:
        candidate = _candidate(work, fact)
        span = (fact.start, fact.end)
        if tokens(candidate.content) > work.policy.item_tokens:
            work.drop(span, Drop.TOO_LONG)
        elif refused(work.policy, candidate.sensitivity):
            work.drop(span, Drop.SENSITIVE_REFUSED)
        else:
            candidates.setdefault(candidate.id, candidate)
    drops = tuple(sorted(work.drops, key=lambda dropped: dropped.span))
    return Extraction(tuple(candidates.values()), tuple(work.wishes), drops, tuple(work.foreign))


def _candidate(work: _Work, fact: _Fact) -> Candidate:
    turn, reading = work.turn, fact.reading
    entry = slot_of(reading.slot)
    content = turn.content[fact.start : fact.end]
    kind = entry.kind if fact.subject == SELF else FAMILY_KIND
    said = days_said(turn.content[fact.start : fact.stated], turn.at, turn.zone_minutes)
    value = _day_value(reading, said)
    polarity = Polarity.NEGATIVE if reading.negative else Polarity.POSITIVE
    confidence = _confidence(fact, content)
    return Candidate(
        id=memory_id(turn.key, fact.subject, reading.slot, value, polarity.value),
        scope=turn.scope,
        session=turn.session,
        task=task_of(kind, turn.task, fact.marked),
        topic=turn.topic,
        kind=kind,
        subject=fact.subject,
        slot=reading.slot,
        single=entry.single,
        value=value,
        polarity=polarity,
        content=content,
        span=(fact.start, fact.end),
        expires_at=expires_at(kind, said, turn),
        confidence=confidence,
        explicit=confidence >= 0.8,
        importance=entry.importance,
        confirmation=Confirmation.STATED if confidence > 0.4 else Confirmation.INFERRED,
        sensitivity=gravest(entry.sensitivity, sensitivity(content)),
        lang=turn.lang or language(content),
        turn=turn.key,
        turn_id=turn.id,
        at=turn.at,
        position=turn.position,
    )


def _day_value(reading: Reading, said: list[Said]) -> str:
    """The value of a slot that holds a day is the day, however it was said; an event without one is just known."""
    name = slot_family(reading.slot)
    if name == "commitment.event":
        return said[-1].exact if said else ""
    return said[-1].exact if said and name == "task.date" else reading.value


def expires_at(kind: Kind, said: list[Said], turn: Turn) -> int:
    """The end of a commitment or plan, or of what holds "until …", if it is to come; a task's dates stay true."""
    if kind is Kind.TASK:
        return 0
    ending = [day for day in said if day.bounds or kind in (Kind.COMMITMENT, Kind.PLAN)]
    end = max((day.end_ms(turn.zone_minutes) for day in ending), default=0)
    return end if end > turn.at else 0


def _confidence(fact: _Fact, content: str) -> float:
    if fact.remembered:
        return STATED
    return GUESSED if frames.is_hedged(content, fact.zh) else fact.reading.confidence
