"""Erasure and expiry as laws: what a request selects, what each memory becomes, what never comes back (A11, §11.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from tables.book import Book, Pending
from tables.candidate import Confirmation
from tables.change import Change, Rule
from tables.command import Outcome, Result
from tables.enter import HISTORY, lapse
from tables.erasure import Erasure, Fence, Reach, Selector
from tables.frozen import SESSIONS_TO_COMMIT, is_hedged, joined_confidence, sessions, settled
from tables.keys import Position, memory_id
from tables.memory import Memory, Source, State, Status
from tables.outbox import with_outcome
from tables.policy import Policy
from tables.question import Question
from tables.world import Step, Working, World, without_content

OUTCOME_IDS_MAX: Final = 300  # as many as a command may name


def fenced(
    fences: Iterable[Fence],
    *,
    turn_id: str,
    session: str,
    task: str,
    kind: str,
    memory_id: str,
    at: int,
    position: Position | None,
    turn: str = "",
    sensitivity: str = "",
) -> bool:
    """Whether any fence covers a statement said at `at` and lying at `position` in its source topic.

    Only what is known is compared: "" matches nothing. A source fence names the platform's turn id or the turn key, a
    kind fence a memory type or a sensitivity class.
    """
    said = _Said(session, turn_id, turn, task, kind, sensitivity, memory_id)
    return any(
        _names(fence.selector.reach, fence.selector.values, said) and fence.holds(at, position) for fence in fences
    )


class _Said(NamedTuple):
    """Where a statement belongs, as a selector may name it; "" is named by nothing."""

    session: str
    turn_id: str
    turn: str
    task: str
    kind: str
    sensitivity: str
    memory_id: str


def _names(reach: Reach, named: Collection[str], said: _Said) -> bool:
    """Whether a selector of `reach` with the values `named` speaks of a statement, time apart."""
    match reach:
        case Reach.USER | Reach.TENANT:
            return True
        case Reach.SESSION:
            return said.session in named
        case Reach.SOURCE:
            return said.turn_id in named or said.turn in named
        case Reach.TASK:
            return said.task in named
        case Reach.KIND:
            return said.kind in named or said.sensitivity in named
        case Reach.MEMORY:
            return said.memory_id in named


def chain(memory_ids: Iterable[str], memories: Mapping[str, Memory]) -> frozenset[str]:
    """The whole supersede chains of `memory_ids`: whatever one of them replaced, or was replaced by, both ways."""
    linked: dict[str, set[str]] = {}
    for memory in memories.values():
        for other in (memory.supersedes, memory.superseded_by):
            if other:
                linked.setdefault(memory.id, set()).add(other)
                linked.setdefault(other, set()).add(memory.id)
    found: set[str] = set()
    waiting = [one for one in memory_ids if one in memories]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(linked.get(one, ()))
    return frozenset(one for one in found if one in memories)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a selector takes of one user.

    erased  ids of memories that go whole
    thinned memories that stay with their remaining sources
    turns   keys of the turns behind what is erased
    aliases ids under which the same facts would come back from the same turns: a fence by memory id names them too
    questions  ids of question rows that go
    """

    erased: frozenset[str]
    thinned: Mapping[str, tuple[Source, ...]]
    turns: frozenset[str]
    aliases: frozenset[str]
    questions: frozenset[str]


def select(selector: Selector, world: World) -> Selection:
    """What `selector` takes of `world`. Everything in `world` was said before the request in the one order (§11.1)."""
    held = {key: world.memories[key] for key in world.book.entries}
    named = chain(selector.values, held) if selector.reach is Reach.MEMORY else frozenset(selector.values)
    erased: set[str] = set()
    thinned: dict[str, tuple[Source, ...]] = {}
    turns: set[str] = set()
    for memory in held.values():
        kept = tuple(s for s in memory.sources if not _covers_source(selector, named, memory, s))
        if len(kept) == len(memory.sources) and kept:
            continue
        turns.update(s.turn for s in memory.sources if s not in kept)
        if kept:
            thinned[memory.id] = kept
        else:
            erased.add(memory.id)
    aliases = {i for one in erased for i in aliases_of(held[one])}
    questions = frozenset(q.id for q in world.questions.values() if _covers_question(selector, named, q, erased))
    return Selection(frozenset(erased), thinned, frozenset(turns), frozenset(aliases), questions)


def aliases_of(memory: Memory) -> frozenset[str]:
    """The ids that its sources would give the same fact, were they taken in anew."""
    said = (memory.subject, memory.slot, memory.value, memory.polarity.value)
    return frozenset({memory.id, *(memory_id(source.turn, *said) for source in memory.sources)})


def _covers_source(selector: Selector, named: frozenset[str], memory: Memory, source: Source) -> bool:
    if selector.before and source.at >= selector.before:
        return False
    where = (source.session, source.turn_id, source.turn, memory.task)
    return _names(selector.reach, named, _Said(*where, memory.kind, memory.sensitivity, memory.id))


def _covers_question(selector: Selector, named: frozenset[str], question: Question, erased: set[str]) -> bool:
    """Whether the row goes: its memory does, or the statement that it asks about is selected itself."""
    if question.memory_id in erased:
        return True
    said = question.proposed
    if selector.before and said.at >= selector.before:
        return False
    where = (said.session, said.turn_id, said.turn, said.task)
    return _names(selector.reach, named, _Said(*where, said.kind, said.sensitivity, ""))


def erase(erasure: Erasure, world: World, policy: Policy, position: Position) -> Step:
    """Erase what `erasure` selects; safe to repeat: the second time finds nothing and changes nothing.

    - an erased memory leaves the book; its row keeps id, kind, status and times only; its event tells no content;
    - a memory that was also said elsewhere stays, with the rest of its sources, as its next version;
    - questions about what is erased go, and so do refusals and outbox entries that would keep its words.
    """
    work = Working(world, position, erasure.at)
    selection = select(erasure.selector, world)
    for one in sorted(selection.erased):
        work.remove(work.memory(one), Rule.ERASED, silent=True)
    for one, sources in sorted(selection.thinned.items()):
        memory = work.memory(one)
        work.update(memory, _thinned(memory, sources, policy), Rule.ERASED)
    for one in sorted(selection.questions):
        work.drop_question(one)
    done = tuple(sorted(selection.erased | set(selection.thinned)))
    result = Result.APPLIED if done or selection.questions else Result.NOOP
    outcome = Outcome(erasure.request_id, result, "", done[:OUTCOME_IDS_MAX], 0, erasure.at)
    whole = erasure.selector.reach in (Reach.USER, Reach.TENANT) and not erasure.selector.before
    book = _scrubbed(work, selection)
    work.book = with_outcome(replace(book, rejected=()) if whole and book.rejected else book, outcome)
    return work.step(Rule.ERASED if result is Result.APPLIED else Rule.REPEATED, outcome)


def _thinned(memory: Memory, sources: tuple[Source, ...], policy: Policy) -> Memory:
    """`memory` resting on `sources` alone: confidence, times, state and span follow from what is left."""
    first = memory.sources[0] in sources
    left = replace(
        memory,
        sources=sources,
        session=memory.session if any(s.session == memory.session for s in sources) else sources[0].session,
        span=memory.span if first else (0, 0),
        confidence=joined_confidence(sources),
        created_at=memory.created_at if first else min(s.at for s in sources),
        last_mentioned_at=max(s.at for s in sources),
    )
    if memory.confirmation is Confirmation.COMMANDED:
        return left
    hedged = all(is_hedged(s.confidence, memory.confirmation) for s in sources)
    state = State.DRAFT if hedged and len(sessions(sources)) < SESSIONS_TO_COMMIT else State.COMMITTED
    state = memory.state if memory.state is State.DRAFT else state
    return settled(replace(left, state=state), policy, share_free=memory.state is State.FROZEN)


def _scrubbed(work: Working, selection: Selection) -> Book:
    """The book without the words that its outbox and its refusals keep of what is erased."""
    book = work.book
    if not selection.erased and not selection.questions:
        return book
    outbox = tuple(_scrubbed_entry(entry, selection) for entry in book.outbox)
    rejected = tuple(one for one in book.rejected if one not in selection.questions)
    return replace(book, outbox=outbox, rejected=rejected)


def _scrubbed_entry(entry: Pending, selection: Selection) -> Pending:
    changes = tuple(_silenced(c) if c.memory.id in selection.erased else c for c in entry.changes)
    questions = tuple(q for q in entry.questions if q.id not in selection.questions)
    return replace(entry, changes=changes, questions=questions)


def _silenced(change: Change) -> Change:
    before = without_content(change.before) if change.before is not None else None
    after = without_content(change.after) if change.after is not None else None
    return replace(change, before=before, after=after)


def expire(memory_id: str, due_at: int, world: World, position: Position) -> Step:
    """The said end of a memory has come, if it still holds: active, with an end at or before `due_at` (§11.1).

    Effects are stamped with `due_at`, so a late sweep and a replay leave the same state.
    """
    memory = world.memories.get(memory_id)
    work = Working(world, position, due_at)
    if memory is None or memory.status is not Status.ACTIVE or not 0 < memory.expires_at <= due_at:
        return work.step(Rule.REPEATED)
    lapse(work, memory, due_at)
    return work.step(Rule.EXPIRED)


def purge(memory_id: str, due_at: int, world: World, policy: Policy, position: Position) -> Step:
    """History is held for `policy.history_ms` from when it became history, then its content goes (§11.12)."""
    memory = world.memories.get(memory_id)
    work = Working(world, position, due_at)
    if memory is None or memory.status not in HISTORY or memory.updated_at + policy.history_ms > due_at:
        return work.step(Rule.REPEATED)
    work.remove(memory, Rule.PURGED, silent=True)
    return work.step(Rule.PURGED)


def due_at(memory: Memory, policy: Policy) -> int:
    """When `expire` or `purge` has something to do for `memory` (epoch ms), 0 = never."""
    if memory.status is Status.ACTIVE:
        return memory.expires_at
    return memory.updated_at + policy.history_ms if memory.status in HISTORY else 0
