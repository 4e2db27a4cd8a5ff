"""What the copies for reading hold: nouns shared by the worker that writes them and the API that reads them."""

from __future__ import annotations

from dataclasses import dataclass

from tables.command import Outcome
from tables.erasure import Mark
from tables.keys import Scope
from tables.memory import Memory
from tables.question import Question
from tables.session import Session


@dataclass(frozen=True, slots=True)
class SessionCopy:
    """A session as it is; `row` None = take the copy away. `ttl_ms` only collects garbage: reads compare times."""

    scope: Scope
    session: str
    row: Session | None
    ttl_ms: int


@dataclass(frozen=True, slots=True)
class UserCopy:
    """What changed of one user's long-term memory: idempotent, the last write of an id wins.

    memories   active, draft, superseded and expired ones as they are now (content included)
    removed    ids whose copy goes away (evicted, deleted)
    questions  opened or answered; only open ones are kept for reading
    dropped_questions  ids of questions that are gone
    """

    scope: Scope
    memories: tuple[Memory, ...] = ()
    removed: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    dropped_questions: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    profile_version: int = 0


@dataclass(frozen=True, slots=True)
class UserView:
    """Everything a recall needs of one user, gathered in one round trip, marks last.

    present   False when nothing of this user is in the copy (never seen, or garbage-collected): load by scope
    clock     the tenant's event clock (epoch ms), 0 when none is known
    """

    scope: Scope
    present: bool
    memories: tuple[Memory, ...]
    questions: tuple[Question, ...]
    session: Session | None
    marks: tuple[Mark, ...]
    clock: int
    profile_version: int


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A memory with its vector (384 float32, L2-normalised), as the vector index takes it."""

    memory: Memory
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by the vector leg; `similarity` is the cosine, −1..1."""

    memory: Memory
    similarity: float
