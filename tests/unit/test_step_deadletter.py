"""Dead letters, the gate of repairs, settings: what surrounds the steps."""

from __future__ import annotations

import asyncio

import pytest

from connectors.kafka.topics import TURNS
from streams.batch import Taken
from streams.deadletter import ITEMS_MAX, letter
from streams.gate import Gate
from streams.settings import load, require_signing
from tables.errors import BadRecord, InvalidRecord, Misconfigured


def bad(headers: dict[str, bytes] | None = None, items: range = range(0)) -> dict[str, str]:
    """The facts of a letter."""
    record = Taken(TURNS, 1, 7, b"acme", b"{", tuple((headers or {}).items()), timestamp=5)
    sent = letter(record, "collect", InvalidRecord(BadRecord.NOT_JSON), items)
    return {name: value.decode() for name, value in sent.headers if name.startswith("dlq.")}


def test_a_letter_says_where_why_and_how_often() -> None:
    assert bad() == {
        "dlq.original-topic": TURNS,
        "dlq.original-partition": "1",
        "dlq.original-offset": "7",
        "dlq.original-timestamp": "5",
        "dlq.stage": "collect",
        "dlq.reason": "not_json",
        "dlq.attempts": "1",
        "dlq.app-version": "0.1.0",
        "dlq.consumer-group": "twinsluice",
    }


def test_a_record_sent_back_counts_its_attempts() -> None:
    assert bad({"dlq.attempts": b"4"})["dlq.attempts"] == "5"


def test_a_letter_names_no_more_items_than_fit() -> None:
    assert bad(items=range(10 * ITEMS_MAX))["dlq.items"] == ",".join(map(str, range(ITEMS_MAX)))


async def test_steps_work_side_by_side_and_a_repair_alone() -> None:
    gate, inside, seen = Gate(), 0, []

    async def step() -> None:
        nonlocal inside
        async with gate.shared():
            inside += 1
            await asyncio.sleep(0)
            seen.append(inside)
            inside -= 1

    async def repair() -> None:
        async with gate.exclusive():
            seen.append(-inside)

    await asyncio.gather(step(), step(), repair(), step())
    assert max(seen) >= 2
    assert 0 in seen
    assert all(count >= 0 for count in seen)


async def test_a_repair_that_waits_lets_no_new_step_in() -> None:
    gate, order = Gate(), []

    async def step(name: str) -> None:
        async with gate.shared():
            order.append(name)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def repair() -> None:
        async with gate.exclusive():
            order.append("repair")

    first = asyncio.create_task(step("first"))
    await asyncio.sleep(0)
    await asyncio.gather(repair(), step("second"), first)
    assert order == ["first", "repair", "second"]


async def test_a_repair_given_up_lets_the_steps_go_on() -> None:
    gate = Gate()
    async with gate.shared():
        waiting = asyncio.create_task(_repair(gate))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(_repair(gate), 1)


async def _repair(gate: Gate) -> None:
    async with gate.exclusive():
        pass


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PARTITIONS", "0"),
        ("PARTITIONS", "four"),
        ("PARTITIONS", "²"),
        ("BATCH", "-1"),
        ("WORKER_PORT", "65536"),
        ("EMBEDDER", "large"),
        ("LOG_LEVEL", "loud"),
        ("JWT_SECRET", "x" * 31),
        ("SIGNING_SECRET", "brief"),
    ],
)
def test_a_setting_that_cannot_work_is_named_and_never_shown(name: str, value: str) -> None:
    with pytest.raises(Misconfigured, match=f"TWINSLUICE_{name}") as refused:
        load({f"TWINSLUICE_{name}": value})
    assert "SECRET" not in name or value not in str(refused.value)


def test_nothing_need_be_set_but_the_secrets() -> None:
    assert load({}).partitions == 4
    with pytest.raises(Misconfigured, match="SIGNING_SECRET"):
        require_signing(load({}))
