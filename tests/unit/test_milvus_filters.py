"""Filters hold digests, our own words and whole numbers; placement and rows refuse what is not ours."""

from __future__ import annotations

import re

import pytest

from connectors.milvus.config import MilvusConfig
from connectors.milvus.filters import RANGE_END, ids_in, in_range, known_ids, of_owner, of_scope, recallable
from connectors.milvus.placement import choose, dedicated_name, is_dedicated, partition_of
from connectors.milvus.rows import body_of, checked_vector, memory_of, row_of
from tables.copies import IndexRow
from tables.errors import Misconfigured
from tables.keys import Scope, scope_digest, task_digest, tenant_digest
from tables.policy import Tenant
from tests.contract.copies_kit import HOSTILE, NOW, memory, row, tenant, vector

SCOPE = Scope("t", "u")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_hostile_id_ever_stands_in_a_filter(name: str) -> None:
    scope = Scope(name, name)
    expression = recallable(scope, (name,), NOW)
    literals = set(re.findall(r'"([^"]*)"', expression))
    assert literals <= {"active", "draft", "", tenant_digest(name), scope_digest(scope), task_digest(scope, name)}
    assert expression.count('"') == 12  # tenant, owner, active, draft, no task, the task


@pytest.mark.parametrize("value", ["", "x", 'a" or 1 == 1', "A" * 32, "0" * 31, "0" * 33, "0" * 31 + "\n", "٠" * 32])
def test_only_a_digest_may_be_quoted(value: str) -> None:
    with pytest.raises(ValueError, match="digests"):
        ids_in([value])
    assert known_ids([value]) == []


def test_an_empty_list_of_ids_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        ids_in([])


def test_a_filter_of_a_user_needs_the_user() -> None:
    with pytest.raises(ValueError, match="without a user"):
        of_owner(Scope("t", ""))
    assert of_scope(Scope("t", "")) == f'tenant == "{tenant_digest("t")}"'


def test_ids_are_kept_once_and_in_order() -> None:
    one, two = "0" * 32, "1" * 32
    assert known_ids([two, "x", one, two]) == [two, one]


def test_ranges_of_ids_meet_without_a_gap() -> None:
    assert in_range(0, 16) == 'memory_id >= "00000000" and memory_id < "00000010"'
    assert in_range(16, RANGE_END) == 'memory_id >= "00000010"'


def test_a_tenant_gets_its_own_partition_while_there_is_room() -> None:
    assert choose("t", 255, limit=256) == dedicated_name("t")
    assert re.fullmatch(r"b_00[0-6][0-9]", choose("t", 256, limit=256, buckets=64))


@pytest.mark.parametrize("name", HOSTILE)
def test_every_tenant_gets_a_legal_partition_name(name: str) -> None:
    for count in (0, 1):
        placement = choose(name, count, limit=1, buckets=64)
        assert re.fullmatch(r"[a-z]_[0-9a-f]+", placement)
        assert partition_of(Tenant(name, placement=placement)) == placement
        assert is_dedicated(placement) is (count == 0)


def test_the_choice_is_the_same_every_time() -> None:
    assert choose("t", 9, limit=1) == choose("t", 10, limit=2)


def test_buckets_are_all_used() -> None:
    assert len({choose(f"tenant {n}", 1, limit=1, buckets=8) for n in range(200)}) == 8


@pytest.mark.parametrize("placement", ["", "../../evil", "b_1", "b_00011", "t_x", "_default", dedicated_name("other")])
def test_a_placement_that_cannot_be_this_tenants_is_a_bug(placement: str) -> None:
    with pytest.raises(ValueError, match="placement"):
        partition_of(Tenant("t", placement=placement))


@pytest.mark.parametrize("buckets", [0, 10_001])
def test_a_number_of_buckets_that_names_cannot_hold_is_refused(buckets: int) -> None:
    with pytest.raises(ValueError, match="buckets"):
        choose("t", 1, limit=1, buckets=buckets)


@pytest.mark.parametrize("uri", ["memory.db", "/tmp/x.db", "", "127.0.0.1:19530", "file:///x.db"])
def test_a_file_is_no_server(uri: str) -> None:
    with pytest.raises(Misconfigured):
        MilvusConfig(uri)


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(MilvusConfig("http://127.0.0.1:1", token="secret"))


def test_nothing_said_stands_outside_the_body() -> None:
    home = tenant("t")
    one = memory(SCOPE, 1, session="SESSION", task="TASK", topic="TOPIC", subject="SUBJECT", slot="SLOT")
    made = row_of(home, IndexRow(one, vector(1)))
    body = made.pop("body")
    assert "SUBJECT" in body
    for word in ("SESSION", "TASK", "TOPIC", "SUBJECT", "SLOT", "乌龙茶", '"u"'):
        assert word not in str(made)


def test_a_row_of_another_scope_is_never_decoded() -> None:
    made = row_of(tenant("t"), row(SCOPE))
    assert memory_of(made, SCOPE) == memory(SCOPE)
    for stranger in (Scope("t", "v"), Scope("s", "u")):
        assert memory_of(made, stranger) is None
        disguised = {**made, "tenant": tenant_digest(stranger.tenant), "owner": scope_digest(stranger)}
        assert memory_of(disguised, stranger) is None


def test_a_body_is_measured_in_bytes() -> None:
    assert len(body_of(memory(SCOPE, content="漢" * 20_000)).encode()) > 60_000


@pytest.mark.parametrize("values", [(1.0,) * 383, (float("inf"),) * 384, (0.0,) * 384])
def test_a_vector_that_a_server_would_refuse_is_refused_here(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="vector"):
        checked_vector(values)
