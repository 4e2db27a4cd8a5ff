"""The published contracts say what the readers check and what the engine writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from connectors.codec import encode
from connectors.kafka.topics import TOPICS
from streams.commands.contracts import ASYNCAPI, Change, Command, Delete, Turn, documents, schema_of
from streams.commands.schemas import FOLDER, drifted, texts
from streams.persist import change_event
from tables.change import Change as Changed
from tables.change import Op, Rule
from tables.command import CommandKind, parse_command
from tables.erasure import parse_erasure
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Position
from tables.turn import parse_turn
from tests.unit.builders import memory, position

AT = "2026-03-01T09:00:00+08:00"
ACTOR = {"sub": "u1", "role": "user"}
TURN = {"tenant_id": "t", "user_id": "u", "session_id": "s", "role": "user", "content": "hi", "at": AT}
COMMAND = {"request_id": "r", "kind": "tick", "tenant_id": "t", "actor": ACTOR, "at": AT}
DELETE = {"request_id": "r", "tenant_id": "t", "selector": {"reach": "tenant"}, "actor": ACTOR, "at": AT}

READ: list[tuple[type, Mapping[str, Any], Callable[[object], object]]] = [
    (Turn, TURN, lambda data: parse_turn(data, Position("", 0, 0))),
    (Command, COMMAND, parse_command),
    (Delete, DELETE, parse_erasure),
]


def test_the_committed_files_are_as_the_types_say() -> None:
    held = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}

    assert drifted(held, texts()) == []


def test_drift_is_shown_as_a_diff() -> None:
    diff = drifted({"a.json": "1\n", "gone.json": "x\n"}, {"a.json": "2\n"})

    assert {"-1\n", "+2\n", "-x\n"} <= set(diff)


@pytest.mark.parametrize(("kind", "example", "parse"), READ, ids=["turn", "command", "delete"])
def test_what_is_required_is_what_the_reader_misses(
    kind: type, example: Mapping[str, Any], parse: Callable[[object], object]
) -> None:
    schema = schema_of(kind.__name__.lower())
    required = schema["$defs"]["Turn"]["required"] if kind is Turn else schema["required"]
    parse(dict(example))

    assert set(required) == set(example)
    for name in required:
        with pytest.raises(InvalidRecord) as caught:
            parse({key: value for key, value in example.items() if key != name})
        reason = BadRecord.MISSING_FIELD if name != "actor" else caught.value.reason
        assert caught.value.reason is reason
        assert caught.value.field.startswith(name)


def test_a_change_has_the_fields_of_its_contract() -> None:
    changed = Changed("c1", Op.CREATE, Rule.NEW, None, memory(), 1, position())

    value = orjson.loads(change_event(changed))
    schema = schema_of("change")

    assert list(schema["properties"]) == list(value)
    assert set(schema["$defs"]["Memory"]["properties"]) == set(value["body"]["data"]["after"])
    assert set(schema["$defs"]["Cause"]["properties"]) == set(value["source"])


def test_a_state_has_the_fields_of_its_contract() -> None:
    value = orjson.loads(encode(memory()))
    schema = schema_of("state")

    assert set(schema["required"]) == set(value)
    said = schema["properties"]["body"]["properties"]["data"]
    assert set(said["required"]) == set(value["body"]["data"])


def test_the_asyncapi_document_names_every_public_topic_and_only_documents_that_exist() -> None:
    made = documents()
    document = made[ASYNCAPI]

    assert set(document["channels"]) == {spec.name for spec in TOPICS if not spec.internal}
    payloads = {message["payload"]["$ref"] for message in document["components"]["messages"].values()}
    assert payloads == {f"./{name}" for name in made if name != ASYNCAPI}
    assert document["operations"]["receive-conversation.turns.v1"]["action"] == "receive"


def test_every_kind_of_command_is_in_the_contract() -> None:
    assert set(schema_of("command")["$defs"]["CommandKind"]["enum"]) == set(CommandKind)
    assert Command.__dataclass_fields__.keys() >= set(COMMAND)
    assert Change.__dataclass_fields__["version"] is not None
