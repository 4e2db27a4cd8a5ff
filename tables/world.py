"""One user's world as the laws see it, and what one record makes of it.

The step hands in values and gets values back: it loads rows, calls a law, writes `Step.memories`, `Step.questions`,
`Step.dropped` and `Step.world.book`, and publishes `Step.changes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tables.book import Book, Entry
from tables.change import Change, Op, Rule, change_id
from tables.command import Outcome
from tables.conflict import conclusion, dimension, owning_task
from tables.frozen import is_protected
from tables.keys import Position, Scope
from tables.memory import Freeze, Memory, Status
from tables.question import Question, QuestionStatus
from tables.score import weight


@dataclass(frozen=True)
class World:
    """One user. Nothing in it is ever changed in place.

    memories   finds, by id, every row that the book names, and the row of the candidate at hand if there is one (an
               evicted or deleted row keeps its id taken); it may be lazy: admit and commands look up, erase alone walks
    questions  every open question, and the answered ones that are still held
    """

    scope: Scope
    book: Book
    memories: Mapping[str, Memory] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What one record did: `world` is the new whole, the rest what differs from the one before.

    memories   rows to write; an evicted, purged or erased one is written without its content
    questions  opened or answered, to write; `dropped`: ids of question rows to take away
    verdict    why; `Rule.REPEATED` for whatever changed nothing by itself (an outcome then says more)
    """

    world: World
    verdict: Rule
    changes: tuple[Change, ...] = ()
    memories: Mapping[str, Memory] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    dropped: tuple[str, ...] = ()
    outcome: Outcome | None = None


class Overlay(Mapping[str, Memory]):
    """`base` with some rows replaced: costs what the difference costs, and keeps a lazy base lazy.

    Laid over another overlay it shares the layers below and merges the small ones, so a world that lives through
    thousands of steps pays for each no more than the logarithm of what has changed.
    """

    def __init__(self, base: Mapping[str, Memory], changed: Mapping[str, Memory]) -> None:
        layers: list[Mapping[str, Memory]] = [changed, *(base._layers if isinstance(base, Overlay) else ())]
        while len(layers) > 1 and len(layers[1]) <= 2 * len(layers[0]):
            layers[:2] = [{**layers[1], **layers[0]}]
        self._layers: list[Mapping[str, Memory]] = layers
        self._base: Mapping[str, Memory] = base._base if isinstance(base, Overlay) else base

    def __getitem__(self, key: str) -> Memory:
        for layer in self._layers:
            held = layer.get(key)
            if held is not None:
                return held
        return self._base[key]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys(key for mapping in (self._base, *reversed(self._layers)) for key in mapping)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def entry_of(memory: Memory) -> Entry:
    """The line of the book that stands for `memory`."""
    return Entry(
        id=memory.id,
        kind=memory.kind,
        dimension=dimension(memory),
        conclusion=conclusion(memory),
        polarity=memory.polarity,
        status=memory.status,
        state=memory.state,
        freeze=memory.freeze,
        pin=memory.pin,
        protected=is_protected(memory.kind, memory.slot, memory.subject),
        importance=memory.importance,
        confidence=memory.confidence,
        tokens=memory.tokens,
        weight=weight(memory.kind, memory.tokens),
        created_at=memory.created_at,
        last_mentioned_at=memory.last_mentioned_at,
        expires_at=memory.expires_at,
        task=owning_task(memory),
    )


def emptied(memory: Memory, status: Status, at: int) -> Memory:
    """The row that stays of a memory whose content is gone: id, kind, status, times, numbers; nothing that was said."""
    return replace(
        memory,
        session="",
        task="",
        topic="",
        subject="",
        slot="",
        value="",
        content="",
        span=(0, 0),
        sources=(),
        review=None,
        status=status,
        freeze=Freeze.NONE,
        version=memory.version + 1,
        updated_at=max(memory.updated_at, at),
        tokens=0,
    )


def without_content(memory: Memory) -> Memory:
    """The same version of `memory` with nothing that was said: what an erased memory's events may tell."""
    return replace(emptied(memory, memory.status, memory.updated_at), version=memory.version)


def row_of(change: Change) -> Memory:
    """The row of `memories` as `change` leaves it, so that a replay from the outbox writes the same again."""
    if change.after is not None:
        return change.after
    return emptied(change.memory, Status.EVICTED if change.rule is Rule.EVICTED else Status.DELETED, change.at)


class Working:
    """The scratch sheet of one law over one world: collects changes in order; the world itself stays as it was."""

    def __init__(self, world: World, position: Position, at: int) -> None:
        self.world = world
        self.at = at
        self.book = world.book
        self.entries: dict[str, Entry] = dict(world.book.entries)
        self.position = position
        self._memories: dict[str, Memory] = {}
        self._questions: dict[str, Question] = {}
        self._dropped: dict[str, None] = {}
        self._changes: list[Change] = []

    def memory(self, memory_id: str) -> Memory:
        """The row as it is by now. Raises KeyError for an id that the book does not name."""
        held = self._memories.get(memory_id)
        return held if held is not None else self.world.memories[memory_id]

    def find(self, memory_id: str) -> Memory | None:
        held = self._memories.get(memory_id)
        return held if held is not None else self.world.memories.get(memory_id)

    def questions(self) -> list[Question]:
        """All questions as they are by now."""
        return [q for q in {**self.world.questions, **self._questions}.values() if q.id not in self._dropped]

    def create(self, memory: Memory, rule: Rule) -> None:
        self._note(Op.CREATE, rule, None, memory, self.at)
        self._keep(memory)

    def update(self, before: Memory, after: Memory, rule: Rule, *, at: int | None = None) -> Memory:
        """Record `after` as the next version of `before`; returns it with its version and time."""
        moment = self.at if at is None else at
        after = replace(after, version=before.version + 1, updated_at=max(before.updated_at, moment))
        self._note(Op.UPDATE, rule, before, after, moment)
        self._keep(after)
        return after

    def remove(self, before: Memory, rule: Rule, *, silent: bool = False) -> None:
        """Erase the content of `before`: it leaves the book, its row keeps the id. `silent`: its event tells none."""
        self._note(Op.DELETE, rule, without_content(before) if silent else before, None, self.at)
        row = row_of(self._changes[-1])
        self._memories[row.id] = row
        self.entries.pop(row.id, None)

    def put_question(self, question: Question) -> None:
        self._questions[question.id] = question

    def answer(self, question: Question, status: QuestionStatus) -> None:
        self.put_question(replace(question, status=status, answered_at=self.at))

    def withdraw_questions(self, memory_id: str) -> None:
        """Nothing is left to ask about a memory that is no longer current."""
        for question in self.questions():
            if question.memory_id == memory_id and question.status is QuestionStatus.OPEN:
                self.answer(question, QuestionStatus.WITHDRAWN)

    def drop_question(self, question_id: str) -> None:
        self._dropped[question_id] = None
        self._questions.pop(question_id, None)

    def step(self, verdict: Rule, outcome: Outcome | None = None) -> Step:
        """Everything collected, as one value. With nothing collected the world is the very same object."""
        changed = bool(self._changes or self._memories)
        book = self.book
        if changed:
            book = replace(book, entries=self.entries, profile_version=book.profile_version + 1)
        if not changed and book is self.world.book and not self._questions and not self._dropped:
            return Step(self.world, verdict, outcome=outcome)
        questions = {k: q for k, q in {**self.world.questions, **self._questions}.items() if k not in self._dropped}
        world = World(self.world.scope, book, Overlay(self.world.memories, self._memories), questions)
        return Step(
            world=world,
            verdict=verdict,
            changes=tuple(self._changes),
            memories=self._memories,
            questions=tuple(self._questions.values()),
            dropped=tuple(self._dropped),
            outcome=outcome,
        )

    def _keep(self, memory: Memory) -> None:
        self._memories[memory.id] = memory
        self.entries[memory.id] = entry_of(memory)

    def _note(self, op: Op, rule: Rule, before: Memory | None, after: Memory | None, at: int) -> None:
        side = after if after is not None else before
        if side is None:
            raise ValueError("a change has at least one side")
        identity = change_id(side.id, side.version, op, self.position)
        self._changes.append(Change(identity, op, rule, before, after, at, self.position))
