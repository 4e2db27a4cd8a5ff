"""Collect: one order for everything, nothing twice, a letter for what can never be right (design §5.1, §11.1–7)."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import CANDIDATES, COMMANDS, DELETE, EXPIRE, SNAPSHOTS, TURNS
from streams.batch import Taken
from streams.collect import TURNS_MAX
from streams.deadletter import ITEMS_MAX
from tables.command import Result
from tables.errors import BadRecord, Unavailable
from tables.keys import Scope
from tables.policy import Clock, Policy
from tables.receipt import ReceiptState
from tables.turn import FUTURE_GRACE_MS
from tests.unit.step_world import (
    HOUR,
    ME,
    MINUTE,
    NOW,
    T0,
    YOU,
    Machine,
    again,
    fact,
    made,
    registered,
    taken,
    turn_value,
)

PARIS = made("t1", "identity.city", "paris")


async def test_everything_that_survives_goes_on_in_the_order_taken() -> None:
    m = Machine()
    await m.process.collect(
        [
            m.turn("I live in Paris.", "t1"),
            m.command("pin", "c1", memory_ids=[PARIS]),
            m.due(PARIS, T0),
            m.delete("session", "s9"),
            m.turn("I love jazz.", "t2", at=T0 + 2 * HOUR),
        ]
    )
    assert m.kinds() == ["turn", "command", "due", "erasure", "turn"]


async def test_small_talk_shapes_the_window_only() -> None:
    m = Machine()
    await m.run(m.turn("hello", "t1"), m.turn("I live in Paris.", "t2", role="assistant", at=T0 + 1))
    assert m.window() == ["hello", "I live in Paris."]
    assert m.kinds() == []


async def test_a_turn_without_consent_shapes_the_window_only() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1", consent=False), m.turn("I love jazz.", "t2", minor=True))
    assert sorted(m.window()) == ["I live in Paris.", "I love jazz."]
    assert m.kinds() == []


async def test_a_minor_is_remembered_with_consent() -> None:
    m = Machine()
    await m.run(m.turn("I love jazz.", "t2", minor=True, consent=True))
    assert m.contents() == ["I love jazz."]


async def test_a_wish_for_now_becomes_state_of_its_session_alone() -> None:
    m = Machine()
    await m.run(m.turn("这次回答简短一点", "t1"))
    assert [wish.slot for wish in m.session().wishes] == ["preference.answer_length"]
    assert m.contents() == []


async def test_the_same_turn_id_in_the_same_session_is_taken_once() -> None:
    m = Machine()
    await m.each(m.turn("I live in Paris.", "t1"), m.turn("I live in Rome.", "t1", at=T0 + 1))
    assert m.window() == ["I live in Paris."]
    assert m.contents() == ["I live in Paris."]


async def test_the_same_turn_id_in_another_session_or_of_another_user_is_another_turn() -> None:
    m = Machine()
    await m.run(
        m.turn("I live in Paris.", "t1"),
        m.turn("I love jazz.", "t1", session_id="s2"),
        m.turn("I live in Rome.", "t1", scope=YOU),
    )
    assert m.contents(ME) == ["I live in Paris.", "I love jazz."]
    assert m.contents(YOU) == ["I live in Rome."]


async def test_without_an_id_every_record_is_a_turn_and_its_redelivery_none() -> None:
    m = Machine()
    first, second = m.turn("hello", ""), m.turn("hello", "")
    await m.each(first, second, first)
    assert m.window() == ["hello", "hello"]


async def test_a_redelivered_batch_is_known_by_the_guard_after_a_restart() -> None:
    m = Machine()
    batch = [m.turn("I live in Paris.", "t1"), m.turn("I love jazz.", "t2", at=T0 + 1)]
    await m.run(*batch)
    sent = len(m.kinds())
    m.restart()
    await m.run(*batch)
    assert len(m.kinds()) == sent
    assert m.window() == ["I live in Paris.", "I love jazz."]


async def test_a_turn_without_an_id_below_the_guard_is_not_taken_again_when_its_mark_is_forgotten() -> None:
    """§11.6: beyond 512 turns the offset in the row still knows it."""
    m = Machine()
    batch = [m.turn("hello", "", at=T0 + n) for n in range(600)]
    await m.run(*batch)
    m.restart()
    await m.run(batch[0])
    assert m.session().offsets[TURNS] == 599
    assert len(m.session().seen) == 512
    assert m.session().window[-1].at == T0 + 599
    assert T0 not in [turn.at for turn in m.session().window]


async def test_a_list_is_taken_turn_by_turn_and_the_letter_names_the_bad_ones() -> None:
    m = Machine()
    good, other = turn_value("I live in Paris.", "t1"), turn_value("I love jazz.", "t2", at=T0 + 1)
    await m.run(m.send(TURNS, [good, {"id": 7}, other, "words"], ME))
    (letter,) = m.bus.records(f"{TURNS}.dlq")
    assert m.contents() == ["I live in Paris.", "I love jazz."]
    assert fact(letter, "items") == "1,3"


async def test_a_list_of_nothing_but_bad_turns_makes_a_letter_that_fits() -> None:
    m = Machine()
    await m.run(m.send(TURNS, b"[" + b",".join([b"0"] * TURNS_MAX) + b"]", ME))
    (letter,) = m.bus.records(f"{TURNS}.dlq")
    assert len(fact(letter, "items").split(",")) == min(ITEMS_MAX, TURNS_MAX)


async def test_a_list_too_long_to_work_through_is_refused_whole() -> None:
    m = Machine()
    await m.run(m.send(TURNS, b"[" + b",".join([b"0"] * 2_000_000) + b"]", ME))
    assert m.reasons(TURNS) == [("too_large", "turns")]


ILL: list[tuple[bytes | dict[str, Any], str, str]] = [
    (b"{", "not_json", ""),
    (b"", "not_json", ""),
    (b"3", "wrong_type", "turn"),
    (b"null", "wrong_type", "turn"),
    (turn_value("hi", v=2), "unknown_version", "v"),
    (turn_value("hi", tenant_id="other"), "unknown_tenant", ""),
    ({"content": "hi"}, "missing_field", "tenant_id"),
    (turn_value("hi", user_id=None), "missing_field", "user_id"),
    (turn_value("hi", user_id=3), "wrong_type", "user_id"),
    (turn_value("hi", user_id="a\x00"), "bad_id", "user_id"),
    (turn_value("hi", session_id="s" * 129), "bad_id", "session_id"),
    (turn_value(" \n "), "blank_content", "content"),
    (turn_value("a\x00b"), "bad_text", "content"),
    (turn_value("x" * 5_000_000), "too_large", "content"),
    (turn_value("hi", at=0), "bad_time", "at"),
    (turn_value("hi", at="yesterday"), "bad_time", "at"),
    (turn_value("hi", at=1.5), "wrong_type", "at"),
    (turn_value("hi", role="robot"), "bad_value", "role"),
    (turn_value("hi", consent="yes"), "wrong_type", "consent"),
    (b'{"tenant_id":"acme","user_id":"u-1","content":"\\ud800"}', "bad_text", ""),
]


@pytest.mark.parametrize(("value", "reason", "field"), ILL)
async def test_what_can_never_be_right_goes_to_the_letters_with_its_reason(
    value: bytes | dict[str, Any], reason: str, field: str
) -> None:
    m = Machine()
    bad = m.send(TURNS, value, ME)
    await m.run(bad, m.turn("I live in Paris.", "t1"))
    assert m.reasons(TURNS) == [(reason, field)]
    assert m.contents() == ["I live in Paris."]


async def test_a_null_value_goes_to_the_letters() -> None:
    m = Machine()
    await m.run(taken(m.bus.append(Outgoing(TURNS, b"acme", None))))
    assert m.reasons(TURNS) == [("null_value", "")]


async def test_a_letter_holds_the_original_bytes_key_headers_and_place() -> None:
    m = Machine()
    headers = (("traceparent", b"00-1"), ("dlq.attempts", b"2"), ("dlq.stage", b"forged"))
    record = m.bus.append(Outgoing(TURNS, b"acme", b"\xff{", headers))
    await m.run(taken(record))
    (letter,) = m.bus.records(f"{TURNS}.dlq")
    assert (letter.key, letter.value, letter.partition) == (b"acme", b"\xff{", record.partition)
    assert dict(letter.headers)["traceparent"] == b"00-1"
    assert (fact(letter, "original-topic"), fact(letter, "original-offset")) == (TURNS, "0")
    assert (fact(letter, "stage"), fact(letter, "attempts")) == ("collect", "3")


@pytest.mark.parametrize("said", [b"many", b"-1", b"\xff", b"9" * 40, b"", "²".encode()])
async def test_a_forged_count_of_attempts_stops_nothing(said: bytes) -> None:
    m = Machine()
    await m.run(taken(m.bus.append(Outgoing(TURNS, b"acme", b"{", (("dlq.attempts", said),)))))
    (letter,) = m.bus.records(f"{TURNS}.dlq")
    assert fact(letter, "attempts") == "1"


async def test_no_header_of_a_letter_holds_what_was_said() -> None:
    m = Machine()
    await m.run(m.send(TURNS, turn_value("my secret", role="secret role"), ME))
    (letter,) = m.bus.records(f"{TURNS}.dlq")
    assert not any(b"secret" in value for _, value in letter.headers)


@pytest.mark.parametrize("key", [b"", b"other", b"acme#0", b"acme/ann"])
async def test_a_key_that_disagrees_with_its_value_is_refused(key: bytes) -> None:
    m = Machine()
    await m.run(m.send(TURNS, turn_value("I live in Paris."), ME, key=key))
    assert m.reasons(TURNS) == [("key_mismatch", "")]


async def test_a_record_on_a_partition_that_is_not_its_keys_is_refused() -> None:
    m = Machine(partitions=2)
    right = m.turn("I live in Paris.", "t1")
    await m.run(again(right, partition=1 - right.partition))
    assert m.reasons(TURNS) == [("key_mismatch", "")]


async def test_a_tenant_with_shards_has_a_route_for_each_user() -> None:
    m = Machine(registered(shards=8), partitions=2)
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("I love jazz.", "t2", scope=YOU))
    await m.run(m.send(TURNS, turn_value("hello", "t3"), ME, key=b"acme"))
    assert (m.contents(ME), m.contents(YOU)) == (["I live in Paris."], ["I love jazz."])
    assert m.reasons(TURNS) == [("key_mismatch", "")]


HOSTILE = ["a'b\"c", "a\\b", "*", "%", "a/b", "a#1", "a%2Fb", "中文", "👩‍👩‍👧", "\u00fc", "u\u0308", " a ", "x" * 128]


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_but_legal_ids_just_work_byte_exact(name: str) -> None:
    m = Machine(registered(name), partitions=2)
    scope = Scope(name, name)
    await m.run(m.turn("I live in Paris.", name, scope=scope, session_id=name, task_id=name))
    assert m.window(name, scope) == ["I live in Paris."]
    assert [memory.session for memory in m.memories(scope).values()] == [name]
    assert m.reasons(TURNS) == []
    await m.run(m.delete("session", name, scope=scope))
    assert m.contents(scope) == []
    assert m.window(name, scope) == []


# signatures, §11.15


@pytest.mark.parametrize("topic", [COMMANDS, DELETE])
async def test_an_unsigned_command_or_delete_does_nothing(topic: str) -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"))
    value = {
        "request_id": "x",
        "tenant_id": "acme",
        "user_id": "u-1",
        "kind": "reset",
        "scope": "all",
        "selector": {"reach": "user"},
        "actor": {"sub": "u-1", "role": "user"},
        "at": T0 + HOUR,
    }
    await m.run(m.send(topic, value, ME, signed=False))
    assert m.reasons(topic) == [("unsigned", "")]
    assert m.contents() == ["I live in Paris."]
    assert m.shelf.user_marks == {}


async def test_a_delete_altered_after_it_was_signed_does_nothing() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"))
    sound = m.delete("session", "s9")
    await m.run(again(sound, value=(sound.value or b"").replace(b"s9", b"s1")))
    assert m.reasons(DELETE) == [("bad_signature", "")]
    assert m.contents() == ["I live in Paris."]


# clock, §11.2


async def test_a_turn_from_the_future_of_the_wall_clock_is_refused_beyond_five_minutes() -> None:
    m = Machine(registered(clock=Clock.WALL))
    await m.run(m.turn("hello", "t1", at=NOW + FUTURE_GRACE_MS), m.turn("hello", "t2", at=NOW + FUTURE_GRACE_MS + 1))
    assert m.reasons(TURNS) == [("future_time", "at")]
    assert m.window() == ["hello"]


async def test_the_event_clock_is_the_greatest_time_seen_and_outlives_the_process() -> None:
    m = Machine()
    await m.run(m.turn("hello", "t1", at=T0 + HOUR), m.turn("hello", "t2", at=T0))
    assert m.shelf.clocks == {"acme": T0 + HOUR}
    assert m.restart().collect.clock(0, "acme") == T0 + HOUR


async def test_a_signed_tick_moves_the_event_clock() -> None:
    m = Machine()
    await m.run(m.command("tick", "c1", Scope("acme", ""), at=T0 + 5 * HOUR))
    assert m.shelf.clocks == {"acme": T0 + 5 * HOUR}


async def test_a_wall_clock_tenant_has_no_event_clock() -> None:
    m = Machine(registered(clock=Clock.WALL))
    await m.run(m.turn("hello", "t1"))
    assert m.shelf.clocks == {}


async def test_what_is_not_yet_due_is_refused() -> None:
    m = Machine()
    await m.run(m.turn("hello", "t1"), m.due(PARIS, T0 + 1))
    assert m.reasons(EXPIRE) == [("future_time", "due_at")]


# progress, §11.3


async def test_progress_is_published_once_everything_before_it_is_done_refused_records_included() -> None:
    m = Machine()
    await m.process.collect([m.turn("I live in Paris.", "t1"), m.send(TURNS, b"{", ME), m.command("tick", "c1")])
    await m.extract()
    assert m.shelf.progress == {}
    await m.drain()
    assert m.shelf.progress == {(TURNS, 0): 1, (COMMANDS, 0): 0}


async def test_progress_does_not_pass_a_record_whose_effects_are_not_done() -> None:
    m = Machine()
    await m.process.collect([m.turn("I live in Paris.", "t1")])
    await m.extract()
    m.index.away = True
    with pytest.raises(Unavailable):
        await m.drain()
    assert m.shelf.progress == {}
    m.index.away = False
    await m.drain()
    assert m.shelf.progress == {(TURNS, 0): 0}


@pytest.mark.parametrize("engine", ["bus", "redis"])
async def test_while_an_engine_is_away_nothing_is_lost_and_nothing_is_done_twice(engine: str) -> None:
    m = Machine()
    batch = [m.turn("I live in Paris.", "t1")]
    part: Any = m.bus if engine == "bus" else m.shelf
    part.away = True
    with pytest.raises(Unavailable):
        await m.process.collect(batch)
    part.away = False
    await m.run(*batch)
    assert m.window() == ["I live in Paris."]
    assert m.kinds() == ["turn"]


# sessions, §11.17


async def test_a_turn_after_the_gap_opens_a_new_window() -> None:
    m = Machine(registered("acme", Policy(session_gap_ms=HOUR)))
    await m.each(m.turn("hello", "t1"), m.turn("hello again", "t2", at=T0 + HOUR + 1))
    assert m.window() == ["hello again"]


async def test_a_turn_from_before_the_window_goes_to_memory_only() -> None:
    m = Machine(registered("acme", Policy(session_gap_ms=HOUR)))
    await m.each(m.turn("hello", "t1", at=T0 + 3 * HOUR), m.turn("I live in Paris.", "t2"))
    assert m.window() == ["hello"]
    assert m.contents() == ["I live in Paris."]


# reset and consent


async def test_a_reset_of_the_context_clears_its_session_and_no_memory() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("hello", "t2", session_id="s2"))
    await m.run(m.command("reset", "c1", scope="context", session_id="s1"))
    assert (m.window("s1"), m.window("s2")) == ([], ["hello"])
    assert m.contents() == ["I live in Paris."]
    assert m.shelf.outcomes["acme", "c1"].result is Result.APPLIED


async def test_a_reset_of_the_history_clears_every_session_of_the_user_alone() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("hello", "t2", session_id="s2"), m.turn("hi", "t3", scope=YOU))
    await m.run(m.command("reset", "c1", scope="history"))
    assert (m.window("s1"), m.window("s2"), m.window("s1", YOU)) == ([], [], ["hi"])
    assert m.contents() == ["I live in Paris."]


async def test_a_reset_of_all_erases_the_user_with_a_receipt() -> None:
    m = Machine()
    await m.run(m.turn("I live in Paris.", "t1"), m.turn("I love jazz.", "t2", scope=YOU))
    await m.run(m.command("reset", "c1", scope="all"))
    assert (m.contents(ME), m.window()) == ([], [])
    assert m.contents(YOU) == ["I love jazz."]
    assert m.shelf.receipts["acme", "c1"].state is ReceiptState.VERIFIED


async def test_a_withdrawn_consent_erases_what_it_covered_and_refuses_what_comes() -> None:
    m = Machine()
    await m.run(m.turn("I am allergic to peanuts.", "t1"), m.turn("I love jazz.", "t2", at=T0 + 1))
    await m.run(m.command("consent", "c1", allow=False, of_kind="health", at=T0 + MINUTE))
    await m.run(m.turn("I take ibuprofen every day.", "t3", at=T0 + 2 * MINUTE))
    assert m.contents() == ["I love jazz."]
    assert "I am allergic to peanuts." not in m.window()
    assert m.shelf.outcomes["acme", "c1"].result is Result.APPLIED


async def test_a_turn_said_before_the_withdrawal_is_not_remembered_after_it() -> None:
    m = Machine()
    await m.run(m.command("consent", "c1", allow=False, of_kind="health", at=T0 + MINUTE))
    await m.run(m.turn("I am allergic to peanuts.", "t1"))
    assert m.contents() == []


async def test_a_batch_cut_off_by_a_move_of_partitions_leaves_nothing_cached() -> None:
    m = Machine()
    await m.run(m.turn("hello", "t1"))
    m.process.collect.forget()
    for table in ("sessions", "fences"):
        database = m.stores[table]._dbs[0]
        for key in list(database.keys()):
            del database[key]
    await m.run(m.turn("hello", "t2", at=T0 + 1))
    assert [turn.id for turn in m.session().window] == ["t2"]


async def test_snapshots_stay_on_the_partition_of_their_source() -> None:
    m = Machine(partitions=2)
    record: Taken = m.turn("I live in Paris.", "t1")
    await m.run(record)
    assert {r.partition for topic in (SNAPSHOTS, CANDIDATES) for r in m.bus.records(topic)} == {record.partition}


def test_every_reason_is_told_apart() -> None:
    assert {reason for _, reason, _ in ILL} <= set(BadRecord)
