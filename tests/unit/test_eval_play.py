"""How a scenario is played: order, clock, matches, roles."""

from __future__ import annotations

from typing import Any

import pytest

from streams.evaluation.play import Player
from streams.evaluation.run import Names, play_all, play_chats, tenants_of
from tables.command import ActorRole
from tables.keys import Scope, is_legal_id
from tables.policy import Clock
from tables.scenario import Scenario
from tables.scenario_read import parse_scenarios
from tables.scoring import Result
from tables.turn import parse_time
from tables.write_scoring import parse_chat_turn
from tests.unit.eval_world import FakeGround

DAY1 = "2026-03-01T09:00:00Z"
DAY1_LATER = "2026-03-01T10:00:00Z"
DAY2 = "2026-03-02T09:00:00Z"
DAY9 = "2026-03-09T09:00:00Z"
USER = Scope("t", "u")


def turn(text: str, at: str = DAY1, **more: Any) -> dict[str, Any]:
    return {"turn": "user", "text": text, "at": at, **more}


def recall(at: str = DAY1_LATER, **more: Any) -> dict[str, Any]:
    return {"recall": "q", "at": at, **more}


def command(order: str, at: str = DAY1_LATER, **more: Any) -> dict[str, Any]:
    return {"command": order, "at": at, **more}


def scenario(*steps: dict[str, Any], **more: Any) -> Scenario:
    base = {"id": "x", "group": "deletion", "tenant": "t", "user": "u", "session": "s", "steps": list(steps)}
    return parse_scenarios([{**base, **more}], "f")[0]


async def played(ground: FakeGround, *steps: dict[str, Any]) -> Result:
    return await Player(scenario(*steps), ground, lambda name: name, lambda _: None).play()


@pytest.fixture
def ground() -> FakeGround:
    return FakeGround()


async def test_what_was_said_is_settled_before_it_is_asked_for(ground: FakeGround) -> None:
    result = await played(ground, turn("tea"), recall(use=["tea"], ignore=["milk"]))
    assert result.passed
    assert ground.log[:3] == [("turn", "tea"), ("settled", 1), ("due", "u")]


@pytest.mark.parametrize(
    ("first", "at", "waits"),
    [
        ("tea", DAY1_LATER, False),
        ("tea", DAY2, False),
        ("tea", DAY9, True),  # more than a week later
        ("tea by tomorrow", DAY1_LATER, False),
        ("tea by tomorrow", DAY2, True),
    ],
)
async def test_turns_follow_each_other_while_nothing_can_fall_due(
    ground: FakeGround, first: str, at: str, waits: bool
) -> None:
    await played(ground, turn(first), turn("b", at))
    settled = ("settled", 1 if waits else 2)
    assert ground.log[: 3 - waits] == [("turn", first), *([] if waits else [("turn", "b")]), settled]


async def test_what_falls_due_on_the_way_happens_before_the_step(ground: FakeGround) -> None:
    result = await played(ground, turn(f"away until {DAY2} tomorrow"), turn("tea", DAY9), recall(DAY9, ignore=["away"]))
    assert result.passed
    assert ground.log.index(("tick", parse_time(DAY9, "")[0])) < ground.log.index(("turn", "tea"))


async def test_without_anything_due_the_clock_is_not_moved(ground: FakeGround) -> None:
    await played(ground, turn(f"away until {DAY9} tomorrow"), recall(DAY2, use=["away"]))
    assert not [one for one in ground.log if one[0] == "tick"]


async def test_a_wait_moves_the_clock(ground: FakeGround) -> None:
    result = await played(
        ground, turn(f"away until {DAY2} tomorrow"), {"wait": "3d"}, {"list": True, "at": DAY9, "at_most": 0}
    )
    assert result.passed
    assert ("tick", parse_time(DAY1, "")[0] + 3 * 86_400_000) in ground.log


async def test_a_late_turn_does_not_turn_the_clock_back(ground: FakeGround) -> None:
    await played(ground, turn("a", DAY9), turn(f"away until {DAY2} tomorrow", DAY1), recall(DAY9))
    assert not [one for one in ground.log if one[0] == "tick"]


async def test_a_refused_recall_is_an_empty_context(ground: FakeGround) -> None:
    ground.refuses.add("u")
    result = await played(ground, turn("tea"), recall(use=["tea"]), recall(ignore=["tea"], empty=True))
    (use,), avoided = result.played[0].checks, result.played[1].checks
    assert (use.held, use.got) == (False, "refused with 401; nothing")
    assert all(check.held for check in avoided)
    assert result.played[0].millis is None


async def test_a_turn_says_only_what_the_scenario_says(ground: FakeGround) -> None:
    bodies: list[dict[str, Any]] = []

    class Watched(FakeGround):
        async def turn(self, scope: Scope, body: Any) -> Any:
            bodies.append(dict(body))
            return await super().turn(scope, body)

    await played(Watched(), turn("a"), turn("b", id="m1", consent=False, task="k", topic="c"))
    plain = {"v": 1, "session_id": "s", "role": "user", "at": DAY1}
    assert bodies[0] == {**plain, "content": "a"}
    assert bodies[1] == {**plain, "content": "b", "id": "m1", "consent": False, "task_id": "k", "topic": "c"}


@pytest.mark.parametrize(
    ("order", "role"),
    [
        ("pin", ActorRole.USER),
        ("review", ActorRole.REVIEWER),
        ("system_update", ActorRole.SERVICE),
    ],
)
async def test_a_command_names_what_its_match_finds(ground: FakeGround, order: str, role: ActorRole) -> None:
    await played(ground, turn("tea"), turn("milk"), turn("green tea"), command(order, match="tea", text="x"))
    ((scope, body, given),) = ground.commands
    assert (scope, body["kind"], body["memory_ids"], given) == (USER, order, ["m0", "m2"], role)


async def test_a_match_that_finds_nothing_sends_nothing(ground: FakeGround) -> None:
    result = await played(ground, turn("tea"), command("pin", match="milk"), command("confirm", match="milk"))
    assert ground.commands == []
    assert result.passed


@pytest.mark.parametrize("side", ["held", "proposed"])
async def test_an_answer_goes_to_questions_first(ground: FakeGround, side: str) -> None:
    texts = {"held": "", "proposed": "", side: "tea"}
    ground.open[USER] = [{"id": "q1", "kind": "contradiction", "text": "?", **texts}]
    await played(ground, turn("tea"), command("reject", match="tea"))
    assert ground.commands[0][1]["question_ids"] == ["q1"]
    assert "memory_ids" not in ground.commands[0][1]


async def test_an_answer_without_a_question_goes_to_memories(ground: FakeGround) -> None:
    await played(ground, turn("tea"), command("confirm", match="tea"))
    assert ground.commands[0][1]["memory_ids"] == ["m0"]


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({"scope": "user"}, {"reach": "user"}),
        ({"scope": "session"}, {"reach": "session", "values": ["s"]}),
        ({"scope": "task", "task": "k"}, {"reach": "task", "values": ["k"]}),
        ({"scope": "memory", "match": "tea"}, {"reach": "memory", "values": ["m0"]}),
    ],
)
async def test_a_delete_is_an_erasure_of_its_scope(
    ground: FakeGround, fields: dict[str, Any], sent: dict[str, Any]
) -> None:
    await played(ground, turn("tea"), command("delete", **fields))
    assert [body for _, body in ground.erasures] == [{"selector": sent, "at": DAY1_LATER}]


async def test_a_delete_looks_at_history_too(ground: FakeGround) -> None:
    await played(ground, turn("tea"), command("delete", scope="memory", match="tea"))
    assert [what for verb, what in ground.log if verb == "list"][:3] == ["active", "superseded", "expired"]


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        (command("reset", scope="context"), {"scope": "context", "session_id": "s"}),
        (command("consent", allow=False, kind="health"), {"allow": False, "of_kind": "health"}),
        (command("close_task", task="k"), {"task_id": "k"}),
    ],
)
async def test_orders_on_the_user_need_no_match(
    ground: FakeGround, fields: dict[str, Any], sent: dict[str, Any]
) -> None:
    await played(ground, fields)
    assert ground.commands[0][1] == {"v": 1, "kind": fields["command"], "at": DAY1_LATER, **sent}


async def test_guided_questions_are_no_open_ones(ground: FakeGround) -> None:
    ground.open[USER] = [{"id": "q", "kind": "guided", "text": "name?", "held": "", "proposed": ""}]
    assert (await played(ground, recall(ask=[]))).passed
    ground.open[USER][0]["kind"] = "contradiction"
    assert not (await played(ground, recall(ask=[]))).passed


async def test_drift_counts_what_a_frozen_entry_became(ground: FakeGround) -> None:
    await played(ground, turn("always brief"), turn("always long"))
    ground.held[USER][0]["status"] = "superseded"
    result = await played(ground, turn("tea"))
    assert (result.frozen, result.overturned) == (2, 1)


async def test_scenarios_are_played_in_worlds_of_their_own(ground: FakeGround) -> None:
    scenarios = [scenario(turn("tea"), recall(use=["tea"], ignore=["milk"])), scenario(turn("milk"), recall())]
    names, told = Names("run"), []
    results = await play_all(scenarios, ground, names, at_once=2, told=lambda: told.append(1), remark=lambda _: None)
    assert [result.passed for result in results] == [True, True]
    assert set(ground.held) == {Scope("eval-run-0-t", "u"), Scope("eval-run-1-t", "u")}
    assert len(told) == 2


async def test_a_failure_of_the_engine_is_raised_as_it_is(ground: FakeGround) -> None:
    class Away(FakeGround):
        async def turn(self, scope: Scope, body: Any) -> Any:
            raise LookupError

    with pytest.raises(LookupError):
        await play_all([scenario(turn("a"))], Away(), Names(), at_once=1, told=lambda: None, remark=lambda _: None)


def test_tenants_live_in_event_time_with_the_policy_of_their_scenario() -> None:
    one = scenario(turn("a"), turn("b", tenant="t2"), turn("c", tenant="bad\x01"), policy={"items": 7})
    tenants = tenants_of([one], Names("run"))
    assert [tenant.id for tenant in tenants] == ["eval-run-0-t", "eval-run-0-t2"]
    assert {(tenant.clock, tenant.policies[0].items) for tenant in tenants} == {(Clock.EVENT, 7)}


@pytest.mark.parametrize("size", [1, 100, 127, 128])
def test_a_long_tenant_id_stays_one_and_its_own(size: int) -> None:
    names = Names("run")
    ids = {names.of(1, letter * size) for letter in "ab"} | {names.of(2, "a" * size)}
    assert len(ids) == 3
    assert all(map(is_legal_id, ids))


@pytest.mark.parametrize("bad", ["", "a\nb", "x" * 129, "\ud800"])
def test_an_id_that_is_none_stays_as_it_is(bad: str) -> None:
    assert Names("run").of(0, bad) == bad


async def test_a_chat_is_sent_and_scored_for_each_user_apart(ground: FakeGround) -> None:
    line = {"lang": "en", "session": "s", "role": "user", "at": DAY1, "text": "tea", "label": "keep", "values": ["tea"]}
    turns = [parse_chat_turn({**line, "id": f"m{n}", "user": f"u{n}"}, "f") for n in range(2)]
    found = await play_chats([turns], ground, at_once=2, begin=lambda *_: lambda: None)
    assert (found["en"].turns, found["en"].stored, found["en"].recall, found["en"].duplicates) == (2, 2, 1.0, 0)
    assert len(set(ground.tenants)) == 2
