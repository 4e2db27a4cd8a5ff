"""kill -9 of the worker in the middle of a stream of 5,000 turns: nothing lost, nothing doubled (issue's judgement)."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest

from connectors.codec import decode_held, parse_json
from connectors.kafka.topics import CHANGES, DEAD_LETTERED, STATE, TURNS, changelog
from deploy.local.errors import PartFailed
from deploy.local.run import State
from tables.keys import Position, key_parts
from tables.policy import Tenant
from tests.integration.kit import Json, Site, contents, headers_of, now_ms, own_site, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

TURNS_SENT = 5000
USERS = 100
KILLS = 2
TALK = ("谢谢", "好的", "thanks!", "ok", "haha", "早上好", "got it, thanks", "明天会下雨吗？")
DRINKS = ("全糖", "半糖", "无糖")
CITIES = ("Bergen", "York", "Leeds", "Oslo")
LIKES = ("coffee", "tea", "jazz", "hiking", "chess")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An engine of its own: what is killed here is nobody else's."""
    with own_site(tmp_path_factory.mktemp("kill")) as made:
        yield made


def test_a_worker_killed_in_the_middle_of_a_stream_loses_nothing_and_doubles_nothing(site: Site) -> None:
    killed, calm = site.tenant("killed"), site.tenant("calm")
    positions = site.wire.turns(killed, *_turns(killed.id))
    seconds = [_kill_in_the_middle(site, positions) for _ in range(KILLS)]
    begin = time.monotonic()
    site.settled(*_last(positions), seconds=60)
    print(f"\nkilled {KILLS} times, each time once more while it recovered; seconds until it was ready again:", end=" ")
    print(*(f"{s:.1f}" for s in seconds), f"and {time.monotonic() - begin:.1f} until every turn was done")
    site.settled(*_last(site.wire.turns(calm, *_turns(calm.id))), seconds=60)
    for tenant in (killed, calm):
        site.equal(tenant.id)
        _every_change_is_told(site, tenant)
    assert _ledger(site, killed) == _ledger(site, calm)
    _what_was_said_is_kept(_ledger(site, killed))
    assert [letter for topic in DEAD_LETTERED for letter in site.letters(topic)] == []
    _windows_hold_each_turn_once(site, killed)


def _turns(tenant: str) -> list[Json]:
    """The same stream for every tenant: small talk, and one turn in ten that is worth remembering."""
    choice = random.Random(5)
    begin = now_ms() - TURNS_SENT
    made: list[Json] = []
    for number in range(TURNS_SENT):
        user = choice.randrange(USERS)
        said = _worth(choice) if choice.random() < 0.1 else choice.choice(TALK)
        turn = {
            "id": f"turn-{number}",
            "tenant_id": tenant,
            "user_id": f"user-{user}",
            "session_id": f"session-{choice.randrange(2)}",
            "role": "user",
            "content": said,
            "at": begin + number,
        }
        made.append(turn)
    return made


def _worth(choice: random.Random) -> str:
    kinds = (
        f"以后奶茶都点{choice.choice(DRINKS)}的",
        f"I live in {choice.choice(CITIES)}",
        f"I like {choice.choice(LIKES)}",
    )
    return choice.choice(kinds)


def _last(positions: Sequence[Position]) -> list[Position]:
    ends: dict[int, Position] = {}
    for position in positions:
        ends[position.partition] = position
    return list(ends.values())


def _kill_in_the_middle(site: Site, positions: Sequence[Position]) -> float:
    """Kill the worker once it has begun and before it is done, and its successor while that recovers.

    Returns the seconds from the first kill until a worker is ready again.
    """
    (last,) = _last(positions)
    begun = site.progress(TURNS, last.partition)
    until(lambda: site.progress(TURNS, last.partition) > begun, "the worker moves on")
    site.engine.kill(site.worker)
    assert site.progress(TURNS, last.partition) < last.offset, "killed too late to be in the middle"
    begin = time.monotonic()
    _kill_in_recovery(site)
    site.engine.restart(site.worker)
    return time.monotonic() - begin


def _kill_in_recovery(site: Site) -> None:
    """Start the worker and kill it when its door is open and its tables are not yet there."""

    def start() -> None:
        with contextlib.suppress(PartFailed):
            site.engine.restart(site.worker)

    before = _process(site)
    starting = threading.Thread(target=start)
    starting.start()
    until(lambda: _process(site) != before, "the process is there")
    until(lambda: _reasons(site), "its door is open")
    os.kill(_process(site), signal.SIGKILL)
    starting.join(30)
    assert not starting.is_alive()


def _process(site: Site) -> int:
    """The number of the worker's process, also before it is ready."""
    state = State.read(site.engine.folder)
    assert state is not None
    return state.parts[site.worker].pid


def _reasons(site: Site) -> list[str]:
    """Why the worker is not ready; [] while it does not answer."""
    port = site.engine.worker_settings(site.worker)["TWINSLUICE_WORKER_PORT"]
    with contextlib.suppress(httpx.HTTPError):
        reasons: list[str] = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5).json()["reasons"]
        return reasons
    return []


def _every_change_is_told(site: Site, tenant: Tenant) -> None:
    """Each step of each memory at least once, the same every time, with the `before` that was there."""
    told: dict[str, dict[str, Any]] = defaultdict(dict)
    for record in site.wire.read(CHANGES):
        event = parse_json(record.value)
        assert isinstance(event, dict)
        if event["tenant_id"] != tenant.id:
            continue
        held = told[event["memory_id"]].setdefault(event["id"], event)
        assert held == event, "the same event id with another content"
        assert headers_of(record)["ce_id"] == event["id"].encode()
    state = {r.key.decode().split("/")[1]: r.value for r in site.wire.read(STATE) if _is_of(r.key, tenant)}
    for memory_id, events in told.items():
        previous = None
        for number, event in enumerate(sorted(events.values(), key=lambda e: e["version"]), start=1):
            sides = event["body"]["data"]
            assert event["version"] == number
            assert sides["before"] == previous or event["source"]["rule"] == "purged"  # which tells no words again
            previous = sides["after"]
        assert (state[memory_id] is None) == (previous is None)
    assert {memory_id for memory_id, value in state.items()} == set(told)


def _is_of(key: bytes | None, tenant: Tenant) -> bool:
    return key is not None and key.startswith(f"{tenant.id}/".encode())


def _ledger(site: Site, tenant: Tenant) -> list[tuple[object, ...]]:
    """What the ledger holds of a tenant, ids and clock times apart."""
    rows: dict[bytes, bytes | None] = {}
    for record in site.wire.read(changelog("memories")):
        if record.key is not None and key_parts(record.key)[0] == tenant.id:
            rows[record.key] = record.value
    memories = [decode_held(raw)[0] for raw in rows.values() if raw is not None]
    return sorted(
        (m.scope.user, m.slot, m.value, m.status, m.state, m.version, round(m.confidence, 6), len(m.sources))
        for m in memories
    )


def _what_was_said_is_kept(rows: list[tuple[object, ...]]) -> None:
    """By the stream alone: each liking of each user once, and one answer to "where do you live?"."""
    liked: set[tuple[str, str]] = set()
    moved: set[str] = set()
    for turn in _turns("any"):
        if turn["content"].startswith("I like "):
            liked.add((turn["user_id"], turn["content"].removeprefix("I like ")))
        if turn["content"].startswith("I live in "):
            moved.add(turn["user_id"])
    active = [(str(user), str(slot), str(value)) for user, slot, value, status, *_ in rows if status == "active"]
    assert sorted((u, v) for u, slot, v in active if slot == "preference.likes") == sorted(liked)
    assert sorted(u for u, slot, _ in active if slot == "identity.city") == sorted(moved)
    assert any(status == "superseded" for _, _, _, status, *_ in rows)


def _windows_hold_each_turn_once(site: Site, tenant: Tenant) -> None:
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for turn in _turns(tenant.id):
        said[turn["user_id"], turn["session_id"]].append(turn["content"])
    for (user, session), texts in list(said.items())[:40]:
        window = contents(site.client(tenant, user).recall("?", session, max_tokens=20_000), "window")
        assert window == texts[-20:][-len(window) :]
        assert len(window) == min(20, len(texts))
