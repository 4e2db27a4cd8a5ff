"""Who is asking and what that allows (A12), and the tokens that say so."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from connectors.http.jwks import AGAIN_SECONDS, KeySet
from connectors.http.tokens import JwtVerifier, TokenSettings, Unauthenticated
from tables.command import ActorRole, CommandKind
from tables.erasure import Reach
from tables.errors import InvalidRecord, Misconfigured, Unavailable
from tables.identity import Denial, Identity, identity_of, may_command, may_erase, scope_of
from tables.keys import Scope

CLAIMS: dict[str, Any] = {"tenant": "t1", "sub": "u1", "role": "user"}
SECRET = "a-secret-for-tests-of-32-bytes-or-more"
USER, SERVICE = Identity("t1", "u1", ActorRole.USER), Identity("t1", "bot", ActorRole.SERVICE)


def test_claims_make_an_identity() -> None:
    assert identity_of(CLAIMS) == USER


@pytest.mark.parametrize(
    "fault",
    [
        {"tenant": None},
        {"tenant": 5},
        {"tenant": ""},
        {"sub": "a\n"},
        {"sub": ["u1"]},
        {"role": "root"},
        {"role": None},
    ],
)
def test_claims_that_are_not_ids_make_none(fault: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        identity_of(CLAIMS | fault)


@pytest.mark.parametrize(
    ("identity", "named", "tenant", "scope"),
    [
        (USER, "", "", Scope("t1", "u1")),
        (USER, "u1", "t1", Scope("t1", "u1")),
        (USER, "u2", "", Denial.OTHER_USER),
        (USER, "U1", "", Denial.OTHER_USER),
        (USER, "", "t2", Denial.OTHER_TENANT),
        (SERVICE, "", "", Denial.NO_USER),
        (SERVICE, "u2", "", Scope("t1", "u2")),
        (SERVICE, "u2", "t2", Denial.OTHER_TENANT),
    ],
)
def test_a_scope_is_always_in_the_tokens_tenant(
    identity: Identity, named: str, tenant: str, scope: Scope | Denial
) -> None:
    assert scope_of(identity, named, tenant) == scope


def test_users_do_not_review_and_only_admins_erase_tenants() -> None:
    assert not may_command(ActorRole.USER, CommandKind.REVIEW)
    assert may_command(ActorRole.REVIEWER, CommandKind.REVIEW)
    assert [role for role in ActorRole if may_erase(role, Reach.TENANT)] == [ActorRole.ADMIN]
    assert all(may_erase(role, Reach.USER) for role in ActorRole)


# Tokens


def claims(**more: Any) -> dict[str, Any]:
    return {**CLAIMS, "exp": int(time.time()) + 60, **more}


RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def jwks(path: Path) -> str:
    keys = [
        json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key())) | {"kid": "r", "use": "sig"},
        json.loads(jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key())) | {"kid": "e"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "o"},
        {"kty": "RSA", "kid": "broken"},
    ]
    path.write_text(json.dumps({"keys": keys}))
    return str(path)


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(RSA, "RS256", "r"), (EC, "ES256", "e")])
async def test_asymmetric_tokens_verify_by_the_key_of_their_id(
    tmp_path: Path, key: Any, algorithm: str, kid: str
) -> None:
    verifier = JwtVerifier(TokenSettings(jwks=jwks(tmp_path / "keys.json")))
    token = jwt.encode(claims(), key, algorithm, headers={"kid": kid})
    assert await verifier.verify(token) == USER


@pytest.mark.parametrize(
    ("key", "algorithm", "kid", "reason"),
    [
        (OTHER_RSA, "RS256", "r", "invalid"),
        (RSA, "RS256", "e", "key"),
        (RSA, "RS256", "unknown", "key"),
        (RSA, "RS512", "r", "algorithm"),
        (SECRET, "HS256", "r", "algorithm"),  # no secret is set: nothing verifies by HMAC
        ("", "none", "r", "algorithm"),
    ],
)
async def test_a_token_of_another_key_or_algorithm_proves_nothing(
    tmp_path: Path, key: Any, algorithm: str, kid: str, reason: str
) -> None:
    verifier = JwtVerifier(TokenSettings(jwks=jwks(tmp_path / "keys.json")))
    token = jwt.encode(claims(), key, algorithm, headers={"kid": kid})
    with pytest.raises(Unauthenticated) as refused:
        await verifier.verify(token)
    assert refused.value.reason == reason


async def test_audience_and_issuer_are_compared_when_set() -> None:
    verifier = JwtVerifier(TokenSettings(secret=SECRET, audience="memory", issuer="platform"))
    good = jwt.encode(claims(aud="memory", iss="platform"), SECRET, "HS256")
    assert await verifier.verify(good) == USER
    for wrong in (claims(), claims(aud="other", iss="platform"), claims(aud="memory", iss="x"), claims(aud="memory")):
        with pytest.raises(Unauthenticated):
            await verifier.verify(jwt.encode(wrong, SECRET, "HS256"))


async def test_an_unknown_key_is_fetched_for_once_and_not_by_every_request() -> None:
    now = [0.0]
    fetched: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        fetched.append(str(request.url))
        return httpx.Response(200, json={"keys": []})

    keys = KeySet("https://id.example/keys", transport=httpx.MockTransport(answer), seconds=lambda: now[0])
    for _ in range(5):
        assert await keys.find("k", "RS256") is None
    assert len(fetched) == 1
    now[0] = AGAIN_SECONDS + 1
    await keys.find("k", "RS256")
    assert len(fetched) == 2


async def test_keys_that_cannot_be_had_are_unavailable_not_unauthenticated() -> None:
    down = httpx.MockTransport(lambda _: httpx.Response(500))
    with pytest.raises(Unavailable):
        await KeySet("https://id.example/keys", transport=down).find("k", "RS256")


@pytest.mark.parametrize("settings", [TokenSettings(), TokenSettings(secret="short")])
def test_a_verifier_that_could_be_guessed_does_not_start(settings: TokenSettings) -> None:
    with pytest.raises(Misconfigured):
        JwtVerifier(settings)


def test_keys_over_plain_http_from_elsewhere_are_refused() -> None:
    with pytest.raises(Misconfigured):
        KeySet("http://id.example/keys")
