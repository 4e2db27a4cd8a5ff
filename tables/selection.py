"""From what the engines gave to what a recall offers: scope, marks and time first, then legs, ranking and sections.

One pure function, `select`, so that every rule of reading can be tried without an engine. It trusts no engine: each
memory, turn, wish and question is checked against the scope, the marks and the clock once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tables import bm25
from tables.candidate import SELF
from tables.context import (
    Item,
    Knowledge,
    Message,
    Offers,
    Origin,
    is_change_in,
    item_of_change,
    item_of_wish,
)
from tables.copies import Hit
from tables.erasure import Mark, Reach, Shown, hides
from tables.fields import asked_slots, is_asked
from tables.keys import turn_key
from tables.memory import Memory, State
from tables.policy import Policy
from tables.question import Question, QuestionStatus
from tables.quiet import is_about, subjects
from tables.ranking import (
    FIELD_MATCH,
    UNSEEN,
    Ask,
    Calibration,
    Found,
    Scored,
    is_hidden,
    newest_only,
    rank,
    refusal,
    shown,
)
from tables.repeated import repeats, tells_of
from tables.session import Session, WindowTurn, Wish, readable
from tables.text import terms, tokens
from tables.topic import apart
from tables.trace import LeftOut, Leg, Ranked, Reason

TRACED = 20  # ranks of a leg that the trace keeps
QUESTIONS_MAX = 20


@dataclass(frozen=True, slots=True)
class Material:
    """What was read of one user for one request. `marks` were read after everything else.

    hits    of the vector leg, nearest first; None when it did not run
    limit   how many hits were asked for
    offered whether memories may be offered; if not, they only say which turns of the window repeat an erased one
    """

    memories: Sequence[Memory]
    questions: Sequence[Question]
    session: Session | None
    marks: Sequence[Mark]
    hits: Sequence[Hit] | None = None
    limit: int = 0
    offered: bool = True


@dataclass(frozen=True, slots=True)
class Passed:
    """What the caller passed in: the only thing that a degraded answer may hold."""

    query: str
    messages: Sequence[Message] = ()
    knowledge: Sequence[Knowledge] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    offers: Offers
    questions: tuple[Question, ...] = ()
    legs: Mapping[Leg, tuple[Ranked, ...]] | None = None
    left_out: tuple[LeftOut, ...] = ()


def passed_only(passed: Passed) -> Selection:
    """The selection when nothing of the user's may be served."""
    return Selection(Offers(_question(passed), knowledge=_knowledge(passed), window=_messages(passed.messages, ())))


def select(passed: Passed, material: Material, ask: Ask, policy: Policy, calibration: Calibration) -> Selection:
    """Offers for `tables.context.assemble`, the open questions, and for the trace what each leg and filter did."""
    marks = _with_turn_keys(material.marks, ask)
    forgotten = [m for m in material.memories if _is_forgotten(m, marks, ask.wall)]
    turns, wishes, unread = _of_session(material.session, ask, marks, forgotten, policy)
    allowed, refused = _allowed(_pool(material) if material.offered else [], ask, marks)
    allowed, unwanted = _wanted(allowed, passed.query, ask.topic, wishes)
    found, legs = _legs(passed.query, allowed, material, calibration)
    scored, unranked = rank(found, ask)
    asked = open_questions(material, ask)
    changes = [item_of_change(question) for question in asked if is_change_in(question, ask.session)]
    offers = Offers(
        question=_question(passed),
        knowledge=_knowledge(passed),
        state=(*(item_of_wish(wish) for wish in wishes), *changes),
        stable=tuple(_of_memory(s) for s in scored if s.memory.state is State.FROZEN),
        reference=tuple(_of_memory(s) for s in scored if s.memory.state is not State.FROZEN),
        window=(*(_of_turn(turn) for turn in turns), *_messages(passed.messages, turns)),
    )
    return Selection(offers, asked, legs, (*unread, *refused, *unwanted, *unranked))


def open_questions(material: Material, ask: Ask) -> tuple[Question, ...]:
    """The open questions of this scope and task that no mark hides, neither the held side nor the proposed one."""
    held = {memory.id: memory for memory in material.memories}
    return tuple(
        question
        for question in sorted(material.questions, key=lambda q: (q.asked_at, q.id))
        if question.status is QuestionStatus.OPEN
        and question.proposed.scope == ask.scope
        and question.proposed.task in ("", ask.task)
        and not is_question_hidden(question, held.get(question.memory_id), material.marks, ask.wall)
    )[:QUESTIONS_MAX]


def is_question_hidden(question: Question, held: Memory | None, marks: Iterable[Mark], wall: int) -> bool:
    new = question.proposed
    said = tuple((turn, new.session, new.at) for turn in (new.turn_id, new.turn))
    sides = [Shown(question.memory_id, new.kind.value, new.task, said, new.sensitivity.value)]
    if held is not None:
        sides.append(shown(held))
    return any(hides(mark, side, wall) for mark in marks for side in sides)


def _with_turn_keys(marks: Sequence[Mark], ask: Ask) -> list[Mark]:
    """The marks, and those on a platform's turn id also on that turn's key: a wish knows only the key."""
    keyed = [replace(m, value=turn_key(ask.scope, ask.session, m.value)) for m in marks if m.reach is Reach.SOURCE]
    return [*marks, *keyed]


def _is_forgotten(memory: Memory, marks: Sequence[Mark], wall: int) -> bool:
    """Erased as a memory: what repeats it in the window goes with it (a deleted session takes its own turns only)."""
    seen = shown(memory)
    return any(hides(mark, seen, wall) for mark in marks if mark.reach in (Reach.MEMORY, Reach.KIND))


def _of_session(
    session: Session | None, ask: Ask, marks: Sequence[Mark], forgotten: Sequence[Memory], policy: Policy
) -> tuple[list[WindowTurn], list[Wish], list[LeftOut]]:
    """The turns and wishes of this session that may still be read."""
    if session is None:
        return [], [], []
    if not readable(session, ask.now, policy):
        return [], [], [LeftOut(turn.key, turn.role, Reason.LAPSED) for turn in session.window]
    sources = {source.turn for memory in forgotten for source in memory.sources}
    tells = tuple(tell for memory in forgotten for tell in tells_of(memory))

    def gone(keys: tuple[str, ...], task: str, at: int, content: str) -> bool:
        seen = Shown("", "", task, tuple((key, ask.session, at) for key in keys))
        if any(key in sources for key in keys) or any(hides(mark, seen, ask.wall) for mark in marks):
            return True
        return repeats(content, tells)

    hidden = {t.key for t in session.window if gone((t.id, t.key), t.task, t.at, t.content)}
    turns = [t for t in session.window if t.key not in hidden]
    wishes = [w for w in session.wishes if w.turn not in hidden and not gone((w.turn,), "", w.at, w.content)]
    return turns, wishes, [LeftOut(t.key, t.role, Reason.MARKED) for t in session.window if t.key in hidden]


def _pool(material: Material) -> list[Memory]:
    """Every memory read, each once in its newest version: one copy may be ahead of the other."""
    pool = {memory.id: memory for memory in material.memories}
    for hit in material.hits or ():
        held = pool.get(hit.memory.id)
        if held is None or held.version < hit.memory.version:
            pool[hit.memory.id] = hit.memory
    return list(pool.values())


def _allowed(pool: Sequence[Memory], ask: Ask, marks: Sequence[Mark]) -> tuple[list[Memory], list[LeftOut]]:
    allowed: list[Memory] = []
    out: list[LeftOut] = []
    for memory in pool:
        reason = refusal(memory, ask, marks)
        if reason is None:
            allowed.append(memory)
        else:
            out.append(LeftOut(memory.id, memory.kind.value, reason))
    kept, superseded = newest_only(allowed)
    return kept, out + superseded


def _wanted(
    allowed: Sequence[Memory], query: str, topic: str, wishes: Sequence[Wish]
) -> tuple[list[Memory], list[LeftOut]]:
    """Without what belongs to another project than the one asked about, and what this session is to be silent about."""
    elsewhere = apart(allowed, query, topic)
    silent = subjects(wishes)
    kept: list[Memory] = []
    out: list[LeftOut] = []
    for memory in allowed:
        if memory.id in elsewhere:
            out.append(LeftOut(memory.id, memory.kind.value, Reason.OTHER_TOPIC))
        elif any(is_about(memory, subject) for subject in silent):
            out.append(LeftOut(memory.id, memory.kind.value, Reason.SUPPRESSED))
        else:
            kept.append(memory)
    return kept, out


def _legs(
    query: str, allowed: Sequence[Memory], material: Material, calibration: Calibration
) -> tuple[list[Found], Mapping[Leg, tuple[Ranked, ...]]]:
    keyword = bm25.scores(terms(query), [terms(_searched(memory)) for memory in allowed])
    slots = asked_slots(query)
    dense = _dense(material, calibration)
    found = [
        Found(
            memory,
            dense=None if dense is None else dense[0].get(memory.id, dense[1]),
            keyword=score,
            field=FIELD_MATCH if is_asked(memory.slot, slots) else 0.0,
        )
        for memory, score in zip(allowed, keyword, strict=True)
    ]
    retrieved = dense[0] if dense is not None else {}
    return found, {
        Leg.DENSE: _traced((one.memory.id, one.dense or 0.0) for one in found if one.memory.id in retrieved),
        Leg.KEYWORD: _traced((one.memory.id, one.keyword) for one in found if one.keyword),
        Leg.FIELD: _traced((one.memory.id, one.field) for one in found if one.field),
    }


def _dense(material: Material, calibration: Calibration) -> tuple[dict[str, float], float] | None:
    """Relevance by id, and that of a memory that is not among the hits: cut off, or not yet in the index."""
    if material.hits is None:
        return None
    by_id = {hit.memory.id: calibration.relevance(hit.similarity) for hit in material.hits}
    cut = len(material.hits) >= material.limit
    return by_id, min(by_id.values(), default=0.0) if cut else UNSEEN


def _searched(memory: Memory) -> str:
    return memory.content if memory.subject == SELF else f"{memory.subject} {memory.content}"


def _traced(scores: Iterable[tuple[str, float]]) -> tuple[Ranked, ...]:
    best = sorted(scores, key=lambda pair: (-pair[1], pair[0]))[:TRACED]
    return tuple(Ranked(id_, place, round(score, 4)) for place, (id_, score) in enumerate(best, 1))


def _question(passed: Passed) -> Item:
    return Item("question", "", "question", Origin.CALLER, "said", 0, passed.query, tokens(passed.query))


def _knowledge(passed: Passed) -> tuple[Item, ...]:
    return tuple(
        Item(f"knowledge:{n}", k.id, "knowledge", Origin.CALLER, "given", k.at, k.content, tokens(k.content))
        for n, k in enumerate(passed.knowledge)
    )


def _messages(messages: Sequence[Message], turns: Sequence[WindowTurn]) -> tuple[Item, ...]:
    """The caller's messages that the window does not hold already, in their order."""
    held = {(turn.role, turn.content.strip()) for turn in turns} | {(turn.role, turn.id) for turn in turns if turn.id}
    return tuple(
        Item(f"message:{n}", m.id, m.role, Origin.CALLER, "said", m.at, m.content, tokens(m.content))
        for n, m in enumerate(messages)
        if (m.role, m.content.strip()) not in held and (m.role, m.id) not in held
    )


def _of_turn(turn: WindowTurn) -> Item:
    return Item(turn.key, turn.id, turn.role, Origin.SESSION, "said", turn.at, turn.content, turn.tokens)


def _of_memory(scored: Scored) -> Item:
    memory = scored.memory
    return Item(
        key=memory.id,
        id=memory.id,
        kind=memory.kind.value,
        origin=Origin.MEMORY,
        confirmation=memory.confirmation.value,
        at=max((source.at for source in memory.sources), default=memory.created_at),
        content=memory.content,
        tokens=tokens(memory.content),
        confidence=memory.confidence,
        parts=scored.parts,
    )


def visible(memories: Iterable[Memory], marks: Sequence[Mark], wall: int) -> list[Memory]:
    """Those that no mark hides, whatever their status."""
    return [memory for memory in memories if not is_hidden(memory, marks, wall)]
