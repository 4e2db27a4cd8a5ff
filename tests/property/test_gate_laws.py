"""Invariants of both gates over any sequence of statements: H1–H9, H17, A10, A11, design §11.6 and §11.12."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tables.admit import admit
from tables.bounded import eviction_order, fits, is_exempt
from tables.candidate import Candidate, Polarity
from tables.change import Change, Op, Rule
from tables.command import CommandKind
from tables.commanded import apply
from tables.conflict import conclusion, dimension
from tables.enter import clock
from tables.frozen import is_locked
from tables.memory import State, Status
from tables.policy import DAY_MS, Policy
from tables.world import Step, Working, World
from tests.property.stories import SMALL, changes, current, end, law, run, sequences, statements
from tests.unit.builders import POLICY, T0, command, position, rows, world

ROOMY = Policy(history_ms=1000 * DAY_MS, versions_per_slot=1000)


@law
@given(sequences)
def test_budgets_are_never_exceeded_but_by_what_is_exempt(said: list[Candidate]) -> None:
    for step in run(said):
        entries = list(step.world.book.entries.values())
        live = [e for e in entries if e.status is Status.ACTIVE]
        assert fits(entries, SMALL) or all(is_exempt(e) for e in live)


@law
@given(sequences)
def test_freezing_keeps_to_the_protected_share(said: list[Candidate]) -> None:
    """What froze without being protected anyway, together with the protected, kept the share when it froze."""
    for step in run(said):
        if not any(c.rule is Rule.FROZEN and not _protected(c, step) for c in step.changes):
            continue
        exempt = [e for e in step.world.book.entries.values() if e.status is Status.ACTIVE and is_exempt(e)]
        assert len(exempt) <= SMALL.protected_share * SMALL.items
        assert sum(e.weight for e in exempt) <= SMALL.protected_share * SMALL.total_weight + 1e-6


def _protected(change: Change, step: Step) -> bool:
    return step.world.book.entries[change.memory.id].protected


@law
@given(sequences)
def test_frozen_protected_and_pinned_are_never_evicted(said: list[Candidate]) -> None:
    here = world()
    for offset, one in enumerate(said):
        step = admit(one, here, SMALL, position(offset))
        evicted = [c.memory.id for c in step.changes if c.rule is Rule.EVICTED]
        assert not any(is_exempt(here.book.entries[one_id]) for one_id in evicted if one_id in here.book.entries)
        here = step.world


@law
@given(sequences)
def test_eviction_picks_the_least(said: list[Candidate]) -> None:
    here = world()
    for offset, one in enumerate(said):
        step = admit(one, here, SMALL, position(offset))
        gone = [here.book.entries[c.memory.id] for c in step.changes if c.rule is Rule.EVICTED]
        now = max(clock(Working(here, position(), one.at)), one.at)
        kept = [e for e in step.world.book.entries.values() if e.status is Status.ACTIVE and e.id in here.book.entries]
        for out in gone:
            least = [eviction_order(e, now) for e in kept if not is_exempt(e) and here.book.entries[e.id] == e]
            assert all(eviction_order(out, now) <= other for other in least)
        here = step.world


@law
@given(sequences, st.integers(0, 25))
def test_replaying_any_prefix_changes_nothing(said: list[Candidate], length: int) -> None:
    """While nothing was evicted or purged; what went keeps its id taken, its later touches are forgotten with it."""
    here = end(run(said, ROOMY))
    for step in run(said[:length], ROOMY, here):
        assert step.changes == ()
        assert step.questions == ()
        assert step.world is here


@law
@given(sequences, st.integers(0, 25))
def test_a_replay_over_budget_revives_nothing_that_went(said: list[Candidate], length: int) -> None:
    here = end(run(said))
    closed = {key for key, memory in here.memories.items() if memory.closed}
    after = end(run(said[:length], SMALL, here)) if said[:length] else here
    assert not closed & set(after.book.entries)


@law
@given(sequences)
def test_a_dimension_has_one_current_memory_and_one_draft_at_most(said: list[Candidate]) -> None:
    for step in run(said, POLICY):
        held = Counter((dimension(m), m.state is State.DRAFT) for m in current(step.world))
        assert not held or max(held.values()) == 1


@law
@given(sequences)
def test_what_is_current_never_says_a_thing_and_its_opposite(said: list[Candidate]) -> None:
    here = end(run(said, POLICY))
    held = [m for m in current(here) if m.state is not State.DRAFT]
    sides = Counter(conclusion(m, Polarity.POSITIVE) for m in held)
    ended = any(m.expires_at for m in held)  # what has ended but was not yet swept may still lie there
    assert ended or not sides or max(sides.values()) == 1


@law
@given(sequences)
def test_negation_is_never_lost(said: list[Candidate]) -> None:
    """No memory says anything that none of its sources said with that very polarity."""
    spoken = {(one.turn, one.slot, one.value, one.polarity) for one in said}
    for memory in rows(end(run(said, POLICY))):
        assert all((s.turn, memory.slot, memory.value, memory.polarity) in spoken for s in memory.sources)


@law
@given(sequences)
def test_events_of_a_memory_form_a_chain(said: list[Candidate]) -> None:
    """Only the purge of what is history no longer tells its words again."""
    told: dict[str, list[Change]] = {}
    for change in changes(run(said)):
        told.setdefault(change.memory.id, []).append(change)
    for chain in told.values():
        assert (chain[0].op, chain[0].before) == (Op.CREATE, None)
        for earlier, later in pairwise(chain):
            assert later.before == earlier.after or later.rule is Rule.PURGED


@law
@given(sequences)
def test_the_rows_are_what_the_events_say(said: list[Candidate]) -> None:
    steps = run(said)
    last = {change.memory.id: change for change in changes(steps)}
    for key, change in last.items():
        row = end(steps).memories[key]
        assert row == change.after if change.after is not None else row.closed and not row.content


@law
@given(sequences)
def test_the_book_is_the_index_of_the_rows(said: list[Candidate]) -> None:
    here = end(run(said))
    assert here.book.entries == world(rows(here)).book.entries
    assert {key for key, row in here.memories.items() if not row.closed} == set(here.book.entries)


@law
@given(sequences)
def test_event_ids_are_unique(said: list[Candidate]) -> None:
    ids = [change.id for change in changes(run(said))]
    assert len(ids) == len(set(ids))


@law
@given(sequences)
def test_versions_go_up_by_one(said: list[Candidate]) -> None:
    for change in changes(run(said)):
        if change.before is not None and change.after is not None:
            assert change.after.version == change.before.version + 1


@law
@given(sequences)
def test_history_is_short(said: list[Candidate]) -> None:
    past = Counter(dimension(m) for m in rows(end(run(said))) if m.status is not Status.ACTIVE)
    assert not past or max(past.values()) <= SMALL.versions_per_slot


@law
@given(statements(("identity.city", "preference.likes", "fact.note")), statements(("identity.city", "fact.note")))
def test_the_order_of_two_statements_of_different_times_is_without_effect(one: Candidate, two: Candidate) -> None:
    if one.at == two.at or one.turn == two.turn:
        return
    there, back = end(run([one, two], POLICY)), end(run([two, one], POLICY))
    assert _now(there) == _now(back)


def _now(here: World) -> list[tuple[str, str, str, str]]:
    return sorted((m.slot, m.value, m.polarity, m.state) for m in current(here))


@law
@given(sequences)
def test_the_same_statements_give_the_same_world(said: list[Candidate]) -> None:
    one, two = end(run(said)), end(run(said))
    assert (one.book, dict(one.memories), one.questions) == (two.book, dict(two.memories), two.questions)


@law
@given(sequences)
def test_a_locked_memory_changes_by_merging_only(said: list[Candidate]) -> None:
    here = world()
    for offset, one in enumerate(said):
        step = admit(one, here, SMALL, position(offset))
        for change in step.changes:
            before = change.before
            if before is None or before.status is not Status.ACTIVE or not is_locked(before, one.at):
                continue
            if any(source.turn != one.turn for source in before.sources):  # one breath may correct itself
                assert change.rule in (Rule.DUPLICATE, Rule.FROZEN, Rule.EXPIRED)
        here = step.world


@law
@given(sequences)
def test_no_to_every_question_changes_no_memory(said: list[Candidate]) -> None:
    here = end(run(said, POLICY))
    step = apply(command(CommandKind.REJECT, question_ids=tuple(here.questions)), here, POLICY, position(99))
    assert step.changes == ()


@law
@given(sequences)
def test_yes_to_every_question_keeps_one_current_memory_a_dimension(said: list[Candidate]) -> None:
    here = end(run(said, POLICY))
    yes = command(CommandKind.CONFIRM, question_ids=tuple(here.questions), at=T0 + 90 * DAY_MS)
    after = apply(yes, here, POLICY, position(99)).world
    held = Counter((dimension(m), m.state is State.DRAFT) for m in current(after))
    assert not held or max(held.values()) == 1
