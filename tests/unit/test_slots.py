"""The closed list of slots."""

from __future__ import annotations

import pytest

from tables.candidate import SELF, Kind, Sensitivity
from tables.slots import SLOTS, family, is_protected, slot_of, task_of


def test_a_name_off_the_list_is_no_slot() -> None:
    with pytest.raises(KeyError):
        slot_of("identity.shoe")
    with pytest.raises(KeyError):
        slot_of("identity.name.first")  # not a family that takes an object


def test_an_object_may_hold_dots() -> None:
    assert family("preference.way.v2.0 tea.sugar") == "preference.way"
    assert slot_of("task.budget.kitchen").single


def test_protected_is_name_contact_address_and_health_and_nothing_else() -> None:
    protected = {name for name, slot in SLOTS.items() if slot.protected}
    assert protected == {"identity.name", "identity.called"} | {
        name for name in SLOTS if name.startswith(("contact.", "health."))
    }


def test_another_persons_health_is_not_protected() -> None:
    assert is_protected("health.allergy", SELF)
    assert not is_protected("health.allergy", "son")


def test_health_and_contact_carry_their_class() -> None:
    assert all(slot.sensitivity is Sensitivity.HEALTH for name, slot in SLOTS.items() if name.startswith("health."))
    assert all(slot.sensitivity is Sensitivity.CONTACT for name, slot in SLOTS.items() if name.startswith("contact."))


@pytest.mark.parametrize("kind", list(Kind))
def test_only_task_plan_and_fact_stay_in_their_task(kind: Kind) -> None:
    stays = kind in (Kind.TASK, Kind.PLAN, Kind.FACT)
    assert task_of(kind, "kitchen") == ("kitchen" if stays else "")


def test_a_preference_marked_for_the_task_stays_in_it() -> None:
    assert task_of(Kind.PREFERENCE, "kitchen", marked=True) == "kitchen"
