"""Invariants of keys: injective, prefix-safe, byte-exact (design §4, §11.16)."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.kafka.routing import partition_of_key
from tables.keys import (
    ID_BYTES_MAX,
    Scope,
    digest,
    encoded_tenant,
    is_legal_id,
    key_parts,
    memory_id,
    route,
    row_key,
    tenant_routes,
    turn_key,
)

law = settings(max_examples=150, deadline=None)
texts = st.text(st.characters(), max_size=12)
parts = st.lists(texts, max_size=4).map(tuple)
few = st.text("ab#/%:0123", min_size=1, max_size=4)


@law
@given(parts)
def test_a_row_key_gives_back_its_parts(one: tuple[str, ...]) -> None:
    assert key_parts(row_key(*one)) == one


@law
@given(parts, parts)
def test_no_two_sequences_share_a_row_key(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (row_key(*one) == row_key(*other)) is (one == other)
    assert (digest(*one) == digest(*other)) is (one == other)


@law
@given(parts, parts)
def test_a_row_key_is_a_prefix_only_of_what_begins_with_its_parts(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert row_key(*other).startswith(row_key(*one)) is (other[: len(one)] == one)


@law
@given(st.text(st.characters(codec=None), max_size=140))
def test_an_id_is_legal_by_its_bytes_and_characters_alone(value: str) -> None:
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        size = 0
    wanted = 1 <= size <= ID_BYTES_MAX and not any(unicodedata.category(c) == "Cc" for c in value)
    assert is_legal_id(value) is wanted


@law
@given(few, few, few, few, st.integers(1, 4), st.integers(1, 4))
def test_no_two_tenants_ever_share_a_route(t1: str, u1: str, t2: str, u2: str, n1: int, n2: int) -> None:
    if t1 != t2:
        assert route(Scope(t1, u1), n1) != route(Scope(t2, u2), n2)
        assert set(tenant_routes(t1, n1)).isdisjoint(tenant_routes(t2, n2))


@law
@given(texts.filter(is_legal_id), texts.filter(is_legal_id), st.integers(1, 9))
def test_every_user_has_one_of_the_routes_of_the_tenant(tenant: str, user: str, shards: int) -> None:
    assert route(Scope(tenant, user), shards) in tenant_routes(tenant, shards)


@law
@given(few, few)
def test_an_encoded_tenant_holds_no_separator_and_is_another_for_another(one: str, other: str) -> None:
    assert not set(encoded_tenant(one)) & set("#/")
    assert (encoded_tenant(one) == encoded_tenant(other)) is (one == other)


@law
@given(st.binary(max_size=40), st.integers(1, 64))
def test_every_key_has_a_partition(key: bytes, partitions: int) -> None:
    assert 0 <= partition_of_key(key, partitions) < partitions


@law
@given(st.tuples(few, few, few, few), st.tuples(few, few, few, few))
def test_a_turn_and_what_it_says_have_ids_of_their_own(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    keys = [turn_key(Scope(t, u), s, i) for t, u, s, i in (one, other)]
    assert (keys[0] == keys[1]) is (one == other)
    made = [memory_id(keys[0], *said) for said in (one, other)]
    assert (made[0] == made[1]) is (one == other)
