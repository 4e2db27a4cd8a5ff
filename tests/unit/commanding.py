"""Worlds and commands that the tests of commands start from."""

from __future__ import annotations

from typing import Any

from tables.command import Actor, ActorRole, CommandKind, Result
from tables.commanded import apply
from tables.memory import Memory
from tables.policy import Policy
from tables.question import Question
from tables.world import Step, World
from tests.unit.builders import (
    POLICY,
    candidate,
    command,
    frozen,
    last,
    later,
    position,
    world,
)

PARIS = frozen("paris")
ROME = candidate("rome", session="s2", at=later(0.5))
REVIEWER = Actor("rev", ActorRole.REVIEWER)
SERVICE = Actor("crm", ActorRole.SERVICE)


def do(here: World, kind: CommandKind, *memories: Memory, policy: Policy = POLICY, **fields: Any) -> Step:
    """Apply one command about `memories` to `here`."""
    return apply(command(kind, memory_ids=tuple(m.id for m in memories), **fields), here, policy, position(9))


def asked() -> World:
    """Paris is frozen, Rome was said, the question is open."""
    return last([ROME], world([PARIS])).world


def question(here: World) -> Question:
    (one,) = here.questions.values()
    return one


def answer(here: World, kind: CommandKind, **fields: Any) -> Step:
    return apply(command(kind, question_ids=(question(here).id,), **fields), here, POLICY, position(9))


def ended(step: Step) -> tuple[Result, str]:
    assert step.outcome is not None
    return step.outcome.result, step.outcome.reason


APPLIED = (Result.APPLIED, "")
