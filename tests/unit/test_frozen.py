"""The frozen gate: when a conclusion freezes, and what is kept from change. H6, H7, H8, H17, design §11.14."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tables.candidate import Confirmation, Kind
from tables.frozen import is_hedged, is_locked, is_protected, joined_confidence, settled
from tables.memory import Freeze, Memory, Review, Source, State
from tables.policy import Policy
from tests.unit.builders import T0, frozen, later, memory


def source(session: str = "s1", confidence: float = 0.9, explicit: bool = True, turn: str = "") -> Source:
    return Source(turn or f"turn of {session}", "", session, T0, confidence, explicit)


def held(*sources: Source, **fields: Any) -> Memory:
    """A committed memory that rests on `sources`."""
    return replace(memory(**fields), sources=sources)


def verdict(one: Memory, *, share_free: bool = True) -> tuple[State, Freeze]:
    after = settled(one, Policy(), share_free=share_free)
    return after.state, after.freeze


TWICE = (source("s1"), source("s2"))
FROZEN = (State.FROZEN, Freeze.NONE)


def test_confidence_joins_over_sessions() -> None:
    assert joined_confidence([source("s1", 0.5), source("s2", 0.8)]) == pytest.approx(0.9)  # 1 − 0.5 · 0.2


def test_two_mentions_in_one_session_are_one() -> None:
    assert joined_confidence([source("s1", 0.5), source("s1", 0.8, turn="t2")]) == pytest.approx(0.8)


def test_a_source_without_a_session_stands_for_itself() -> None:
    told = [source("", 0.5, turn="a"), source("", 0.5, turn="b")]
    assert joined_confidence(told) == pytest.approx(0.75)


def test_nothing_is_sure_of_nothing() -> None:
    assert joined_confidence([]) == 0.0


def test_two_sessions_freeze() -> None:
    assert verdict(held(*TWICE)) == FROZEN


def test_one_sure_session_waits_for_a_second() -> None:
    assert verdict(held(source("s1"))) == (State.COMMITTED, Freeze.PENDING)


def test_two_mentions_in_one_session_do_not_freeze() -> None:
    assert verdict(held(source("s1"), source("s1", turn="t2"))) == (State.COMMITTED, Freeze.PENDING)


def test_a_session_below_half_confidence_does_not_count() -> None:
    assert verdict(held(source("s1"), source("s2", 0.49))) == (State.COMMITTED, Freeze.PENDING)


def test_low_confidence_never_freezes_however_often_it_is_said() -> None:
    many = [source(f"s{n}", 0.7, explicit=False) for n in range(10)]
    assert verdict(held(*many)) == (State.COMMITTED, Freeze.NONE)


def test_one_explicit_statement_is_enough_beside_a_fair_one() -> None:
    assert verdict(held(source("s1", 0.8), source("s2", 0.5, explicit=False))) == FROZEN  # 1 − 0.2 · 0.5 = 0.9


def test_a_sure_guess_is_no_explicit_statement() -> None:
    head = [source("s1", 0.8, explicit=False), source("s2", 0.8, explicit=False)]
    assert verdict(held(*head)) == (State.COMMITTED, Freeze.NONE)


def test_joined_confidence_must_reach_the_tenants_bar() -> None:
    after = settled(held(source("s1", 0.8), source("s2", 0.5)), Policy(freeze_confidence=0.95), share_free=True)
    assert after.state is State.COMMITTED  # 0.9 < 0.95


def test_a_command_or_record_is_no_session() -> None:
    assert verdict(held(source("s1"), source("", turn="told"))) == (State.COMMITTED, Freeze.PENDING)


def test_a_command_is_no_explicit_statement_either() -> None:
    fair = [source(f"s{n}", 0.6, explicit=False) for n in range(3)]
    assert verdict(held(*fair, source("", turn="told"))) == (State.COMMITTED, Freeze.NONE)


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.TASK, Kind.PLAN])
def test_what_passes_never_freezes(kind: Kind) -> None:
    assert verdict(held(*TWICE, kind=kind, slot="fact.note")) == (State.COMMITTED, Freeze.NONE)


@pytest.mark.parametrize("kind", [Kind.HEALTH, Kind.VALUE, Kind.PREFERENCE])
def test_values_preferences_and_health_wait_for_a_reviewer(kind: Kind) -> None:
    assert verdict(held(*TWICE, kind=kind)) == (State.COMMITTED, Freeze.AWAITING_REVIEW)


@pytest.mark.parametrize("kind", [Kind.IDENTITY, Kind.BOUNDARY, Kind.COMMITMENT])
def test_identity_boundaries_and_commitments_need_no_reviewer(kind: Kind) -> None:
    assert verdict(held(*TWICE, kind=kind)) == FROZEN


def test_a_reviewed_value_freezes() -> None:
    one = replace(held(*TWICE, kind=Kind.HEALTH), review=Review("r", T0, "paris"))
    assert verdict(one) == FROZEN


def test_a_review_alone_does_not_freeze() -> None:
    one = replace(held(source("s1"), kind=Kind.HEALTH), review=Review("r", T0, "paris"))
    assert verdict(one) == (State.COMMITTED, Freeze.PENDING)


def test_a_review_of_another_value_is_void() -> None:
    one = replace(held(*TWICE, kind=Kind.HEALTH), review=Review("r", T0, "rome"))
    assert verdict(one) == (State.COMMITTED, Freeze.AWAITING_REVIEW)


def test_a_draft_does_not_freeze() -> None:
    assert verdict(replace(held(*TWICE), state=State.DRAFT)) == (State.DRAFT, Freeze.NONE)


def test_freezing_waits_for_room_in_the_protected_share() -> None:
    assert verdict(held(*TWICE), share_free=False) == (State.COMMITTED, Freeze.PENDING)


def test_what_is_frozen_stays_frozen() -> None:
    assert verdict(replace(held(source("s1", 0.1)), state=State.FROZEN), share_free=False) == FROZEN


@pytest.mark.parametrize(
    ("kind", "slot"),
    [
        (Kind.HEALTH, "health.allergy"),
        (Kind.IDENTITY, "identity.name"),
        (Kind.IDENTITY, "contact.phone"),
        (Kind.IDENTITY, "contact.address"),
    ],
)
def test_health_name_contact_and_address_of_the_user_are_protected(kind: Kind, slot: str) -> None:
    assert is_protected(kind, slot, "self")


def test_the_city_is_not_protected() -> None:
    assert not is_protected(Kind.IDENTITY, "identity.city", "self")


def test_another_persons_health_is_not_protected() -> None:
    assert not is_protected(Kind.HEALTH, "health.allergy", "my brother")


def test_a_frozen_memory_is_locked() -> None:
    assert is_locked(frozen(), T0)


def test_a_committed_memory_is_not_locked() -> None:
    assert not is_locked(memory(), T0)


def test_protected_and_explicitly_stated_is_locked_from_the_first_statement() -> None:
    assert is_locked(memory("mango", kind=Kind.HEALTH, slot="health.allergy"), T0)


def test_protected_but_never_explicitly_stated_is_not_locked() -> None:
    guessed = held(source(explicit=False), kind=Kind.HEALTH, slot="health.allergy")
    assert not is_locked(guessed, T0)


def test_protected_and_confirmed_by_command_is_locked() -> None:
    one = replace(held(source(explicit=False), slot="identity.name"), confirmation=Confirmation.COMMANDED)
    assert is_locked(one, T0)


def test_a_protected_draft_is_not_locked() -> None:
    assert not is_locked(replace(memory(slot="identity.name"), state=State.DRAFT), T0)


@pytest.mark.parametrize(("at", "locked"), [(later(9), True), (later(10), False)])
def test_a_commitment_is_frozen_until_it_ends(at: int, locked: bool) -> None:
    assert is_locked(frozen(kind=Kind.COMMITMENT, expires_at=later(10)), at) is locked


@pytest.mark.parametrize(
    ("confidence", "confirmation", "hedged"),
    [
        (0.49, Confirmation.STATED, True),
        (0.5, Confirmation.STATED, False),
        (0.9, Confirmation.INFERRED, True),
        (0.9, Confirmation.IMPORTED, False),
    ],
)
def test_unsure_or_inferred_makes_a_draft(confidence: float, confirmation: Confirmation, hedged: bool) -> None:
    assert is_hedged(confidence, confirmation) is hedged
