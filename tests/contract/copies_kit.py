"""Builders for the contract suites of the copies: one object with everything set, change what the test is about."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import numpy as np

from connectors.milvus.placement import choose
from tables.candidate import Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.copies import IndexRow
from tables.erasure import Mark, Reach
from tables.keys import Position, Scope, digest
from tables.memory import Freeze, Memory, Pin, Review, Source, State, Status
from tables.policy import Tenant
from tables.question import Question, QuestionKind
from tables.session import Session, WindowTurn, Wish

NOW = 1_764_000_000_000

HOSTILE = (
    "plain",
    'quote"double',
    "quote'single",
    "back\\slash\\",
    '"] or tenant != "',
    "' or 1==1 --",
    "*",
    "%",
    "?[a-z]*",
    "a/b",
    "a#1",
    "a%2Fb",
    ":",
    "a:b",
    "中文编号",
    "👩‍👩‍👧‍👦",
    "\u00fc",  # one letter, composed and decomposed: two ids
    "u\u0308",
    " spaced ",
    "x" * 128,
    "漢" * 42 + "xx",
)
"""Legal ids that break careless filters, patterns and joined keys; the last two are 128 bytes."""


def unique(name: str = "tenant") -> str:
    return f"{name}-{uuid.uuid4().hex}"


def tenant(name: str | None = None, *, bucket: bool = False) -> Tenant:
    """A registered tenant with a partition of its own, or in a shared bucket."""
    name = unique() if name is None else name
    return Tenant(name, placement=choose(name, 1 if bucket else 0, limit=1, buckets=1))


def memory(scope: Scope, n: int | str = 0, **changes: Any) -> Memory:
    """Memory `n` of a user: the same arguments give the same id."""
    made = Memory(
        id=digest("test", scope.tenant, scope.user, str(n)),
        scope=scope,
        session="s'1\"",
        task="",
        topic="food",
        kind=Kind.PREFERENCE,
        subject="self",
        slot="drink",
        single=True,
        value="乌龙茶",
        polarity=Polarity.POSITIVE,
        content=f'我喜欢"乌龙茶" ☕ \\ {n}',
        span=(0, 7),
        sources=(Source(digest("turn", str(n)), "turn-1", "s'1\"", NOW - 5, 0.9, explicit=True),),
        status=Status.ACTIVE,
        state=State.COMMITTED,
        freeze=Freeze.PENDING,
        created_at=NOW - 5,
        updated_at=NOW - 4,
        expires_at=0,
        last_mentioned_at=NOW - 3,
        last_access_at=0,
        hits=2,
        pin=Pin.INTERN,
        review=Review("someone", NOW, "乌龙茶"),
        sensitivity=Sensitivity.NONE,
        version=3,
        confidence=0.87,
        importance=0.5,
        confirmation=Confirmation.STATED,
        lang="zh",
        tokens=9,
        supersedes="",
        superseded_by="",
    )
    return replace(made, **changes)


def vector(seed: int | str) -> tuple[float, ...]:
    """A unit vector of 384 float32; the same seed gives the same one."""
    values = np.random.default_rng(abs(int(digest("vector", str(seed))[:12], 16))).normal(size=384)
    return tuple(float(value) for value in (values / np.linalg.norm(values)).astype(np.float32))


def row(scope: Scope, n: int | str = 0, **changes: Any) -> IndexRow:
    return IndexRow(memory(scope, n, **changes), vector(n))


def question(scope: Scope, n: int = 0, **changes: Any) -> Question:
    proposed = Candidate(
        id=digest("candidate", str(n)),
        scope=scope,
        session="s",
        task="",
        topic="",
        kind=Kind.PREFERENCE,
        subject="self",
        slot="drink",
        single=True,
        value="coffee",
        polarity=Polarity.NEGATIVE,
        content="no more coffee",
        span=(0, 14),
        expires_at=0,
        confidence=0.9,
        explicit=True,
        importance=0.5,
        confirmation=Confirmation.STATED,
        sensitivity=Sensitivity.NONE,
        lang="en",
        turn=digest("turn", str(n)),
        turn_id="t",
        at=NOW,
        position=Position("topic", 0, n),
        vector=(0.6, 0.8),
    )
    made = Question(
        id=digest("question", scope.tenant, scope.user, str(n)),
        kind=QuestionKind.CONTRADICTION,
        memory_id=memory(scope, n).id,
        held="coffee",
        proposed=proposed,
        text="Do you still drink coffee?",
        lang="en",
        asked_at=NOW + n,
    )
    return replace(made, **changes)


def session(n: int = 0) -> Session:
    """A session with a window, a wish, and the guards that readers do not get."""
    turn = WindowTurn(digest("turn", str(n)), f"t{n}", "user", f"你好, world {n}", NOW, 4)
    wish = Wish("length", "answer briefly", turn.key, NOW)
    return Session((turn,), (wish,), NOW, NOW + n, seen=(turn.key,), offsets={"turns": n})


def mark(reach: Reach = Reach.MEMORY, value: str = "m", **changes: Any) -> Mark:
    return replace(Mark(reach, value, NOW, 0, NOW + 1, confirmed=False), **changes)
