"""What answers, corrections and records make of memories: a new memory takes the place of the old (A10, H7, H9).

A value never changes inside a memory: the new one supersedes, so both stay in the chain and a review of the old value
is void by itself. Functions that return `Rule | None` return None when it is done, else the rule that refuses it; then
the caller throws its whole sheet away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tables.bounded import fits_share
from tables.candidate import Candidate, Confirmation, Polarity, Sensitivity
from tables.change import Rule
from tables.command import Command
from tables.conflict import Standing, ask, opposite, question_id, standing
from tables.enter import enter, lapse, memory_from, prune_all, retire, settle
from tables.frozen import is_locked, joined_confidence
from tables.keys import digest
from tables.memory import Freeze, Memory, State, Status
from tables.policy import Policy, Sensitive
from tables.question import Question, QuestionKind, QuestionStatus
from tables.text import normalised
from tables.world import Working, entry_of

TOLD_CONFIDENCE: Final = 0.9  # H8: what was told to our face is as sure as an explicit statement
REFUSALS_MAX: Final = 64  # questions refused that are kept from being asked again at once


def accept(work: Working, question: Question, policy: Policy) -> Rule | None:
    """Yes: the held memory goes to history, what was proposed is committed under its own id and waits to freeze (H9).

    Its statement is its first session, the answer itself none. A doubt that proposes nothing only retires.
    """
    work.answer(question, QuestionStatus.CONFIRMED)
    held = work.find(question.memory_id)
    current = [held] if held is not None and held.status is Status.ACTIVE else []
    if not question.proposed.content:
        retire(work, current, "")
        return None
    if work.find(question.proposed.id) is not None:
        return None
    said = memory_from(question.proposed, State.COMMITTED)
    newcomer = replace(
        said,
        confirmation=Confirmation.COMMANDED,
        created_at=work.at,
        updated_at=work.at,
        last_mentioned_at=max(said.last_mentioned_at, work.at),
    )
    return _replace(work, newcomer, current, Rule.CONFIRMED, policy)


def refuse(work: Working, question: Question) -> None:
    """No: the question is answered, nothing else changes, and the same is not asked again at once (H9)."""
    work.answer(question, QuestionStatus.REJECTED)
    rejected = [one for one in work.book.rejected if one != question.id]
    work.book = replace(work.book, rejected=(*rejected, question.id)[-REFUSALS_MAX:])


def commit(work: Working, memory: Memory, policy: Policy) -> None:
    """The user says that `memory` is right: a draft is committed and replaces its rivals, strict recalls may use it."""
    place = standing(memory, work.entries, work.at)
    retiring = [] if memory.state is not State.DRAFT else _others(work, place, [memory])
    retire(work, retiring, memory.id)
    state = State.COMMITTED if memory.state is State.DRAFT else memory.state
    confirmed = replace(
        memory,
        state=state,
        confirmation=Confirmation.COMMANDED,
        last_mentioned_at=max(memory.last_mentioned_at, work.at),
        supersedes=retiring[0].id if retiring else memory.supersedes,
    )
    work.update(memory, settle(work, confirmed, policy), Rule.CONFIRMED)
    prune_all(work, retiring, policy)


def correct(
    work: Working, memories: Sequence[Memory], command: Command, reading: Candidate | None, policy: Policy
) -> Rule | None:
    """The user's own edit: one new memory in the place of all `memories`, frozen if one of them was (H7).

    Its id follows from the request, so a repeat makes nothing new.
    """
    base = next((memory for memory in memories if memory.state is State.FROZEN), memories[0])
    said = _told(work, base, command, reading, key="correct", confirmation=Confirmation.COMMANDED)
    if policy.sensitive.get(said.sensitivity, Sensitive.ALLOW) is Sensitive.REFUSE:
        return Rule.SENSITIVE
    return _replace(work, memory_from(said, State.COMMITTED), memories, Rule.CORRECTED, policy, keeps_frozen=True)


def system_update(
    work: Working, memory: Memory, command: Command, reading: Candidate | None, policy: Policy
) -> Rule | None:
    """A business record's word: it replaces what is free to change, and asks about what is locked (A10)."""
    said = _told(work, memory, command, reading, key="record", confirmation=Confirmation.IMPORTED)
    if is_locked(memory, work.at):
        work.put_question(ask(QuestionKind.CONTRADICTION, memory, said, work.at))
        return None
    return _replace(work, memory_from(said, State.COMMITTED), [memory], Rule.SYSTEM_UPDATE, policy)


def doubt(work: Working, memory: Memory) -> bool:
    """Ask whether `memory` is wrong; False when that is being asked already."""
    said = replace(
        _candidate(work, memory), id=digest("doubt", memory.id), polarity=opposite(memory.polarity), content=""
    )
    known = question_id(memory, said)
    if any(q.id == known and q.status is QuestionStatus.OPEN for q in work.questions()):
        return False
    work.put_question(ask(QuestionKind.SUSPECTED, memory, said, work.at))
    return True


def _replace(
    work: Working,
    newcomer: Memory,
    retiring: Sequence[Memory],
    rule: Rule,
    policy: Policy,
    *,
    keeps_frozen: bool = False,
) -> Rule | None:
    """`newcomer` in the place of `retiring` and of whatever else cannot stand beside it.

    One that concludes the same already is taken over with its sources.
    """
    place = standing(newcomer, work.entries, work.at)
    for entry in place.lapsed:
        if all(entry.id != one.id for one in retiring):
            lapse(work, work.memory(entry.id), entry.expires_at)
    gone = [*retiring, *_others(work, place, retiring)]
    same = [one for one in gone if place.same is not None and one.id == place.same.id]
    sources = (*newcomer.sources, *(source for one in same for source in one.sources))
    review = next((one.review for one in same if one.review is not None and one.value == newcomer.value), None)
    newcomer = replace(newcomer, sources=sources, confidence=joined_confidence(sources), review=review)
    ids = {one.id for one in gone}
    rest = [entry for entry in work.entries.values() if entry.id not in ids]
    if keeps_frozen and any(one.state is State.FROZEN for one in gone):
        kept = replace(newcomer, state=State.FROZEN)
        free = fits_share(rest, entry_of(newcomer), policy)
        newcomer = kept if free else replace(newcomer, freeze=Freeze.PENDING)
    else:
        newcomer = settle(work, newcomer, policy)
    return enter(work, newcomer, gone, rule, policy)


def _others(work: Working, place: Standing, but: Sequence[Memory]) -> list[Memory]:
    """The active ones of `place` that are not in `but`."""
    known = {memory.id for memory in but}
    near = [place.same] if place.same is not None else []
    return [work.memory(e.id) for e in (*near, *place.rivals, *place.drafts) if e.id not in known]


def _told(
    work: Working,
    base: Memory,
    command: Command,
    reading: Candidate | None,
    *,
    key: str,
    confirmation: Confirmation,
) -> Candidate:
    """What `command.text` says in the place of `base`; without a reading the whole text is its value."""
    source = f"record:{command.record}" if command.record else command.request_id
    said = replace(
        _candidate(work, base),
        id=digest(key, command.request_id, base.id),
        value=normalised(command.text),
        polarity=Polarity.POSITIVE,
        content=command.text,
        expires_at=0,
        confirmation=confirmation,
        explicit=confirmation is Confirmation.COMMANDED,
        turn=digest("told", key, command.request_id),
        turn_id=source,
    )
    if reading is None:
        return said
    return replace(
        said,
        subject=reading.subject,
        slot=reading.slot,
        single=reading.single,
        value=reading.value,
        polarity=reading.polarity,
        expires_at=reading.expires_at,
        sensitivity=reading.sensitivity if base.sensitivity is Sensitivity.NONE else base.sensitivity,
    )


def _candidate(work: Working, base: Memory) -> Candidate:
    """A candidate about the dimension of `base`, said now and in no session: it counts for no freezing (H8)."""
    return Candidate(
        id=base.id,
        scope=base.scope,
        session="",
        task=base.task,
        topic=base.topic,
        kind=base.kind,
        subject=base.subject,
        slot=base.slot,
        single=base.single,
        value=base.value,
        polarity=base.polarity,
        content=base.content,
        span=(0, 0),
        expires_at=base.expires_at,
        confidence=TOLD_CONFIDENCE,
        explicit=False,
        importance=base.importance,
        confirmation=Confirmation.COMMANDED,
        sensitivity=base.sensitivity,
        lang=base.lang,
        turn="",
        turn_id="",
        at=work.at,
        position=work.position,
    )
