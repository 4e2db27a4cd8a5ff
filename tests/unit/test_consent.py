"""What a user allowed, and when: A5, A13, FORMAT rule 10."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.book import Grant
from tables.candidate import Kind
from tables.change import Rule
from tables.command import Command, CommandKind, Result
from tables.commanded import Reason, withdrawal
from tables.erasure import Reach, Selector
from tables.world import Step, World
from tests.unit.builders import (
    candidate,
    command,
    last,
    later,
    memory,
    world,
)
from tests.unit.commanding import do, ended


def consent(here: World, allow: bool, kind: str = "", **fields: Any) -> Step:
    return do(here, CommandKind.CONSENT, allow=allow, of_kind=kind, **fields)


def test_withdrawn_consent_is_kept() -> None:
    assert consent(world(), False, "health").world.book.consent == {"health": False}


def test_a_consent_command_is_kept_with_its_time() -> None:
    assert consent(world(), False).world.book.grants == (Grant("", allow=False, at=later(1)),)


def test_a_late_consent_command_does_not_undo_a_newer_one() -> None:
    here = consent(world(), False, at=later(5)).world
    assert consent(here, True, at=later(2), request_id="r2").world.book.consent == {"": False}


def test_a_word_about_everything_ends_what_was_allowed_by_name() -> None:
    here = consent(world(), True, "health").world
    assert consent(here, False, request_id="r2", at=later(2)).world.book.consent == {"": False}


def test_what_was_refused_by_name_stays_refused() -> None:
    here = consent(world(), False, "health").world
    assert consent(here, True, request_id="r2", at=later(2)).world.book.consent == {"": True, "health": False}


def test_what_was_refused_by_name_stays_refused_after_everything_was() -> None:
    here = consent(consent(world(), False, "health").world, False, request_id="r2", at=later(2)).world
    after = consent(here, True, request_id="r3", at=later(3)).world
    assert after.book.consent == {"": True, "health": False}


def test_one_kind_may_be_allowed_while_the_rest_is_not() -> None:
    here = consent(consent(world(), False).world, True, "identity", request_id="r2", at=later(2)).world
    assert last([candidate("paris", at=later(3))], here).verdict is Rule.NEW


def test_an_unknown_kind_is_refused() -> None:
    assert ended(consent(world(), False, "hats")) == (Result.REFUSED, Reason.UNKNOWN_KIND)


@pytest.mark.parametrize(("kind", "kinds"), [("", tuple(Kind)), ("health", ("health",))])
def test_what_a_withdrawn_consent_covered_is_for_erasure(kind: str, kinds: tuple[str, ...]) -> None:
    assert withdrawal(command(CommandKind.CONSENT, allow=False, of_kind=kind)) == Selector(Reach.KIND, kinds)


@pytest.mark.parametrize(
    "harmless",
    [
        command(CommandKind.CONSENT, allow=True),
        command(CommandKind.CONSENT, allow=False, of_kind="hats"),
        command(CommandKind.PIN),
    ],
)
def test_nothing_else_erases(harmless: Command) -> None:
    assert withdrawal(harmless) is None


def test_a_refused_command_leaves_only_its_outcome() -> None:
    here = world([memory()])
    step = do(here, CommandKind.REVIEW, memory())
    assert step.world.book == replace(here.book, outcomes=(step.outcome,) if step.outcome else ())
