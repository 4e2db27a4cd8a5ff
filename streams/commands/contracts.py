"""The public values as they stand on the bus, and the documents that describe them.

What the engine writes is described from its own types (`connectors.codec.encode`: clear fields, `v`, and a body with
what was said). What others write is checked field by field when it is read (`tables.turn`, `tables.command`,
`tables.erasure`); the shapes below say the same as types, and the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from connectors.codec import SAID, json_schema
from connectors.kafka.topics import (
    CHANGES,
    COMMANDS,
    DELETE,
    QUESTIONS,
    RECEIPTS,
    SOURCES,
    STATE,
    TOPICS,
    TURNS,
    TopicSpec,
)
from tables.change import Op, Rule
from tables.command import IDS_MAX, ActorRole, CommandKind
from tables.erasure import Reach
from tables.keys import ID_BYTES_MAX
from tables.memory import Memory, Status
from tables.question import Question
from tables.receipt import Receipt
from tables.turn import CONTENT_CHARS_MAX, Role

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI: Final = "asyncapi.json"

Id = Annotated[str, Field(min_length=1, max_length=ID_BYTES_MAX, description="1 to 128 UTF-8 bytes, no controls")]
OptionalId = Annotated[str | None, Field(max_length=ID_BYTES_MAX, description='null or "" is as absent')]
Ids = Annotated[list[Id] | None, Field(max_length=IDS_MAX)]
Text = Annotated[str, Field(max_length=CONTENT_CHARS_MAX, pattern=r"\S")]
Time = Annotated[int | str, Field(description="RFC 3339 with an offset, or epoch milliseconds; from 2000 to 2100")]
Version = Annotated[Literal[1], Field(description="of the value's format")]


@dataclass(frozen=True)
class Turn:
    """A message of a conversation. A record may hold a list of them, of one route."""

    tenant_id: Id
    user_id: Id
    session_id: Id
    role: Role
    content: Text
    at: Time
    id: OptionalId = None
    task_id: OptionalId = None
    topic: OptionalId = None
    consent: bool | None = None
    lang: OptionalId = None
    minor: bool | None = None
    v: Version = 1


@dataclass(frozen=True)
class Actor:
    sub: Id
    role: ActorRole


@dataclass(frozen=True)
class Command:
    """A signed command (headers `sig`, `kid`): HMAC-SHA256 over the key's length in 8 bytes, the key and the value."""

    request_id: Id
    kind: CommandKind
    tenant_id: Id
    actor: Actor
    at: Time
    user_id: OptionalId = None
    memory_ids: Ids = None
    question_ids: Ids = None
    session_id: OptionalId = None
    task_id: OptionalId = None
    text: Text | None = None
    scope: Annotated[OptionalId, Field(description="of a reset: context, history or all")] = None
    pin: Literal["", "intern", "core"] | None = None
    allow: bool | None = None
    of_kind: OptionalId = None
    record: OptionalId = None
    expected_version: Annotated[int, Field(ge=0)] = 0
    v: Version = 1


@dataclass(frozen=True)
class Selector:
    reach: Reach
    values: Annotated[Ids, Field(description="absent for user and tenant")] = None
    before: Time | None = None


@dataclass(frozen=True)
class Delete:
    """A signed erasure request, signed as a command is. Without a user it concerns the whole tenant."""

    request_id: Id
    tenant_id: Id
    selector: Selector
    actor: Actor
    at: Time
    user_id: OptionalId = None
    reason: OptionalId = None
    v: Version = 1


@dataclass(frozen=True)
class Cause:
    topic: str
    partition: int
    offset: int
    rule: Rule


@dataclass(frozen=True)
class Sides:
    before: Memory | None
    after: Memory | None


@dataclass(frozen=True)
class Body:
    """What was said. `enc` none: `data` is clear."""

    enc: Literal["none"]
    kid: str
    data: Sides


@dataclass(frozen=True)
class Change:
    """A change of a memory, Debezium-shaped. `id` is stable across deliveries: the same change may come again."""

    v: Version
    id: str
    op: Op
    ts_ms: int
    tenant_id: str
    user_id: str
    memory_id: str
    version: int
    status: Status
    source: Cause
    body: Body


VALUES: Final[Mapping[str, tuple[str, type]]] = {
    "turn": (TURNS, Turn),
    "command": (COMMANDS, Command),
    "delete": (DELETE, Delete),
    "change": (CHANGES, Change),
    "state": (STATE, Memory),
    "question": (QUESTIONS, Question),
    "receipt": (RECEIPTS, Receipt),
}
"""Each public value by name: its topic and its type."""


def documents() -> dict[str, Any]:
    """Every document by file name."""
    made = {file_name(name): schema_of(name) for name in VALUES}
    return {**made, ASYNCAPI: asyncapi()}


def file_name(name: str) -> str:
    return f"{name}.schema.json"


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of a public value."""
    kind = VALUES[name][1]
    schema = json_schema(kind)
    if kind in (Memory, Question, Receipt):
        schema = _encoded(schema, SAID.get(kind, frozenset()))
    if kind is Turn:
        definitions = schema.pop("$defs", {})
        one = {"$ref": "#/$defs/Turn"}
        schema = {
            "description": schema["description"],
            "anyOf": [one, {"type": "array", "items": one}],
            "$defs": {**definitions, "Turn": schema},
        }
    plain: dict[str, Any] = _plain(schema)
    return {"$schema": DIALECT, "title": name, **plain}


def asyncapi() -> dict[str, Any]:
    """One AsyncAPI document over the public topics."""
    named = {topic: name for name, (topic, _) in VALUES.items()}
    public = [spec for spec in TOPICS if not spec.internal]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Twinsluice",
            "version": "1",
            "description": "Only optional fields come or go within a version; anything else is a new topic.",
        },
        "defaultContentType": "application/json",
        "channels": {spec.name: _channel(spec, named.get(spec.name, "")) for spec in public},
        "operations": {f"{_action(spec)}-{spec.name}": _operation(spec) for spec in public},
        "components": {"messages": {name: _message(name) for name in VALUES}},
    }


def _encoded(schema: dict[str, Any], said: frozenset[str]) -> dict[str, Any]:
    """The schema of what `connectors.codec.encode` makes of a type: `v`, and a body with what was said."""
    properties: dict[str, Any] = schema["properties"]
    clear = {name: of for name, of in properties.items() if name not in said}
    clear["v"] = {"const": 1}
    if said:
        inside = {name: of for name, of in properties.items() if name in said}
        data = {"type": "object", "properties": inside, "required": list(inside)}
        body = {"enc": {"const": "none"}, "kid": {"type": "string"}, "data": data}
        clear["body"] = {"type": "object", "properties": body, "required": list(body)}
    return {**schema, "properties": clear, "required": list(clear)}


def _plain(value: Any, *, names: bool = False) -> Any:
    """Without the titles that repeat the names; `names`: the keys of this object are names, not words of the schema."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    inside = ("properties", "$defs")
    return {
        key: _plain(item, names=not names and key in inside)
        for key, item in value.items()
        if names or not (key == "title" and isinstance(item, str))
    }


def _channel(spec: TopicSpec, name: str) -> dict[str, Any]:
    policy = spec.config.get("cleanup.policy", "delete").split(",")
    kafka = {"topic": spec.name, "topicConfiguration": {"cleanup.policy": policy}, "bindingVersion": "0.5.0"}
    messages = {name: {"$ref": f"#/components/messages/{name}"}} if name else {}
    return {
        "address": spec.name,
        "description": spec.what,
        **({"messages": messages} if messages else {}),
        "bindings": {"kafka": kafka},
    }


def _operation(spec: TopicSpec) -> dict[str, Any]:
    return {"action": _action(spec), "channel": {"$ref": f"#/channels/{spec.name}"}}


def _action(spec: TopicSpec) -> str:
    return "receive" if spec.name in SOURCES else "send"


def _message(name: str) -> dict[str, Any]:
    key = "tenant/memory id" if name == "state" else "the route: tenant, or tenant#shard; % # / percent-encoded"
    return {
        "name": name,
        "payload": {"$ref": f"./{file_name(name)}"},
        "bindings": {"kafka": {"key": {"type": "string", "description": key}, "bindingVersion": "0.5.0"}},
    }
