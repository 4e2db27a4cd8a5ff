"""Invariants of commands and of erasure over any history: A11, design §11.3."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tables.candidate import Candidate, Kind
from tables.command import CommandKind
from tables.commanded import apply
from tables.erase import erase
from tables.erasure import Reach
from tables.keys import memory_id
from tables.policy import DAY_MS
from tables.score import recency, score
from tests.property.stories import SMALL, end, law, run, sequences, statements
from tests.unit.builders import POLICY, SCOPE, T0, command, entry, erasure, position, rows

RESULTS = [CommandKind.CONFIRM, CommandKind.REJECT, CommandKind.PIN, CommandKind.CORRECT, CommandKind.FEEDBACK]


@law
@given(sequences, st.sampled_from(RESULTS), st.integers(0, 10))
def test_a_command_given_twice_is_given_once(said: list[Candidate], kind: CommandKind, which: int) -> None:
    here = end(run(said, POLICY))
    ids = list(here.book.entries)
    named = (ids[which % len(ids)],) if ids else ("nobody",)
    asked = command(kind, memory_ids=named, question_ids=tuple(here.questions)[:1], text="something else")
    first = apply(asked, here, POLICY, position(99))
    again = apply(asked, first.world, POLICY, position(100))
    assert (again.world, again.outcome, again.changes) == (first.world, first.outcome, ())


@law
@given(sequences, st.sampled_from(["s1", "s2", "s3"]))
def test_erase_wins_over_a_session(said: list[Candidate], session: str) -> None:
    """No row rests on the erased session, nor holds what was only said there."""
    after = erase(erasure(Reach.SESSION, session), end(run(said)), SMALL, position(99)).world
    for memory in after.memories.values():
        assert all(source.session != session for source in memory.sources)
        assert bool(memory.sources) is not memory.closed
    assert all(question.proposed.session != session for question in after.questions.values())


@law
@given(sequences)
def test_erase_wins_over_a_user(said: list[Candidate]) -> None:
    after = erase(erasure(Reach.USER), end(run(said)), SMALL, position(99)).world
    assert after.book.entries == {}
    assert after.questions == {}
    assert all(memory.closed and not memory.content and not memory.value for memory in after.memories.values())


@law
@given(sequences, st.integers(0, 25))
def test_erase_wins_over_a_memory_and_its_chain(said: list[Candidate], which: int) -> None:
    here = end(run(said))
    if not here.book.entries:
        return
    target = here.memories[sorted(here.book.entries)[which % len(here.book.entries)]]
    after = erase(erasure(Reach.MEMORY, target.id), here, SMALL, position(99)).world
    assert after.memories[target.id].closed
    linked = {target.supersedes, target.superseded_by} - {""}
    assert all(after.memories[one].closed for one in linked if one in after.memories)
    assert all(question.memory_id != target.id for question in after.questions.values())


@law
@given(sequences)
def test_erasing_twice_is_erasing_once(said: list[Candidate]) -> None:
    first = erase(erasure(Reach.SESSION, "s1"), end(run(said)), SMALL, position(99))
    again = erase(erasure(Reach.SESSION, "s1"), first.world, SMALL, position(100))
    assert (again.changes, again.world) == ((), first.world)


@law
@given(st.sampled_from(list(Kind)), st.floats(0, 1), st.floats(0, 1), st.integers(0, 10_000), st.integers(0, 10_000))
def test_recency_falls_with_time_and_rises_with_importance(
    kind: Kind, low: float, high: float, soon: int, late: int
) -> None:
    low, high = sorted((low, high))
    soon, late = sorted((soon, late))
    one, other = entry(kind=kind, importance=low), entry(kind=kind, importance=high)
    assert recency(one, T0 + late * DAY_MS) <= recency(one, T0 + soon * DAY_MS)
    assert recency(one, T0 + late * DAY_MS) <= recency(other, T0 + late * DAY_MS)


@law
@given(st.sampled_from(list(Kind)), st.floats(0, 1), st.floats(0, 1), st.integers(-10_000, 10_000))
def test_a_score_lies_between_0_and_1(kind: Kind, importance: float, confidence: float, days: int) -> None:
    item = entry(kind=kind, importance=importance, confidence=confidence)
    assert 0.0 <= score(item, T0 + days * DAY_MS) <= 1.0 + 1e-9


@law
@given(statements())
def test_a_memory_has_the_id_of_its_statement(one: Candidate) -> None:
    (memory,) = rows(end(run([one], POLICY)))
    assert memory.id == memory_id(one.turn, one.subject, one.slot, one.value, one.polarity)
    assert memory.scope == SCOPE
    assert replace(memory, version=1) == memory
