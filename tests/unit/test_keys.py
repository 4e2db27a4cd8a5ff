"""Ids, keys and routes, byte for byte (design §4, §11.16)."""

from __future__ import annotations

import pytest

from connectors.kafka.routing import partition_of, partition_of_key
from tables.errors import BadRecord, InvalidRecord
from tables.keys import (
    Position,
    Scope,
    checked_id,
    digest,
    is_legal_id,
    key_parts,
    memory_id,
    optional_scope_user,
    route,
    row_key,
    scope_digest,
    session_digest,
    task_digest,
    tenant_digest,
    tenant_routes,
    turn_key,
    turn_key_at,
)
from tables.policy import Tenant


@pytest.mark.parametrize(
    ("value", "legal"),
    [
        ("a", True),
        (" ", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("漢" * 42 + "xx", True),  # 3 × 42 + 2 = 128 bytes
        ("漢" * 43, False),  # 129 bytes
        ("👩‍👩‍👧‍👦", True),
        ("a'b\"c\\d*%/#?", True),
        ("\u2028", True),  # a line separator is category Zl, no control character
        ("", False),
        ("a\nb", False),
        ("\x00", False),
        ("\x7f", False),
        ("é\x85", False),  # a C1 control
        ("\ud800", False),
    ],
)
def test_an_id_is_1_to_128_bytes_without_controls_or_lone_surrogates(value: str, legal: bool) -> None:
    assert is_legal_id(value) is legal


@pytest.mark.parametrize(
    ("value", "reason"),
    [(None, BadRecord.MISSING_FIELD), (7, BadRecord.WRONG_TYPE), (b"a", BadRecord.WRONG_TYPE), ("", BadRecord.BAD_ID)],
)
def test_an_id_that_is_none_is_refused_by_name(value: object, reason: BadRecord) -> None:
    with pytest.raises(InvalidRecord) as refused:
        checked_id(value, "user_id")
    assert (refused.value.reason, refused.value.field) == (reason, "user_id")


def test_ids_are_neither_folded_nor_trimmed() -> None:
    assert [checked_id(name, "id") for name in ("A", "a", " a ", "u\u0308", "\u00fc")] == [
        "A",
        "a",
        " a ",
        "u\u0308",
        "\u00fc",
    ]


@pytest.mark.parametrize(("value", "user"), [(None, ""), ("", ""), ("u", "u")])
def test_a_request_for_the_tenant_names_no_user(value: object, user: str) -> None:
    assert optional_scope_user(value) == user


def test_bytes_that_are_no_row_key_are_refused() -> None:
    with pytest.raises(ValueError, match="not a row key"):
        key_parts(row_key("abc")[:-1])


@pytest.mark.parametrize(
    ("tenant", "shards", "key"),
    [
        ("acme", 1, b"acme"),
        ("a/b#c%d", 1, b"a%2Fb%23c%25d"),
        ("中", 1, "中".encode()),
        ("acme", 4, b"acme#2"),  # crc32("u") = 0xF26D6A3E, mod 4 = 2
    ],
)
def test_a_route_is_the_tenant_or_the_tenant_and_the_users_shard(tenant: str, shards: int, key: bytes) -> None:
    assert route(Scope(tenant, "u"), shards) == key


def test_the_routes_of_a_tenant_are_one_a_shard() -> None:
    assert tenant_routes("a#b", 3) == (b"a%23b#0", b"a%23b#1", b"a%23b#2")
    assert tenant_routes("acme") == (b"acme",)


def test_no_two_tenants_share_a_route_however_they_are_named() -> None:
    names = ["acme", "acme#0", "acme%230", "acme/0", "acme%2F0", "%", "%25"]
    routes = [one for name in names for one in (*tenant_routes(name), *tenant_routes(name, 2))]
    assert len(set(routes)) == len(routes)


@pytest.mark.parametrize(
    ("key", "partition"),
    [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536)],
)
def test_keys_are_placed_as_the_java_client_places_them(key: bytes, partition: int) -> None:
    """The hashes are those of Kafka's own UtilsTest.testMurmur2."""
    assert partition_of_key(key, 64) == (partition & 0x7FFFFFFF) % 64


def test_everything_of_a_user_meets_on_one_partition() -> None:
    tenant = Tenant("acme", shards=3)
    assert partition_of(tenant, Scope("acme", "u"), 8) == partition_of_key(route(Scope("acme", "u"), 3), 8)


def test_digests_of_different_things_with_the_same_names_differ() -> None:
    scope = Scope("a", "a")
    made = {
        scope_digest(scope),
        tenant_digest("a"),
        session_digest(scope, "a"),
        task_digest(scope, "a"),
        turn_key(scope, "a", "a"),
        memory_id("a", "a", "a", "a", "a"),
        digest("a"),
    }
    assert len(made) == 7
    assert all(len(one) == 32 for one in made)


def test_no_task_has_no_digest() -> None:
    assert task_digest(Scope("a", "b"), "") == ""


def test_a_turn_without_an_id_is_its_place_in_the_log() -> None:
    scope = Scope("a", "b")
    places = [Position("t", p, o, i) for p in (0, 1) for o in (0, 1) for i in (0, 1)]
    assert len({turn_key_at(scope, "s", place) for place in places}) == 8


def test_no_tenant_can_name_anothers_turn() -> None:
    assert turn_key(Scope("a", "bc"), "s", "1") != turn_key(Scope("ab", "c"), "s", "1")
