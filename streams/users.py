"""One user's rows in the ledger as the laws want them: a world that reads what it needs, and no more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from connectors.codec import decode_held, decode_row
from connectors.ledger import Ledger
from streams.persist import Effects
from streams.ports import Vector
from tables.book import Book
from tables.keys import Scope, key_parts, row_key
from tables.memory import Memory
from tables.policy import Tenant
from tables.question import Question
from tables.world import Overlay, World, row_of

CACHED_USERS = 2_000  # worlds of users who are talking: the next turn of the same user decodes nothing


class Rows(Mapping[str, Memory]):
    """The user's rows of the table `memories`, read on demand and kept; iterating reads them all."""

    def __init__(self, ledger: Ledger, partition: int, scope: Scope) -> None:
        self._ledger = ledger
        self._partition = partition
        self._scope = scope
        self._held: dict[str, Memory] = {}
        self.vectors: dict[str, Vector] = {}

    def __getitem__(self, key: str) -> Memory:
        held = self._held.get(key)
        if held is None:
            raw = self._ledger.get("memories", self._partition, row_key(*self._scope, key))
            if raw is None:
                raise KeyError(key)
            held = self._take(raw)
        return held

    def __iter__(self) -> Iterator[str]:
        for _, raw in self._ledger.scan("memories", self._partition, row_key(*self._scope)):
            yield self._take(raw).id

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def read_vectors(self, ids: Iterable[str]) -> None:
        """Read the vectors of these rows, as far as they are written."""
        for one in ids:
            raw = self._ledger.get("memories", self._partition, row_key(*self._scope, one))
            if raw is not None:
                self.vectors[one] = decode_held(raw)[1]

    def _take(self, raw: bytes) -> Memory:
        memory, vector = decode_held(raw)
        self._held[memory.id] = memory
        self.vectors[memory.id] = vector
        return memory


class Users:
    """The worlds of the users that this worker owns. Only what was persisted is kept; `forget` when in doubt."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._cache: OrderedDict[tuple[int, Scope], tuple[World, dict[str, Vector]]] = OrderedDict()

    def forget(self) -> None:
        self._cache.clear()

    def keep(self, partition: int, world: World, vectors: dict[str, Vector]) -> None:
        """Remember a world that is durable."""
        self._cache[partition, world.scope] = (world, vectors)
        self._cache.move_to_end((partition, world.scope))
        while len(self._cache) > CACHED_USERS:
            self._cache.popitem(last=False)

    def load(self, partition: int, scope: Scope) -> tuple[World, dict[str, Vector]]:
        """The user's world with everything that the outbox still holds applied, and the vectors read so far."""
        held = self._cache.get((partition, scope))
        if held is not None:
            return held
        raw = self._ledger.get("books", partition, row_key(*scope))
        book = decode_row(Book, raw) if raw else Book()
        rows = Rows(self._ledger, partition, scope)
        questions = {
            question.id: question
            for _, row in self._ledger.scan("questions", partition, row_key(*scope))
            for question in (decode_row(Question, row),)
        }
        late = {change.memory.id: row_of(change) for entry in book.outbox for change in entry.changes}
        rows.read_vectors(late)  # what the outbox lays over the rows hides them, not their vectors
        for entry in book.outbox:
            questions.update({question.id: question for question in entry.questions})
        return World(scope, book, Overlay(rows, late) if late else rows, questions), rows.vectors

    def scopes(self, partition: int, tenant: str) -> list[Scope]:
        """Every user of `tenant` with a book on this partition."""
        keys = (key for key, _ in self._ledger.scan("books", partition, row_key(tenant)))
        return [Scope(parts[0], parts[1]) for parts in map(key_parts, keys)]

    def effects(self, tenant: Tenant, scope: Scope, partition: int, route: bytes) -> tuple[World, Effects]:
        """The user's world and an empty sheet of effects for it."""
        world, vectors = self.load(partition, scope)
        return world, Effects(tenant, scope, partition, route, world.book, vectors=vectors)
