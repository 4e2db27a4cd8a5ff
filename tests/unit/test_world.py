"""A world is a value: what one step makes of it is laid over it."""

from __future__ import annotations

import pytest

from tables.world import Overlay
from tests.unit.builders import memory

A, B, C = memory("a"), memory("b"), memory("c")


def test_what_was_changed_hides_what_was_below() -> None:
    newer = memory("a", version=2)
    assert Overlay({"a": A}, {"a": newer})["a"] is newer


def test_the_newest_layer_wins() -> None:
    versions = [memory("a", version=n) for n in range(1, 10)]
    here = Overlay({}, {})
    for one in versions:
        here = Overlay(here, {"a": one, "b": B})
    assert here["a"] is versions[-1]


def test_what_is_below_stays_as_it_was() -> None:
    below = Overlay({"a": A}, {"b": B})
    Overlay(below, {"a": C})
    assert dict(below) == {"a": A, "b": B}


def test_every_key_comes_once() -> None:
    assert list(Overlay(Overlay({"a": A}, {"b": B}), {"a": C, "c": C})) == ["a", "b", "c"]


def test_an_unknown_key_is_unknown() -> None:
    with pytest.raises(KeyError):
        Overlay({"a": A}, {"b": B})["z"]


def test_layers_stay_few_over_thousands_of_steps() -> None:
    here = Overlay({}, {})
    for n in range(3000):
        here = Overlay(here, {str(n): A})
    assert (len(here), len(here._layers) < 14) == (3000, True)
