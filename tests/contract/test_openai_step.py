"""The step `extract` with the `openai` extractor: what fails waits or is a letter, and is never "nothing found"."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from connectors.kafka.topics import CANDIDATES, SNAPSHOTS
from connectors.ledger import Ledger
from connectors.model.extractive import Extractive
from connectors.model.openai import Openai
from streams.batch import OrderedBatches, Taken
from streams.extract import Extract
from streams.parts import Parts
from streams.settings import load
from streams.worker import Steps
from tables.errors import Unavailable
from tests.contract import openai_server as kit
from tests.contract.openai_server import Server, config, fact, facts, opened, status
from tests.unit.step_world import Machine


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with kit.running() as one:
        one.tell("I love jazz.", facts(fact("I love jazz", "jazz")))
        one.tell("我对花生过敏。", facts(fact("我对花生过敏", "花生", kind="health", slot="health.allergy")))
        yield one


@pytest.fixture
async def machine(server: Server) -> AsyncIterator[Machine]:
    """A whole worker whose extractor asks the server."""
    m = Machine()
    async with opened(config(server)) as extractor:
        m.process.extract = Extract(bus=m.bus, tenants=m.tenants, extractor=extractor, embedder=m.embedder)
        yield m


async def test_what_the_model_finds_goes_through_both_gates(machine: Machine) -> None:
    await machine.run(machine.turn("I love jazz.", "t1"), machine.turn("我对花生过敏。", "t2"))
    assert machine.contents() == ["I love jazz", "我对花生过敏"]
    assert all(memory.sources for memory in machine.memories().values())


async def test_a_turn_that_is_rejected_is_a_letter_and_its_neighbours_go_on(server: Server, machine: Machine) -> None:
    server.tell("I love rain.", status(400))
    await machine.run(machine.turn("I love rain.", "t1"), machine.turn("I love jazz.", "t2"))
    assert machine.reasons(SNAPSHOTS) == [("extraction_failed", "")]
    assert machine.contents() == ["I love jazz"]


async def test_an_endpoint_that_is_away_sends_nothing_on(server: Server, machine: Machine) -> None:
    server.tell("I love jazz.", kit.hang_up)
    await machine.process.collect([machine.turn("I love jazz.", "t1")])
    with pytest.raises(Unavailable):
        await machine.extract()
    assert machine.bus.records(CANDIDATES) == []
    assert machine.reasons(SNAPSHOTS) == []


async def test_turns_wait_unacked_in_their_order_until_the_endpoint_is_back(server: Server, machine: Machine) -> None:
    """What is not acked is the lag."""
    server.tell("I love jazz.", status(401))
    server.tell_all(status(401))
    await machine.process.collect([machine.turn("I love jazz.", "t1"), machine.turn("What a day it was!", "t2")])
    acked: list[int] = []
    all_acked = asyncio.Event()
    waited: list[str | None] = []

    async def pause(_: float) -> None:
        assert acked == []
        await asyncio.sleep(0.03)
        if len(waited) == 3:
            server.tell("I love jazz.", facts(fact("I love jazz", "jazz")))
            server.tell_all(facts())

    def ack(record: Taken) -> None:
        acked.append(record.offset)
        if len(acked) == len(taken):
            all_acked.set()

    async def crash(error: BaseException) -> None:
        raise error

    batches = OrderedBatches(
        machine.process.extract,
        ack=ack,
        alive=lambda _: True,
        crash=crash,
        waiting=waited.append,
        pause=pause,
    )
    taken: list[Taken] = machine.waiting(SNAPSHOTS)
    for record in taken:
        await batches.put(record)
    running = asyncio.create_task(batches.run())
    await asyncio.wait_for(all_acked.wait(), 10)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert acked == [record.offset for record in taken]
    assert waited[:3] == ["extractor"] * 3
    assert waited[-1] is None
    assert machine.kinds(CANDIDATES) == ["turn"]


async def test_a_batch_that_is_repeated_gives_the_same_candidates_without_another_call(
    server: Server, machine: Machine
) -> None:
    await machine.process.collect([machine.turn("I love jazz.", "t1")])
    batch = machine.waiting(SNAPSHOTS)
    await machine.process.extract(batch)
    await machine.process.extract(batch)
    sent = [record.value for record in machine.bus.records(CANDIDATES)]
    assert sent[: len(batch)] == sent[len(batch) :]
    assert server.calls() == 1


class Bare(SimpleNamespace):
    """Parts of which nothing is used while the steps are built."""

    def __getattr__(self, name: str) -> Any:
        return Bare()


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ({}, Extractive),
        ({"EXTRACTOR": "openai", "OPENAI_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}, Openai),
    ],
)
async def test_a_worker_reads_with_the_extractor_of_its_settings(named: dict[str, str], kind: type) -> None:
    settings = load({"TWINSLUICE_EMBEDDER": "hash"} | {f"TWINSLUICE_{key}": value for key, value in named.items()})
    steps = Steps(settings, cast(Parts, Bare()), cast(Ledger, Bare()))
    extractor = steps.extract._extractor
    assert isinstance(extractor, kind)
    if isinstance(extractor, Openai):
        await extractor.close()
