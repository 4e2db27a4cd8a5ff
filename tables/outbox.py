"""The guard, the outbox and the outcomes of a book: what was decided is told again, never decided anew (§11.3, 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tables.book import Book, Pending
from tables.command import Outcome
from tables.policy import DAY_MS
from tables.world import Step

OUTCOMES_MS: Final = DAY_MS  # §11.3: an outcome is kept 24 h, by event time
OUTCOMES_MAX: Final = 512  # a flood of commands must not grow the book without end


def behind(book: Book, offset: int) -> bool:
    """Whether the record at `offset` was applied to this book before: then nothing is decided again."""
    return offset <= book.offset


def pending_at(book: Book, offset: int) -> Pending | None:
    """What was decided at `offset` and may not have been told; None = nothing, or everything is known to be done."""
    return next((entry for entry in book.outbox if entry.offset == offset), None)


def recorded(book: Book, offset: int, *steps: Step) -> Book:
    """`book` (that of the last step's world) with the guard at `offset` and the effects of `steps` in its outbox.

    A second call for the same offset adds to the same entry: a record may hold several candidates.
    """
    entry = pending_at(book, offset) or Pending(offset)
    for step in steps:
        entry = Pending(
            offset,
            entry.changes + step.changes,
            entry.questions + step.questions,
            step.outcome or entry.outcome,
            entry.dropped + step.dropped,
        )
    rest = tuple(held for held in book.outbox if held.offset != offset)
    return replace(book, offset=max(book.offset, offset), outbox=rest if entry == Pending(offset) else (*rest, entry))


def acked(book: Book, upto_offset: int) -> Book:
    """`book` without the entries below `upto_offset`, the first offset that is not yet acked."""
    if not book.outbox or book.outbox[0].offset >= upto_offset:
        return book
    return replace(book, outbox=tuple(entry for entry in book.outbox if entry.offset >= upto_offset))


def outcome_of(book: Book, request_id: str) -> Outcome | None:
    """How the request ended, if it is still kept."""
    return next((outcome for outcome in book.outcomes if outcome.request_id == request_id), None)


def with_outcome(book: Book, outcome: Outcome) -> Book:
    """`book` that remembers `outcome`; the first one of a request stays, those older than 24 h before it go."""
    if outcome_of(book, outcome.request_id) is not None:
        return book
    kept = [held for held in book.outcomes if held.at > outcome.at - OUTCOMES_MS]
    return replace(book, outcomes=(*kept, outcome)[-OUTCOMES_MAX:])
