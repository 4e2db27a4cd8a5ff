"""The guard, the outbox and the outcomes of a book: design §11.3, §11.4."""

from __future__ import annotations

from tables.book import Book
from tables.change import Change, Op, Rule
from tables.command import Outcome, Result
from tables.outbox import OUTCOMES_MAX, acked, behind, outcome_of, pending_at, recorded, with_outcome
from tables.world import row_of
from tests.unit.builders import T0, candidate, last, later, position, take, world

FIRST, SECOND = take([candidate("paris"), candidate("rome", session="s2", at=later(1))])


def outcome(request: str, at: int = T0) -> Outcome:
    return Outcome(request, Result.APPLIED, "", (), 0, at)


def test_a_fresh_book_is_behind_nothing() -> None:
    assert not behind(Book(), 0)


def test_a_recorded_offset_is_applied() -> None:
    assert [behind(recorded(FIRST.world.book, 5, FIRST), offset) for offset in (4, 5, 6)] == [True, True, False]


def test_what_was_decided_can_be_told_again() -> None:
    entry = pending_at(recorded(FIRST.world.book, 5, FIRST), 5)
    assert entry is not None
    assert entry.changes == FIRST.changes


def test_a_record_of_several_candidates_is_one_entry() -> None:
    together = recorded(SECOND.world.book, 5, FIRST, SECOND)
    one_by_one = recorded(recorded(SECOND.world.book, 5, FIRST), 5, SECOND)
    assert together == one_by_one
    assert [entry.changes for entry in together.outbox] == [FIRST.changes + SECOND.changes]


def test_a_record_without_effects_moves_the_guard_alone() -> None:
    book = recorded(Book(), 5, last([candidate("paris")], world(consent={"": False})))
    assert (book.offset, book.outbox) == (5, ())


def test_what_is_acked_leaves_the_outbox() -> None:
    book = recorded(recorded(FIRST.world.book, 5, FIRST), 6, SECOND)
    assert [entry.offset for entry in acked(book, 6).outbox] == [6]


def test_acking_never_moves_the_guard() -> None:
    assert acked(recorded(FIRST.world.book, 5, FIRST), 99).offset == 5


def test_acking_nothing_keeps_the_same_book() -> None:
    book = recorded(FIRST.world.book, 5, FIRST)
    assert acked(book, 5) is book


def test_every_event_gives_back_the_row_it_left() -> None:
    step = last([candidate("paris"), candidate("rome", session="s2", at=later(1))])
    assert [row_of(change) for change in step.changes] == list(step.memories.values())


def test_a_delete_event_gives_back_the_emptied_row() -> None:
    (held,) = FIRST.memories.values()
    row = row_of(Change("x", Op.DELETE, Rule.PURGED, held, None, later(2), position()))
    assert (row.id, row.content, row.version, row.updated_at) == (held.id, "", 2, later(2))


def test_the_first_outcome_of_a_request_stays() -> None:
    book = with_outcome(with_outcome(Book(), outcome("r1")), outcome("r1", later(0.5)))
    assert book.outcomes == (outcome("r1"),)


def test_an_outcome_is_found_by_its_request() -> None:
    assert outcome_of(with_outcome(Book(), outcome("r1")), "r1") == outcome("r1")


def test_outcomes_are_bounded() -> None:
    book = Book(outcomes=tuple(outcome(str(n)) for n in range(OUTCOMES_MAX)))
    assert len(with_outcome(book, outcome("new")).outcomes) == OUTCOMES_MAX


def test_the_guard_never_goes_back() -> None:
    assert recorded(recorded(FIRST.world.book, 9, FIRST), 5, SECOND).offset == 9
