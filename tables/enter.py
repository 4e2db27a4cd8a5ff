"""How a memory takes its place: what it replaces retires, room is made, history is cut (A10, H3, design §11.12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from tables.book import Entry
from tables.bounded import fits_share, victims
from tables.candidate import Candidate, Confirmation
from tables.change import Rule
from tables.conflict import dimension, owning_task
from tables.frozen import joined_confidence, settled, waits_for
from tables.memory import Freeze, Memory, Pin, Source, State, Status
from tables.policy import Policy
from tables.text import tokens
from tables.world import Working, entry_of

SOURCES_MAX: Final = 64  # a fact said every day for years must fit the index row: 64 KB, ids of up to 128 bytes
HISTORY: Final = frozenset({Status.SUPERSEDED, Status.EXPIRED})
_ACTIVE: Final = Status.ACTIVE  # looked up once: a loop over a whole book for every newcomer


def source_of(candidate: Candidate) -> Source:
    return Source(
        turn=candidate.turn,
        turn_id=candidate.turn_id,
        session=candidate.session,
        at=candidate.at,
        confidence=candidate.confidence,
        explicit=candidate.explicit,
    )


def memory_from(candidate: Candidate, state: State) -> Memory:
    """The memory that `candidate` proposes, version 1, resting on its one statement."""
    return Memory(
        id=candidate.id,
        scope=candidate.scope,
        session=candidate.session,
        task=owning_task(candidate),
        topic=candidate.topic,
        kind=candidate.kind,
        subject=candidate.subject,
        slot=candidate.slot,
        single=candidate.single,
        value=candidate.value,
        polarity=candidate.polarity,
        content=candidate.content,
        span=candidate.span,
        sources=(source_of(candidate),),
        status=Status.ACTIVE,
        state=state,
        freeze=Freeze.NONE,
        created_at=candidate.at,
        updated_at=candidate.at,
        expires_at=candidate.expires_at,
        last_mentioned_at=candidate.at,
        last_access_at=0,
        hits=0,
        pin=Pin.NONE,
        review=None,
        sensitivity=candidate.sensitivity,
        version=1,
        confidence=joined_confidence((source_of(candidate),)),
        importance=candidate.importance,
        confirmation=candidate.confirmation,
        lang=candidate.lang,
        tokens=tokens(candidate.content),
        supersedes="",
        superseded_by="",
    )


_STRENGTH: Final = (Confirmation.INFERRED, Confirmation.IMPORTED, Confirmation.STATED, Confirmation.COMMANDED)


def joined(memory: Memory, candidate: Candidate) -> Memory:
    """`memory` with the statement of `candidate`, which concludes the same: merged, never reworded (H5).

    The order in which statements are joined is without effect, but for the order of the sources.
    """
    sources = (*memory.sources, source_of(candidate))
    if len(sources) > SOURCES_MAX:
        sources = (sources[0], *sources[-(SOURCES_MAX - 1) :])
    newest = candidate.at >= memory.last_mentioned_at
    return replace(
        memory,
        sources=sources,
        confidence=joined_confidence(sources),
        importance=max(memory.importance, candidate.importance),
        last_mentioned_at=max(memory.last_mentioned_at, candidate.at),
        expires_at=candidate.expires_at if newest and candidate.expires_at else memory.expires_at,
        confirmation=max(memory.confirmation, candidate.confirmation, key=_STRENGTH.index),
    )


def settle(work: Working, memory: Memory, policy: Policy) -> Memory:
    """`memory` frozen if its evidence and the protected share allow it."""
    ripe = memory.state is not State.FROZEN and waits_for(memory, policy) is None
    free = ripe and fits_share(work.entries.values(), entry_of(memory), policy)
    return settled(memory, policy, share_free=free)


def clock(work: Working) -> int:
    """Now, for scores: the newest mention that the book knows, or this record's time if that is later."""
    return max([work.at, *(e.last_mentioned_at for e in work.entries.values())])


def enter(work: Working, newcomer: Memory, retiring: Sequence[Memory], rule: Rule, policy: Policy) -> Rule | None:
    """Let `newcomer` take the place of `retiring`; None = done, else the rule that refuses it, with nothing changed.

    Order: what retires becomes superseded, the newcomer is created, then whoever it displaces is evicted, then history
    beyond the limit is purged. A pin moves on to the successor while the protected share allows it.
    """
    if newcomer.tokens > policy.item_tokens:
        return Rule.TOO_LONG
    rest = {key: entry for key, entry in work.entries.items() if entry.status is _ACTIVE}
    for memory in retiring:
        rest.pop(memory.id, None)
    newcomer = _with_pin(newcomer, retiring, rest.values(), policy)
    entry = entry_of(newcomer)
    out = victims(rest.values(), entry, policy, max(clock(work), newcomer.last_mentioned_at), competes=not retiring)
    if out is None:
        return Rule.OVER_BUDGET
    retire(work, retiring, newcomer.id)
    work.create(replace(newcomer, supersedes=retiring[0].id) if retiring else newcomer, rule)
    for victim in out:
        evicted = work.memory(victim.id)
        work.withdraw_questions(victim.id)
        work.remove(evicted, Rule.EVICTED)
    prune_all(work, retiring, policy)
    return None


def retire(work: Working, retiring: Sequence[Memory], successor: str) -> None:
    """What `successor` replaces goes to history; "" = nothing takes its place."""
    for memory in retiring:
        gone = replace(memory, status=Status.SUPERSEDED, superseded_by=successor, freeze=Freeze.NONE)
        work.update(memory, gone, Rule.SUPERSEDED)
        work.withdraw_questions(memory.id)


def lapse(work: Working, memory: Memory, at: int) -> None:
    """The said end of `memory` has come: it goes to history, and a commitment is frozen no longer (H6)."""
    state = State.COMMITTED if memory.state is State.FROZEN else memory.state
    gone = replace(memory, status=Status.EXPIRED, state=state, freeze=Freeze.NONE)
    work.update(memory, gone, Rule.EXPIRED, at=at)
    work.withdraw_questions(memory.id)


def prune_all(work: Working, retired: Sequence[Memory], policy: Policy) -> None:
    """`prune` every dimension of `retired`; pruning one may take others of them away."""
    for one in dict.fromkeys(dimension(memory) for memory in retired):
        prune(work, one, policy)


def prune(work: Working, named: str, policy: Policy) -> None:
    """Keep at most `policy.versions_per_slot` of this dimension's history, none older than `policy.history_ms`."""
    oldest = clock(work) - policy.history_ms
    for place, memory in enumerate(sorted(_past(work, named), key=_age, reverse=True)):
        if place >= policy.versions_per_slot or memory.updated_at < oldest:
            work.remove(memory, Rule.PURGED, silent=True)


def is_held(work: Working, late: Memory, policy: Policy) -> bool:
    """Whether `late`, were it history, would lie within the limits that `prune` keeps."""
    newer = [memory for memory in _past(work, entry_of(late).dimension) if _age(memory) > _age(late)]
    return len(newer) < policy.versions_per_slot and late.updated_at >= clock(work) - policy.history_ms


def _past(work: Working, dimension: str) -> list[Memory]:
    held = [e.id for e in work.entries.values() if e.dimension == dimension and e.status in HISTORY]
    return [work.memory(one) for one in held]


def _age(memory: Memory) -> tuple[int, int, str]:
    return (memory.updated_at, memory.last_mentioned_at, memory.id)


def _with_pin(newcomer: Memory, retiring: Sequence[Memory], rest: Iterable[Entry], policy: Policy) -> Memory:
    pins = [memory.pin for memory in retiring if memory.pin is not Pin.NONE]
    if newcomer.pin is not Pin.NONE or not pins or not fits_share(rest, entry_of(newcomer), policy):
        return newcomer
    return replace(newcomer, pin=pins[0])
