"""Signatures of commands and deletes, and request ids bound to their scope (design §11.15)."""

from __future__ import annotations

import pytest

from connectors.http.positions import PositionTokens
from connectors.signing import RequestIds, Signer, derive, shown_request_id
from tables.errors import BadRecord, InvalidRecord, Misconfigured
from tables.keys import Position, Scope, is_legal_id

OLD = b"old-secret-of-at-least-32-bytes-aaaa"
NEW = b"new-secret-of-at-least-32-bytes-bbbb"
KEY, VALUE = b"t1", b'{"kind":"pin"}'


def headers(signer: Signer, tenant: str = "t1") -> dict[str, bytes]:
    return dict(signer.sign(KEY, VALUE, tenant))


def test_what_was_signed_verifies() -> None:
    signer = Signer({"k1": OLD})
    signer.verify(KEY, VALUE, headers(signer), "t1")


@pytest.mark.parametrize(
    ("key", "value", "tenant"),
    [
        (b"t2", VALUE, "t1"),
        (KEY, VALUE + b" ", "t1"),
        (KEY, VALUE, "t2"),
        (KEY + VALUE[:1], VALUE[1:], "t1"),  # a byte moved from value to key
        (None, VALUE, "t1"),
        (KEY, None, "t1"),
    ],
)
def test_a_signature_holds_for_its_key_value_and_tenant_only(
    key: bytes | None, value: bytes | None, tenant: str
) -> None:
    signer = Signer({"k1": OLD})
    with pytest.raises(InvalidRecord) as refused:
        signer.verify(key, value, headers(signer), tenant)
    assert refused.value.reason is BadRecord.BAD_SIGNATURE


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, BadRecord.UNSIGNED),
        ({"sig": b"00"}, BadRecord.UNSIGNED),
        ({"kid": b"k1"}, BadRecord.UNSIGNED),
        ({"sig": b"", "kid": b"k1"}, BadRecord.UNSIGNED),
        ({"sig": b"00", "kid": b"k1"}, BadRecord.BAD_SIGNATURE),
        ({"sig": b"zz", "kid": b"k1"}, BadRecord.BAD_SIGNATURE),
        ({"sig": b"\xff", "kid": b"k1"}, BadRecord.BAD_SIGNATURE),
        ({"sig": b"00", "kid": b"other"}, BadRecord.BAD_SIGNATURE),
        ({"sig": b"00", "kid": b"\xff"}, BadRecord.BAD_SIGNATURE),
    ],
)
def test_a_missing_or_garbled_signature_is_named(given: dict[str, bytes], reason: BadRecord) -> None:
    with pytest.raises(InvalidRecord) as refused:
        Signer({"k1": OLD}).verify(KEY, VALUE, given, "t1")
    assert refused.value.reason is reason


def test_old_signatures_verify_while_a_new_secret_signs() -> None:
    before = Signer({"k1": OLD})
    after = Signer({"k1": OLD, "k2": NEW}, current="k2")
    after.verify(KEY, VALUE, headers(before), "t1")
    assert headers(after)["kid"] == b"k2"
    with pytest.raises(InvalidRecord):
        before.verify(KEY, VALUE, headers(after), "t1")


def test_keys_differ_by_tenant_generation_and_purpose() -> None:
    keys = {
        derive(OLD, tenant, kid, purpose)
        for tenant in ("t1", "t2", "")
        for kid in ("k1", "k2")
        for purpose in ("bus", "position")
    }
    assert len(keys) == 12


@pytest.mark.parametrize(("secrets", "current"), [({"k1": b"short"}, "k1"), ({"k1": OLD}, "k2"), ({}, "k1")])
def test_a_signer_that_could_not_protect_does_not_start(secrets: dict[str, bytes], current: str) -> None:
    with pytest.raises(Misconfigured):
        Signer(secrets, current)


def test_the_same_request_id_of_two_scopes_never_meets() -> None:
    ids = RequestIds(OLD)
    scopes = [Scope("t1", "u1"), Scope("t1", "u2"), Scope("t2", "u1"), Scope("t1", "")]
    bound = [ids.bound(scope, "r1") for scope in scopes]
    assert len(set(bound)) == 4
    for scope, name in zip(scopes, bound, strict=True):
        assert ids.owns(scope, name)
        assert ids.bound(scope, name) == name
        assert not any(ids.owns(other, name) for other in scopes if other != scope)
        assert shown_request_id(name) == "r1"


@pytest.mark.parametrize("given", ["r", "a~b", "r1~0123456789abcdef", "x" * 128, "会" * 42, "~", "🙂"])
def test_a_bound_id_is_a_legal_id_and_stable(given: str) -> None:
    ids = RequestIds(OLD)
    bound = ids.bound(Scope("t1", "u1"), given)
    assert is_legal_id(bound)
    assert bound == ids.bound(Scope("t1", "u1"), given)


def test_a_position_token_comes_back_whole_and_in_its_tenant_only() -> None:
    tokens = PositionTokens(OLD)
    positions = (Position("conversation.turns.v1", 3, 2**40), Position("memory.delete.v1", 0, 0))
    token = tokens.mint("t1", positions)
    assert tokens.read("t1", token) == positions
    for tenant, wrong in [("t2", token), ("t1", token[:-1]), ("t1", "A" + token), ("t1", ""), ("t1", "é"), ("t1", "=")]:
        with pytest.raises(InvalidRecord) as refused:
            tokens.read(tenant, wrong)
        assert refused.value.field == "after"
