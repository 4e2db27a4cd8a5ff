"""A user's rows as the laws want them: also what the outbox lays over them has its vectors."""

from __future__ import annotations

from typing import cast

from connectors.kafka.producer import KafkaBus
from connectors.ledger import Ledger, Store
from streams.users import Users
from tests.unit.step_world import ME, Machine


async def test_the_vectors_of_what_the_outbox_still_holds_are_read() -> None:
    m = Machine()
    await m.run(m.turn("I love jazz.", "t1"))
    stores = cast("dict[str, Store]", m.stores)
    world, vectors = Users(Ledger(stores, cast(KafkaBus, m.bus))).load(0, ME)
    assert world.book.outbox
    assert [len(vectors[one]) for one in world.book.entries] == [384]
