"""Stories: what a user may say, in any order and however often, and what the gates make of it."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from tables.admit import admit
from tables.candidate import Candidate, Confirmation, Kind, Polarity
from tables.change import Change
from tables.memory import Memory, Status
from tables.policy import DAY_MS, Policy
from tables.world import Step, World
from tests.unit.builders import T0, candidate, position, rows, world

SLOTS = {
    "identity.city": Kind.IDENTITY,
    "identity.name": Kind.IDENTITY,
    "health.allergy": Kind.HEALTH,
    "preference.likes": Kind.PREFERENCE,
    "commitment.event.exam": Kind.COMMITMENT,
    "fact.note": Kind.FACT,
    "plan.away": Kind.PLAN,
}
SMALL = Policy(items=4, total_weight=60.0, versions_per_slot=2)


@st.composite
def statements(draw: st.DrawFn, slots: tuple[str, ...] = tuple(SLOTS)) -> Candidate:
    """Anything a user may say: few slots and values, so that they meet; many turns, sessions and times."""
    slot = draw(st.sampled_from(slots))
    value = draw(st.sampled_from(["a", "b", "c"]))
    session, turn = draw(st.integers(1, 3)), draw(st.integers(0, 30))
    at = T0 + (turn * 17 + session * 5) % 61 * DAY_MS  # of the turn: all that one turn says is said at once
    confidence = draw(st.sampled_from([0.3, 0.5, 0.8, 0.9]))
    return candidate(
        value,
        slot=slot,
        kind=SLOTS[slot],
        polarity=draw(st.sampled_from(list(Polarity))),
        session=f"s{session}",
        turn_id=f"t{turn}",
        at=at,
        confidence=confidence,
        explicit=confidence >= 0.8 and draw(st.booleans()),
        importance=draw(st.sampled_from([0.0, 0.5, 1.0])),
        confirmation=draw(st.sampled_from([Confirmation.STATED, Confirmation.STATED, Confirmation.INFERRED])),
        expires_at=at + 5 * DAY_MS if draw(st.booleans()) and slot.startswith(("plan", "commit")) else 0,
        content=draw(st.sampled_from(["short", "a rather longer clause about the very same thing, all in all"])),
    )


sequences = st.lists(statements(), max_size=20)
law = settings(max_examples=60, deadline=None)


def run(said: list[Candidate], policy: Policy = SMALL, start: World | None = None) -> list[Step]:
    here, steps = start if start is not None else world(), []
    for offset, one in enumerate(said):
        steps.append(admit(one, here, policy, position(offset)))
        here = steps[-1].world
    return steps


def end(steps: list[Step]) -> World:
    return steps[-1].world if steps else world()


def changes(steps: list[Step]) -> list[Change]:
    return [change for step in steps for change in step.changes]


def current(here: World) -> list[Memory]:
    return [memory for memory in rows(here) if memory.status is Status.ACTIVE]
