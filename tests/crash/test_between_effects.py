"""A process killed between any two effects: what it leaves, after the replay, is what a run without a crash leaves.

The harness plays a script through collect, extract and admit over a bus, a ledger, an index and copies that outlive the
process. The kill comes before or after any await of any port, or with half of a send done. A new process then starts
with empty caches and tables restored from their changelogs; what was not acked comes again, what was sent stays sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.codec import decode_held, decode_row
from connectors.kafka.topics import CHANGES, QUESTIONS, RECEIPTS, SOURCES, STATE
from streams.batch import Taken
from tables.book import Book
from tests.unit.step_world import ANN, BEN, HOUR, MINUTE, T0, Crash, Fuse, Machine, Scope, ids_of, made

Action = Callable[[Machine], Taken]
Script = Sequence[Sequence[Action]]


@dataclass(frozen=True)
class Kill:
    """Where the process dies, and how far the commits of its acks lag behind by then (in batches, in records)."""

    at: int
    when: str
    batches_back: int = 0
    records_back: int = 0


def say(content: str, turn_id: str, minute: int = 0, scope: Scope = ANN, **fields: Any) -> Action:
    return lambda m: m.turn(content, turn_id, scope=scope, at=T0 + minute * MINUTE, **fields)


def ask(kind: str, request_id: str, minute: int, **fields: Any) -> Action:
    return lambda m: m.command(kind, request_id, at=T0 + minute * MINUTE, **fields)


def erase(reach: str, *values: str, request_id: str, minute: int, scope: Scope = ANN) -> Action:
    return lambda m: m.delete(reach, *values, request_id=request_id, at=T0 + minute * MINUTE, scope=scope)


def fall_due(one: str, at: int) -> Action:
    return lambda m: m.due(one, at)


PARIS = made("t1", "identity.city", "paris")
ROME = made("t4", "identity.city", "rome")
EXAM = made("t6", "commitment.event.exam", "2026-03-02")
JAZZ = made("t3", "preference.likes", "jazz")
TEA = made("t5", "preference.likes", "tea", BEN)
ENDED = 1_772_495_999_999  # the end of the day after T0

SCRIPTS: dict[str, Script] = {
    "remember and change": [
        [say("I live in Paris.", "t1"), say("hello", "t2", 1), say("I love jazz.", "t3", 2)],
        [say("I live in Rome.", "t4", 3), say("I like tea.", "t5", 3, BEN), say("I love jazz.", "t3", 2)],
        [say("I have an exam tomorrow.", "t6", 4), lambda m: m.send(SOURCES[0], b"no json", ANN)],
        [ask("pin", "c1", 5, memory_ids=[JAZZ]), ask("tick", "c2", 60 * 72), fall_due(EXAM, ENDED)],
    ],
    "erase a memory, a session, a source": [
        [say("I live in Paris.", "t1"), say("I love jazz.", "t3", 2), say("这次回答简短一点", "t7", 3)],
        [erase("memory", PARIS, request_id="e1", minute=10), say("I like tea.", "t5", 11)],
        [say("I live in Rome.", "t4", 12, session_id="s2"), erase("session", "s2", request_id="e2", minute=20)],
        [erase("source", "t3", request_id="e3", minute=21), erase("memory", PARIS, request_id="e1", minute=10)],
    ],
    "erase the user": [
        [say("I live in Paris.", "t1"), say("I like tea.", "t5", 1, BEN)],
        [say("My name is Ann.", "t2", 2), erase("user", request_id="e1", minute=10), say("I love jazz.", "t3", 11)],
        [say("I live in Rome.", "t4", 5), say("I live in Paris.", "t1")],
    ],
    "erase the tenant": [
        [say("I live in Paris.", "t1"), say("I like tea.", "t5", 1, BEN)],
        [erase("tenant", request_id="e1", minute=10, scope=Scope("acme", "")), say("I love jazz.", "t3", 11)],
    ],
    "consent and reset": [
        [say("I am allergic to peanuts.", "t1"), say("I love jazz.", "t3", 2)],
        [ask("consent", "c1", 10, allow=False, of_kind="health"), say("I take ibuprofen every day.", "t4", 11)],
        [ask("reset", "c2", 12, scope="context", session_id="s1"), say("I like tea.", "t5", 13)],
        [ask("reset", "c3", 14, scope="history"), say("I live in Rome.", "t6", 15)],
        [ask("reset", "c4", 20, scope="all"), say("My name is Ann.", "t8", 21)],
    ],
}


async def play(script: Script, kill: Kill | None = None) -> tuple[Machine, Fuse]:
    """The whole script, to its end; with `kill` in two processes."""
    machine = Machine()
    batches = [[action(machine) for action in batch] for batch in script]
    fuse = Fuse() if kill is None else Fuse(kill.at, kill.when)
    machine.restart(fuse)
    done = 0
    while done < len(batches) or machine.behind():
        try:
            if machine.behind() and machine.collected:
                await machine.drain()
                machine.collected = False
            if done < len(batches):
                await machine.process.collect(batches[done])
                machine.collected = True
                done += 1
            await machine.drain()
            machine.collected = False
        except Crash:
            assert kill is not None
            done = max(0, done - kill.batches_back)
            machine.acked = {place: max(0, end - kill.records_back) for place, end in machine.acked.items()}
            machine.restart()
    return machine, fuse


def left(machine: Machine) -> dict[str, Any]:
    """Everything that lasts, but for the guard and the outbox of books, which say how the work was cut into batches."""
    shelf, rows = machine.shelf, machine.rows
    books = {key: replace(decode_row(Book, raw), outbox=(), offset=-1) for key, raw in rows("books").items()}
    index = {
        key: {**row, "vec": [float(np.float16(number)) for number in row["vec"]]}  # the ledger keeps float16
        for held in machine.index.partitions.values()
        for key, row in held.items()
    }
    return {
        "books": books,
        "memories": {key: decode_held(raw) for key, raw in rows("memories").items()},
        **{name: _plain(rows(name)) for name in ("sessions", "fences", "questions", "due", "receipts")},
        "index": index,
        "users": shelf.users,
        "windows": shelf.sessions,
        "marks": (shelf.user_marks, shelf.tenant_marks),
        "answers": (shelf.receipts, shelf.outcomes),
        "clocks": shelf.clocks,
        "progress": shelf.progress,
        "changes": first(machine, CHANGES),
        "asked": first(machine, QUESTIONS),
        "told": first(machine, RECEIPTS),
        "state": {record.key: record.value for record in machine.bus.records(STATE)},
        "letters": {(topic, reason) for topic in SOURCES for reason in machine.reasons(topic)},
    }


def first(machine: Machine, topic: str) -> dict[str, Any]:
    """Each event as it was first told."""
    events: dict[str, Any] = {}
    records = machine.bus.records(topic)
    for name, record in zip(ids_of(records), records, strict=True):
        events.setdefault(name, record.value)
    return events


def _plain(rows: dict[bytes, bytes]) -> dict[bytes, Any]:
    return {key: json.loads(raw[1:]) if raw[1:] else raw for key, raw in rows.items()}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in one if one[name] != other[name]]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_kill_between_any_two_effects_leaves_what_no_kill_leaves(name: str) -> None:
    machine, fuse = await play(SCRIPTS[name])
    wanted = left(machine)
    wrong: list[str] = []
    for at, call in enumerate(fuse.passed):
        for when in ("before", "half", "after") if call.endswith("send_all") else ("before", "after"):
            there, _ = await play(SCRIPTS[name], Kill(at, when))
            found = differences(wanted, left(there))
            if found:
                wrong.append(f"{when} {call} ({at}): {', '.join(found)}")
    assert wrong == []
