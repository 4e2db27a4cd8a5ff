"""A ground to play on that remembers every turn's text as a memory, and everything that it was asked in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from streams.evaluation.ports import Answer, Json
from tables.command import ActorRole
from tables.keys import Position, Scope
from tables.turn import parse_time


class FakeGround:
    """Fits `streams.evaluation.ports.Ground`. A text "… until T" ends at the RFC 3339 time T, once a tick says so.

    log        what happened, in order: the verb and what tells it
    unsettled  records sent and not settled: a read with any there is a fault of the player
    """

    def __init__(self) -> None:
        self.log: list[tuple[str, object]] = []
        self.held: dict[Scope, list[dict[str, Any]]] = {}
        self.open: dict[Scope, list[dict[str, Any]]] = {}
        self.commands: list[tuple[Scope, dict[str, Any], ActorRole]] = []
        self.erasures: list[tuple[Scope, dict[str, Any]]] = []
        self.tenants: list[str] = []
        self.unsettled: set[Position] = set()
        self.refuses: set[str] = set()
        self._sent = 0

    async def register(self, tenants: Sequence[Any]) -> None:
        self.tenants += [tenant.id for tenant in tenants]

    async def turn(self, scope: Scope, body: Json) -> Position | None:
        self.log.append(("turn", body["content"]))
        text = str(body["content"])
        end = re.search(r"until (\S+)", text)
        self.held.setdefault(scope, []).append(
            {
                "id": f"m{len(self.held.get(scope, ()))}",
                "content": text,
                "state": "frozen" if "always" in text else "committed",
                "status": "active",
                "source_ids": [body.get("id", "")],
                "subject": "user",
                "slot": "fact",
                "value": text,
                "due": parse_time(end[1], "")[0] if end else 0,
            }
        )
        return self._position("turns")

    async def command(self, scope: Scope, body: Json, role: ActorRole) -> Position | None:
        self.log.append(("tick", body["at"]) if body["kind"] == "tick" else ("command", body["kind"]))
        if body["kind"] == "tick":
            for owner, memories in self.held.items():
                if owner.tenant == scope.tenant:
                    self.held[owner] = [m for m in memories if not m["due"] or m["due"] > body["at"]]
        else:
            self.commands.append((scope, dict(body), role))
        return self._position("commands")

    async def erase(self, scope: Scope, body: Json) -> Position | None:
        self.log.append(("erase", body["selector"]["reach"]))
        self.erasures.append((scope, dict(body)))
        return self._position("deletes")

    async def settled(self, positions: Sequence[Position]) -> None:
        self.log.append(("settled", len(positions)))
        self.unsettled -= set(positions)

    async def recall(self, scope: Scope, body: Json, after: Sequence[Position]) -> Answer:
        self._read("recall", body["query"])
        if scope.user in self.refuses:
            return Answer({}, "refused with 401")
        items = [self._item(memory) for memory in self.held.get(scope, ())]
        sections = {"question": [self._item({"content": body["query"]})], "reference": items}
        return Answer({"sections": sections, "questions": self.open.get(scope, []), "trace_id": "tr"}, millis=5.0)

    async def memories(self, scope: Scope, params: Mapping[str, str], after: Sequence[Position]) -> Answer:
        self._read("list", params.get("status", "active"))
        wanted = params.get("status", "active")
        return Answer({"memories": [m for m in self.held.get(scope, ()) if m["status"] == wanted]})

    async def questions(self, scope: Scope, after: Sequence[Position]) -> Answer:
        self._read("questions", scope.user)
        return Answer({"questions": self.open.get(scope, [])})

    async def next_due(self, scope: Scope) -> int:
        self._read("due", scope.user)
        return min((m["due"] for m in self.held.get(scope, ()) if m["due"]), default=0)

    def _read(self, verb: str, what: object) -> None:
        assert not self.unsettled, f"{verb} before the writes were settled"
        self.log.append((verb, what))

    def _position(self, topic: str) -> Position:
        self._sent += 1
        position = Position(topic, 0, self._sent)
        self.unsettled.add(position)
        return position

    @staticmethod
    def _item(memory: Mapping[str, Any]) -> dict[str, Any]:
        return {"content": memory["content"], "origin": "memory", "confirmation": "stated", "type": "fact"}
