"""A process killed between any two effects: what it leaves, after the replay, is what a run without a crash leaves.

The harness plays a script through collect, extract and admit over a bus, a ledger, an index and copies that outlive the
process. The kill comes before or after any await of any port, or with half of a send done. A new process then starts
with empty caches and tables restored from their changelogs; what was not acked comes again, what was sent stays sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from connectors.codec import decode_held, decode_row
from connectors.kafka.topics import CHANGES, QUESTIONS, RECEIPTS, SOURCES, STATE, TURNS
from streams.batch import Taken
from tables.book import Book
from tables.keys import Scope
from tests.unit.step_world import ME, MINUTE, T0, YOU, Crash, Fuse, Machine, ids_of, made


@dataclass(frozen=True)
class Kill:
    """Where the process dies, and how far the commits of its acks lag behind by then (in batches, in records)."""

    at: int
    when: str
    batches_back: int = 0
    records_back: int = 0


@dataclass(frozen=True)
class Sent:
    """One record of a script: what `Machine` is asked to send."""

    method: str
    args: tuple[Any, ...]
    fields: Mapping[str, Any]

    def __call__(self, machine: Machine) -> Taken:
        sent: Taken = getattr(machine, self.method)(*self.args, **self.fields)
        return sent


def say(content: str, turn_id: str, minute: int = 0, scope: Scope = ME, **fields: Any) -> Sent:
    return Sent("turn", (content, turn_id), {"scope": scope, "at": T0 + minute * MINUTE, **fields})


def ask(kind: str, request_id: str, minute: int, owner: Scope = ME, **fields: Any) -> Sent:
    return Sent("command", (kind, request_id, owner), {"at": T0 + minute * MINUTE, **fields})


def erase(reach: str, *values: str, request_id: str, minute: int, scope: Scope = ME) -> Sent:
    return Sent("delete", (reach, *values), {"request_id": request_id, "at": T0 + minute * MINUTE, "scope": scope})


def fall_due(one: str, at: int) -> Sent:
    return Sent("due", (one, at), {})


PARIS = made("t1", "identity.city", "paris")
ROME = made("t4", "identity.city", "rome")
EXAM = made("t6", "commitment.event.exam", "2026-03-02")
JAZZ = made("t3", "preference.likes", "jazz")
TEA = made("t5", "preference.likes", "tea", YOU)
ENDED = 1_772_495_999_999  # the end of the day after T0

Script = Sequence[Sequence[Sent]]

SCRIPTS: dict[str, Script] = {
    "remember and change": [
        [say("I live in Paris.", "t1"), say("hello", "t2", 1), say("I love jazz.", "t3", 2)],
        [say("I live in Rome.", "t4", 3), say("I like tea.", "t5", 3, YOU), say("I love jazz.", "t3", 2)],
        [say("I have an exam tomorrow.", "t6", 4), Sent("send", (TURNS, b"no json", ME), {})],
        [ask("pin", "c1", 5, memory_ids=[JAZZ]), ask("tick", "c2", 60 * 72), fall_due(EXAM, ENDED)],
    ],
    "erase a memory, a session, a source": [
        [say("I live in Paris.", "t1"), say("I love jazz.", "t3", 2), say("这次回答简短一点", "t7", 3)],
        [erase("memory", PARIS, request_id="e1", minute=10), say("I like tea.", "t5", 11)],
        [say("I live in Rome.", "t4", 12, session_id="s2"), erase("session", "s2", request_id="e2", minute=20)],
        [erase("source", "t3", request_id="e3", minute=21), erase("memory", PARIS, request_id="e1", minute=10)],
    ],
    "erase the user": [
        [say("I live in Paris.", "t1"), say("I like tea.", "t5", 1, YOU)],
        [say("I live in Oslo.", "t2", 2), erase("user", request_id="e1", minute=10), say("I love jazz.", "t3", 11)],
        [say("I live in Rome.", "t4", 5), say("I live in Paris.", "t1")],
    ],
    "erase the tenant": [
        [say("I live in Paris.", "t1"), say("I like tea.", "t5", 1, YOU)],
        [erase("tenant", request_id="e1", minute=10, scope=Scope("acme", "")), say("I love jazz.", "t3", 11)],
    ],
    "consent and reset": [
        [say("I am allergic to peanuts.", "t1"), say("I love jazz.", "t3", 2)],
        [ask("consent", "c1", 10, allow=False, of_kind="health"), say("I take ibuprofen every day.", "t4", 11)],
        [ask("reset", "c2", 12, scope="context", session_id="s1"), say("I like tea.", "t5", 13)],
        [ask("reset", "c3", 14, scope="history"), say("I live in Rome.", "t6", 15)],
        [ask("reset", "c4", 20, scope="all"), say("I live in Oslo.", "t8", 21)],
    ],
}


async def play(script: Script, kill: Kill | None = None) -> tuple[Machine, Fuse]:
    """The whole script, to its end; with `kill` in two processes."""
    machine = Machine()
    batches = [[sent(machine) for sent in batch] for batch in script]
    fuse = Fuse() if kill is None else Fuse(kill.at, kill.when)
    machine.restart(fuse)
    run = Run(machine, batches)
    try:
        await run.go(0, 0)
    except Crash:
        assert kill is not None
        machine.acked = {place: max(0, end - kill.records_back) for place, end in machine.acked.items()}
        machine.restart()
        if run.behind:
            await machine.drain()
        await run.go(max(0, run.done - kill.batches_back), run.done if run.behind else run.done + 1)
    return machine, fuse


@dataclass
class Run:
    """How far a process is: `done` batches collected, `behind` while extract and admit are at work on the last."""

    machine: Machine
    batches: list[list[Taken]]
    done: int = 0
    behind: bool = False

    async def go(self, first: int, known: int) -> None:
        """Batches from `first` on; what comes again, up to `known`, comes as fast as collect takes it."""
        for number in range(first, len(self.batches)):
            self.done, self.behind = number, False
            await self.machine.process.collect(self.batches[number])
            if number + 1 >= known:
                self.done, self.behind = number + 1, True
                await self.machine.drain()


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


SENTENCES = (
    ("I live in Paris.", "identity.city", "paris"),
    ("I live in Rome.", "identity.city", "rome"),
    ("I am allergic to peanuts.", "health.allergy", "peanuts"),
    ("I love jazz.", "preference.likes", "jazz"),
    ("I don't like jazz.", "preference.likes", "jazz"),
    ("I have an exam tomorrow.", "commitment.event.exam", "2026-03-02"),
    ("I live in Oslo.", "identity.city", "oslo"),
    ("这次回答简短一点", "", ""),
    ("hello", "", ""),
)
users = st.sampled_from([ME, ME, YOU])
sessions = st.sampled_from(["s1", "s1", "s2"])
minutes = st.integers(0, 30)
requests = st.integers(0, 5).map(str)


@st.composite
def turns(draw: st.DrawFn) -> Sent:
    text, _, _ = draw(st.sampled_from(SENTENCES))
    number, minute = draw(st.integers(0, 6)), draw(minutes)
    return say(text, f"t{number}", minute, draw(users), session_id=draw(sessions))


def _tagged(request_id: str, owner: Scope) -> str:
    """A request id as the bus carries it: a user's own (`connectors.signing.RequestIds`), never another's too."""
    return f"{request_id}~{owner.user}"


@st.composite
def commands(draw: st.DrawFn) -> Sent:
    kind = draw(st.sampled_from(["pin", "unpin", "feedback", "correct", "confirm", "consent", "tick", "review"]))
    _, slot, value = draw(st.sampled_from(SENTENCES[:7]))
    owner = draw(users)
    one = made(f"t{draw(st.integers(0, 6))}", slot, value, owner, session=draw(sessions))
    fields: dict[str, Any] = {} if kind in ("tick", "consent") else {"memory_ids": [one]}
    if kind == "correct":
        fields["text"] = "I live in Berlin."
    if kind == "consent":
        fields = {"allow": draw(st.booleans()), "of_kind": draw(st.sampled_from(["health", "preference"]))}
    return ask(kind, _tagged(f"{kind}{draw(requests)}", owner), draw(minutes), owner=owner, **fields)


@st.composite
def resets(draw: st.DrawFn) -> Sent:
    reach = draw(st.sampled_from(["context", "history", "all"]))
    session = {"session_id": "s1"} if reach == "context" else {}
    owner = draw(users)
    return ask("reset", _tagged(f"reset{draw(requests)}", owner), draw(minutes), owner=owner, scope=reach, **session)


@st.composite
def erasures(draw: st.DrawFn) -> Sent:
    reach = draw(st.sampled_from(["memory", "source", "session", "user", "tenant", "kind"]))
    _, slot, value = draw(st.sampled_from(SENTENCES[:7]))
    number, owner = draw(st.integers(0, 6)), draw(users)
    named = {
        "memory": (made(f"t{number}", slot, value, owner),),
        "source": (f"t{number}",),
        "session": (draw(sessions),),
        "kind": ("preference",),
    }
    scope = Scope(owner.tenant, "") if reach == "tenant" else owner
    request = _tagged(f"{reach}{draw(requests)}", scope)
    return erase(reach, *named.get(reach, ()), request_id=request, minute=draw(minutes), scope=scope)


scripts = st.lists(
    st.lists(st.one_of(turns(), turns(), turns(), commands(), resets(), erasures()), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def _late_after_reset(script: Script) -> bool:
    """Whether a turn comes after a reset that it was said before: that reset, come again, takes it from the window."""
    reset = -1
    for sent in (one for batch in script for one in batch):
        if sent.args[0] == "reset":
            reset = max(reset, sent.fields["at"])
        elif sent.method == "turn" and sent.fields["at"] <= reset:
            return True
    return False


@settings(max_examples=100, deadline=None)
@given(
    scripts, st.integers(0, 10_000), st.sampled_from(["before", "half", "after"]), st.integers(0, 1), st.integers(0, 3)
)
async def test_any_story_killed_anywhere_ends_as_if_it_were_never_killed(
    script: Script, at: int, when: str, batches_back: int, records_back: int
) -> None:
    """Commits lag behind acks, so more comes again than was not acked."""
    assume(not _late_after_reset(script))
    machine, fuse = await play(script)
    wanted = left(machine)
    at %= len(fuse.passed)
    half = when == "half" and not fuse.passed[at].endswith("send_all")
    there, _ = await play(script, Kill(at, "after" if half else when, batches_back, records_back))
    assert differences(wanted, left(there)) == []
