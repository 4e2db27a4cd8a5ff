"""Values and rows: what is said lies in the body, versions are known, nothing of a bad record is shown (§11.9)."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from connectors.codec import (
    SAID,
    decode,
    decode_held,
    decode_row,
    encode,
    encode_held,
    encode_row,
    from_plain,
    parse_json,
)
from tables.book import Book
from tables.candidate import Candidate
from tables.change import Change, Op, Rule
from tables.errors import BadRecord, InvalidRecord
from tables.memory import Memory
from tables.outbox import recorded
from tables.question import Question, QuestionKind
from tables.session import Session, Wish, fold
from tables.snapshot import Due, Snapshot, SnapshotKind
from tables.turn import parse_turn
from tests.unit.builders import POLICY, SCOPE, T0, candidate, last, memory, position

SECRET = "a certain word"
MEMORY = memory(SECRET, subject=SECRET, content=SECRET, sources=())
CANDIDATE = replace(candidate(SECRET, content=SECRET, subject=SECRET, turn_id="t"), vector=(0.5, -0.25))
QUESTION = Question("q", QuestionKind.SUSPECTED, MEMORY.id, SECRET, CANDIDATE, SECRET, "en", T0)
CHANGE = Change("c", Op.UPDATE, Rule.DUPLICATE, MEMORY, MEMORY, T0, position(4))
STEP = last([CANDIDATE])
BOOK = recorded(STEP.world.book, 3, STEP)
TURN = parse_turn(
    {"tenant_id": "t1", "user_id": "u1", "session_id": "s1", "role": "user", "content": SECRET, "at": T0}, position()
)
SESSION = replace(fold(Session(), TURN, 3, POLICY), wishes=(Wish("slot", SECRET, TURN.key, T0),), offsets={"t": 1})
SNAPSHOT = Snapshot(SnapshotKind.TURN, position(), SCOPE, turn=TURN, candidates=(CANDIDATE,))
VALUES = [MEMORY, CANDIDATE, QUESTION, CHANGE, BOOK, SESSION, SNAPSHOT]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_is_encoded_decodes_to_the_same(value: object) -> None:
    assert decode(type(value), encode(value)) == value
    assert decode_row(type(value), encode_row(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_everything_said_lies_in_the_body(value: object) -> None:
    data = json.loads(encode(value))
    body = data.pop("body")
    assert (body["enc"], body["kid"]) == ("none", "")
    assert SECRET in json.dumps(body)
    assert SECRET not in json.dumps(data)


def test_every_type_that_says_something_is_told_of() -> None:
    assert set(SAID) == {Memory, Candidate, Question, Change, Book, Session, Snapshot}


def test_a_value_without_a_version_is_of_the_first() -> None:
    data = json.loads(encode(MEMORY))
    del data["v"]
    assert decode(Memory, json.dumps(data).encode()) == MEMORY


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_an_unknown_version_is_refused(version: object) -> None:
    raw = json.dumps({**json.loads(encode(MEMORY)), "v": version}).encode()
    with pytest.raises(InvalidRecord) as refused:
        decode(Memory, raw)
    assert refused.value.reason is BadRecord.UNKNOWN_VERSION


@pytest.mark.parametrize("body", [{"enc": "A256GCM", "kid": "k", "data": "x"}, "x", {}, {"enc": "none", "data": []}])
def test_a_body_that_cannot_be_opened_is_refused(body: object) -> None:
    raw = json.dumps({**json.loads(encode(MEMORY)), "body": body}).encode()
    with pytest.raises(InvalidRecord) as refused:
        decode(Memory, raw)
    assert refused.value.reason is BadRecord.UNKNOWN_VERSION


@pytest.mark.parametrize("raw", [b"", b"\x00{}", b"\x02" + encode(Book())])
def test_a_row_of_another_build_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidRecord):
        decode_row(Book, raw)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, BadRecord.NULL_VALUE),
        (b"", BadRecord.NOT_JSON),
        (b"\xff", BadRecord.NOT_JSON),
        (b"nan", BadRecord.NOT_JSON),
        (b"[" * 100_000, BadRecord.NOT_JSON),
        (b'"\\ud800"', BadRecord.BAD_TEXT),
        (b'"\xed\xa0\x80"', BadRecord.BAD_TEXT),
    ],
)
def test_what_is_no_json_has_its_reason(raw: bytes | None, reason: BadRecord) -> None:
    with pytest.raises(InvalidRecord) as refused:
        parse_json(raw)
    assert refused.value.reason is reason


def test_a_refusal_names_the_field_and_never_the_value() -> None:
    data = {"scope": ["t", "u"], "memory_id": 7, "due_at": SECRET}
    with pytest.raises(InvalidRecord) as refused:
        from_plain(Due, data)
    assert refused.value.field in ("memory_id", "due_at")
    assert SECRET not in str(refused.value)


def test_a_vector_is_kept_as_float16_in_the_row() -> None:
    vector = tuple(np.linspace(-1, 1, 384).tolist())
    held, kept = decode_held(encode_held(MEMORY, vector))
    assert held == MEMORY
    assert kept == tuple(np.asarray(vector, dtype=np.float16).astype(float).tolist())


def test_a_row_without_a_vector_has_none() -> None:
    assert decode_held(encode_held(MEMORY, ())) == (MEMORY, ())


def test_a_vector_read_and_written_again_is_the_same() -> None:
    raw = encode_held(MEMORY, (0.1, 0.2, 0.3))
    assert encode_held(*decode_held(raw)) == raw
