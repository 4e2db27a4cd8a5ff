"""The closed list of slots: the dimensions of a user on which facts are held.

A slot is `family.name`, or `family.name.object` for the families marked `of`: "preference.favourite.colour". A
single-valued slot holds one current value: a new one takes the old one's place. A slot of many holds each value on its
own, so that a value and its denial meet, and likes of different things do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tables.candidate import SELF, Kind, Sensitivity


@dataclass(frozen=True, slots=True)
class Slot:
    """What a slot's name says of its facts. `of`: the name goes on with an object, said by the user."""

    kind: Kind
    single: bool
    importance: float
    protected: bool = False
    sensitivity: Sensitivity = Sensitivity.NONE
    of: bool = False


def _one(kind: Kind, importance: float, **more: object) -> Slot:
    return Slot(kind, True, importance, **more)  # type: ignore[arg-type]  # keywords of Slot


def _many(kind: Kind, importance: float, **more: object) -> Slot:
    return Slot(kind, False, importance, **more)  # type: ignore[arg-type]  # keywords of Slot


_HEALTH = {"protected": True, "sensitivity": Sensitivity.HEALTH}
_CONTACT = {"protected": True, "sensitivity": Sensitivity.CONTACT}

SLOTS: Mapping[str, Slot] = {
    "identity.name": _one(Kind.IDENTITY, 0.9, protected=True),
    "identity.called": _one(Kind.IDENTITY, 0.9, protected=True),
    "identity.city": _one(Kind.IDENTITY, 0.9),
    "identity.often_in": _many(Kind.IDENTITY, 0.7),
    "identity.origin": _one(Kind.IDENTITY, 0.7),
    "identity.occupation": _one(Kind.IDENTITY, 0.8),
    "identity.workplace": _one(Kind.IDENTITY, 0.7),
    "identity.education": _one(Kind.IDENTITY, 0.7),
    "identity.age": _one(Kind.IDENTITY, 0.7),
    "identity.birthday": _one(Kind.IDENTITY, 0.8),
    "identity.sex": _one(Kind.IDENTITY, 0.7),
    "identity.marital": _one(Kind.IDENTITY, 0.7),
    "identity.children": _one(Kind.IDENTITY, 0.7),
    "identity.language": _many(Kind.IDENTITY, 0.7),
    "identity.native_language": _one(Kind.IDENTITY, 0.7),
    "identity.trait": _many(Kind.IDENTITY, 0.6),
    "contact.phone": _one(Kind.IDENTITY, 0.9, **_CONTACT),
    "contact.email": _one(Kind.IDENTITY, 0.9, **_CONTACT),
    "contact.handle": _one(Kind.IDENTITY, 0.8, **_CONTACT),
    "contact.address": _one(Kind.IDENTITY, 0.9, **_CONTACT),
    "health.allergy": _many(
        Kind.HEALTH, 1.0, **_HEALTH
    ),  # what must not be eaten, taken or touched, whatever the cause
    "health.condition": _many(Kind.HEALTH, 0.9, **_HEALTH),
    "health.medication": _many(Kind.HEALTH, 0.9, **_HEALTH),
    "health.injury": _many(Kind.HEALTH, 0.9, **_HEALTH),  # injury, operation, mobility, senses
    "health.limit": _many(Kind.HEALTH, 0.9, **_HEALTH),  # what the body cannot do
    "health.advice": _many(Kind.HEALTH, 0.8, **_HEALTH),
    "health.blood_type": _one(Kind.HEALTH, 0.8, **_HEALTH),
    "boundary.topic": _many(Kind.BOUNDARY, 0.9),
    "boundary.rule": _many(Kind.BOUNDARY, 0.9),
    "value.principle": _many(Kind.VALUE, 0.7),
    "preference.answer_language": _one(Kind.PREFERENCE, 0.8),
    "preference.answer_length": _one(Kind.PREFERENCE, 0.8),
    "preference.answer_tone": _one(Kind.PREFERENCE, 0.7),
    "preference.answer_format": _many(Kind.PREFERENCE, 0.7),
    "preference.channel": _one(Kind.PREFERENCE, 0.7),
    "preference.units": _one(Kind.PREFERENCE, 0.7),
    "preference.currency": _one(Kind.PREFERENCE, 0.7),
    "preference.seat": _one(Kind.PREFERENCE, 0.6),
    "preference.diet": _one(Kind.PREFERENCE, 0.8),
    "preference.instruction": _many(Kind.PREFERENCE, 0.7),
    "preference.likes": _many(Kind.PREFERENCE, 0.6),
    "preference.habit": _many(Kind.PREFERENCE, 0.6),
    "preference.favourite": _one(Kind.PREFERENCE, 0.6, of=True),
    "preference.way": _one(Kind.PREFERENCE, 0.7, of=True),  # how a thing is had: "milk tea.sugar"
    "commitment.event": _one(Kind.COMMITMENT, 0.7, of=True),  # value: the day it is on, as far as said
    "commitment.promise": _many(Kind.COMMITMENT, 0.7),
    "commitment.loan": _many(Kind.COMMITMENT, 0.7, sensitivity=Sensitivity.FINANCE),
    "task.budget": _one(Kind.TASK, 0.8, of=True),
    "task.date": _one(Kind.TASK, 0.8, of=True),
    "task.decision": _many(Kind.TASK, 0.7),
    "task.goal": _many(Kind.TASK, 0.7),
    "task.need": _many(Kind.TASK, 0.6),
    "plan.intent": _many(Kind.PLAN, 0.5),
    "plan.away": _many(Kind.PLAN, 0.6),
    "fact.attribute": _one(Kind.FACT, 0.6, of=True),
    "fact.owns": _many(Kind.FACT, 0.5),
    "fact.name": _one(Kind.FACT, 0.6),
    "fact.about": _many(Kind.FACT, 0.5),
    "fact.money": _one(Kind.FACT, 0.6, sensitivity=Sensitivity.FINANCE, of=True),
    "fact.note": _many(Kind.FACT, 0.6),
}

PERSONAL: frozenset[Kind] = frozenset(
    (Kind.IDENTITY, Kind.HEALTH, Kind.BOUNDARY, Kind.VALUE, Kind.PREFERENCE, Kind.COMMITMENT)
)


def family(slot: str) -> str:
    """The slot without its object. Raises KeyError for a name that is not on the list."""
    parts = slot.split(".", 2)
    name = ".".join(parts[:2])
    known = SLOTS[name]
    if len(parts) == 3 and not known.of:
        raise KeyError(slot)
    return name


def slot_of(slot: str) -> Slot:
    """The entry of `slot`, object or not. Raises KeyError for a name that is not on the list."""
    return SLOTS[family(slot)]


def is_protected(slot: str, subject: str) -> bool:
    """H17: the user's own name, contact, address and health. Another's never is."""
    return subject == SELF and slot_of(slot).protected


def task_of(kind: Kind, task: str, marked: bool = False) -> str:
    """The task a fact belongs to: "" for what belongs to the user wherever it was said.

    `marked`: the user tied it to the task ("for this project use tabs").
    """
    return "" if kind in PERSONAL and not marked else task
