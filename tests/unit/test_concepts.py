"""Facts that do not fit together although no word of theirs meets (H15)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import Candidate, Kind, Polarity
from tables.concepts import clash
from tests.unit.builders import candidate


def fact(content: str, slot: str, negative: bool = False) -> Candidate:
    kind = {"health": Kind.HEALTH, "fact": Kind.FACT, "identity": Kind.IDENTITY}.get(
        slot.split(".")[0], Kind.PREFERENCE
    )
    polarity = Polarity.NEGATIVE if negative else Polarity.POSITIVE
    return replace(candidate(content, slot=slot, kind=kind, polarity=polarity), content=content)


@pytest.mark.parametrize(
    ("avoids", "takes"),
    [
        (fact("我不能吃辣", "health.allergy"), fact("我喜欢川菜", "preference.likes")),
        (fact("I can't eat spicy food", "health.allergy"), fact("I love Sichuan food", "preference.likes")),
        (fact("我对海鲜过敏", "health.allergy"), fact("小龙虾我一周三顿", "preference.habit")),
        (fact("I'm vegetarian", "preference.diet"), fact("rib-eye is my go-to order", "preference.habit")),
        (fact("我有痛风", "health.condition"), fact("晚上爱喝啤酒", "preference.likes")),
        (fact("I don't drink coffee", "preference.likes", negative=True), fact("two lattes a day", "preference.habit")),
    ],
)
def test_taking_what_is_avoided_clashes_either_way_round(avoids: Candidate, takes: Candidate) -> None:
    assert clash(avoids, takes)
    assert clash(takes, avoids)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fact("I'm allergic to peanuts", "health.allergy"), fact("I love jazz", "preference.likes")),
        (fact("I'm allergic to peanuts", "health.allergy"), fact("I love walnuts", "preference.likes")),
        (fact("I'm allergic to shellfish", "health.allergy"), fact("I love salmon", "preference.likes")),
        (fact("我不能吃辣", "health.allergy"), fact("我不喜欢川菜", "preference.likes", negative=True)),
        (fact("I love seafood", "preference.likes"), fact("I love crab", "preference.likes")),
        (fact("I'm allergic to cats", "health.allergy"), fact("I'm allergic to dogs", "health.allergy")),
        (fact("I'm vegetarian", "preference.diet"), fact("I love cheese", "preference.likes")),
    ],
)
def test_nothing_else_does(one: Candidate, other: Candidate) -> None:
    assert not clash(one, other)
