"""What never gets in, and the step as a value: A5, A12, A13, design §11.4, §11.7, FORMAT rule 10."""

from __future__ import annotations

import pytest

from tables.admit import admit
from tables.book import Book, Grant
from tables.candidate import Candidate, Kind, Sensitivity
from tables.change import Rule
from tables.erasure import Fence, Reach, Selector
from tables.keys import Scope
from tables.policy import Policy, Sensitive
from tables.world import World
from tests.unit.builders import (
    POLICY,
    SCOPE,
    T0,
    candidate,
    last,
    later,
    position,
    take,
    world,
)

LIKES = "preference.likes"
PARIS = candidate("paris")
ROME = candidate("rome", session="s2", at=later(1))


def mango(session: str = "s1", **fields: object) -> Candidate:
    return candidate("mango", kind=Kind.HEALTH, slot="health.allergy", session=session, **fields)


def test_without_any_grant_nothing_is_written() -> None:
    assert last([PARIS], policy=Policy(consent_default=False)).verdict is Rule.NO_CONSENT


@pytest.mark.parametrize("key", ["", "identity"])
def test_a_withdrawn_consent_refuses_what_it_covers(key: str) -> None:
    step = last([PARIS], world(consent={key: False}))
    assert (step.verdict, step.memories) == (Rule.NO_CONSENT, {})


def test_a_withdrawn_consent_for_a_class_refuses_that_class() -> None:
    phone = candidate("555", slot="contact.phone", sensitivity=Sensitivity.CONTACT)
    assert last([phone], world(consent={"contact": False})).verdict is Rule.NO_CONSENT


def test_a_withdrawn_consent_for_another_kind_is_without_effect() -> None:
    assert last([PARIS], world(consent={"health": False})).verdict is Rule.NEW


@pytest.mark.parametrize(("at", "verdict"), [(later(1), Rule.NO_CONSENT), (later(3), Rule.NEW)])
def test_a_late_turn_is_judged_by_the_consent_of_its_time(at: int, verdict: Rule) -> None:
    grants = (Grant("", allow=False, at=later(0)), Grant("", allow=True, at=later(2)))
    here = world(consent={"": True}, grants=grants)
    assert last([candidate("paris", at=at)], here).verdict is verdict


@pytest.mark.parametrize("sensitivity", [Sensitivity.IDENTITY_NUMBER, Sensitivity.CREDENTIAL])
def test_numbers_and_credentials_are_refused(sensitivity: Sensitivity) -> None:
    assert last([candidate("4111", sensitivity=sensitivity)]).verdict is Rule.SENSITIVE


@pytest.mark.parametrize(
    ("consent", "verdict"), [({}, Rule.NO_CONSENT), ({"health": True}, Rule.NEW), ({"": True}, Rule.NEW)]
)
def test_a_class_to_ask_for_needs_a_grant_by_word(consent: dict[str, bool], verdict: Rule) -> None:
    policy = Policy(sensitive={Sensitivity.HEALTH: Sensitive.ASK})
    said = mango(sensitivity=Sensitivity.HEALTH)
    assert last([said], world(consent=consent), policy).verdict is verdict


@pytest.mark.parametrize(
    "selector",
    [
        Selector(Reach.USER),
        Selector(Reach.SESSION, ("s1",)),
        Selector(Reach.SOURCE, (PARIS.turn_id,)),
        Selector(Reach.SOURCE, (PARIS.turn,)),
        Selector(Reach.KIND, ("identity",)),
        Selector(Reach.MEMORY, (PARIS.id,)),
    ],
)
def test_what_a_fence_covers_is_refused(selector: Selector) -> None:
    step = admit(PARIS, world(), POLICY, position(), [Fence(selector, T0, "e1")])
    assert (step.verdict, step.memories) == (Rule.FENCED, {})


def test_what_is_said_after_the_fence_is_welcome() -> None:
    fence = Fence(Selector(Reach.USER), T0 - 1, "e1")
    assert admit(PARIS, world(), POLICY, position(), [fence]).verdict is Rule.NEW


def test_a_candidate_of_another_user_is_a_bug() -> None:
    with pytest.raises(ValueError, match="another user"):
        admit(PARIS, World(Scope("t1", "u2"), Book()), POLICY, position())


def test_the_world_before_stays_as_it_was() -> None:
    here = last([PARIS]).world
    before = (dict(here.book.entries), dict(here.memories))
    admit(ROME, here, POLICY, position(9))
    assert (dict(here.book.entries), dict(here.memories)) == before


def test_a_lazy_mapping_is_asked_only_for_what_matters() -> None:
    class Lazy(dict[str, object]):
        def __iter__(self):  # type: ignore[no-untyped-def]  # must never be called
            raise AssertionError("walked")

    here = last([PARIS, *(candidate(f"v{n}", slot=LIKES) for n in range(5))]).world
    lazy = World(SCOPE, here.book, Lazy(here.memories))  # type: ignore[arg-type]  # a dict of memories
    assert admit(ROME, lazy, POLICY, position(9)).world.memories[ROME.id].value == "rome"


def test_every_step_with_changes_raises_the_profile_version() -> None:
    assert [s.world.book.profile_version for s in take([PARIS, PARIS, ROME])] == [1, 1, 2]


def test_event_ids_are_the_same_when_the_same_record_is_decided_again() -> None:
    one, two = (admit(ROME, last([PARIS]).world, POLICY, position(7)) for _ in range(2))
    assert [c.id for c in one.changes] == [c.id for c in two.changes]


def test_event_ids_of_one_step_differ() -> None:
    ids = [c.id for c in last([PARIS, ROME]).changes]
    assert len(set(ids)) == len(ids)
