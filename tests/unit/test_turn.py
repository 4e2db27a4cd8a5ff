"""A turn as the platform sends it, checked to the last field (bad input of design §3, §11.2, §11.16)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position, Scope, turn_key, turn_key_at
from tables.turn import CONTENT_CHARS_MAX, EARLIEST_MS, LATEST_MS, Role, Turn, parse_time, parse_turn

PLACE = Position("conversation.turns.v1", 1, 42, 3)
AT = 1_772_355_600_000


def parsed(**fields: Any) -> Turn:
    base = {"id": "t", "tenant_id": "a", "user_id": "u", "session_id": "s", "role": "user", "content": "hi", "at": AT}
    return parse_turn({k: v for k, v in {**base, **fields}.items() if v != "absent"}, PLACE)


def refused(**fields: Any) -> tuple[BadRecord, str]:
    with pytest.raises(InvalidRecord) as error:
        parsed(**fields)
    return error.value.reason, error.value.field


def test_a_turn_has_everything_it_was_sent_with() -> None:
    turn = parsed(task_id="k", topic="food", consent=False, lang="en", minor=True, v=1, extra="ignored")
    assert turn == Turn(
        key=turn_key(Scope("a", "u"), "s", "t"),
        id="t",
        scope=Scope("a", "u"),
        session="s",
        task="k",
        topic="food",
        role=Role.USER,
        content="hi",
        at=AT,
        zone_minutes=0,
        consent=False,
        lang="en",
        minor=True,
        position=PLACE,
    )


@pytest.mark.parametrize("none", ["absent", None, ""])
def test_a_turn_without_an_id_is_known_by_its_place(none: str | None) -> None:
    assert parsed(id=none).key == turn_key_at(Scope("a", "u"), "s", PLACE)


@pytest.mark.parametrize("field", ["tenant_id", "user_id", "session_id", "role", "content", "at"])
@pytest.mark.parametrize("none", ["absent", None])
def test_what_a_turn_cannot_do_without(field: str, none: str | None) -> None:
    assert refused(**{field: none}) == (BadRecord.MISSING_FIELD, field)


@pytest.mark.parametrize("field", ["tenant_id", "user_id", "session_id", "id", "task_id", "topic", "lang"])
@pytest.mark.parametrize("value", ["x" * 129, "a\x00", "a\nb", "\ud800"])
def test_an_illegal_id_is_refused_wherever_it_stands(field: str, value: str) -> None:
    assert refused(**{field: value}) == (BadRecord.BAD_ID, field)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", BadRecord.BLANK_CONTENT),
        (" \t\n\u3000", BadRecord.BLANK_CONTENT),
        (7, BadRecord.WRONG_TYPE),
        (["hi"], BadRecord.WRONG_TYPE),
        ("a\x00", BadRecord.BAD_TEXT),
        ("中\udfff", BadRecord.BAD_TEXT),
        ("x" * (CONTENT_CHARS_MAX + 1), BadRecord.TOO_LARGE),
    ],
)
def test_content_that_is_no_text_is_refused(content: object, reason: BadRecord) -> None:
    assert refused(content=content) == (reason, "content")


def test_the_longest_content_is_taken_as_it_is() -> None:
    assert len(parsed(content="漢" * CONTENT_CHARS_MAX).content) == CONTENT_CHARS_MAX


@pytest.mark.parametrize(
    ("value", "at", "zone"),
    [
        (AT, AT, 0),
        (EARLIEST_MS, EARLIEST_MS, 0),
        (LATEST_MS - 1, LATEST_MS - 1, 0),
        ("2026-03-01T09:00:00Z", AT, 0),
        ("2026-03-01T17:00:00+08:00", AT, 480),
        ("2026-03-01T04:30:00.123456-04:30", AT + 123, -270),
    ],
)
def test_a_time_is_milliseconds_or_a_text_with_its_offset(value: object, at: int, zone: int) -> None:
    assert parse_time(value, "at") == (at, zone)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0, BadRecord.BAD_TIME),
        (EARLIEST_MS - 1, BadRecord.BAD_TIME),
        (LATEST_MS, BadRecord.BAD_TIME),
        (AT // 1000, BadRecord.BAD_TIME),  # seconds instead of milliseconds lie in 1970
        (float(AT), BadRecord.WRONG_TYPE),
        (True, BadRecord.WRONG_TYPE),
        ("2026-03-01T09:00:00", BadRecord.BAD_TIME),
        ("0001-01-01T00:00:00+23:59", BadRecord.BAD_TIME),
        ("9999-12-31T23:59:59-23:59", BadRecord.BAD_TIME),
        ("", BadRecord.BAD_TIME),
        (str(AT), BadRecord.BAD_TIME),
    ],
)
def test_a_time_that_is_none_is_refused(value: object, reason: BadRecord) -> None:
    assert refused(at=value) == (reason, "at")


@pytest.mark.parametrize("version", [0, 2, 99])
def test_an_unknown_version_is_refused(version: int) -> None:
    assert refused(v=version) == (BadRecord.UNKNOWN_VERSION, "v")


@pytest.mark.parametrize("version", ["1", 1.0, True, None])
def test_a_version_is_a_whole_number(version: object) -> None:
    assert refused(v=version) == (BadRecord.WRONG_TYPE, "v")


@pytest.mark.parametrize(("role", "reason"), [("robot", BadRecord.BAD_VALUE), (1, BadRecord.WRONG_TYPE)])
def test_a_role_is_one_of_the_four(role: object, reason: BadRecord) -> None:
    assert refused(role=role) == (reason, "role")


@pytest.mark.parametrize("field", ["consent", "minor"])
@pytest.mark.parametrize("value", ["true", 0, 1, []])
def test_a_yes_or_no_is_nothing_else(field: str, value: object) -> None:
    assert refused(**{field: value}) == (BadRecord.WRONG_TYPE, field)


def test_a_turn_that_does_not_say_so_leaves_consent_open() -> None:
    assert (parsed().consent, parsed(consent=None).consent) == (None, None)


@pytest.mark.parametrize("data", [None, [], "turn", 7, True])
def test_what_is_no_object_is_no_turn(data: object) -> None:
    with pytest.raises(InvalidRecord) as error:
        parse_turn(data, PLACE)
    assert error.value.reason is BadRecord.WRONG_TYPE
