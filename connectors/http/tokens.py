"""Bearer tokens: JWTs with pinned algorithms, verified before a single claim is believed.

HS256 with the secret of the settings, RS256 or ES256 with the keys of a JWKS. The two never meet: a token's algorithm
picks the source of its key, so a public key can never serve as an HMAC secret; `none` is no algorithm here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import jwt

from connectors.http.jwks import KeySet
from tables.errors import InvalidRecord, Misconfigured
from tables.identity import Identity, identity_of

SECRET_BYTES_MIN: Final = 32
SKEW_SECONDS: Final = 30  # an issuer's clock may run ahead by this (iat, nbf); `exp` is taken to the second
TOKEN_CHARS_MAX: Final = 8192
KEYED: Final = ("RS256", "ES256")


class Unauthenticated(Exception):
    """The token proves nothing. `reason` from a closed set: missing, malformed, algorithm, key, expired, invalid,
    claims.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Verifier(Protocol):
    async def verify(self, token: str) -> Identity:
        """Raises Unauthenticated; Unavailable when the keys cannot be had now."""
        ...


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """At least one of `secret` (HS256) and `jwks` (a file's path or a URL; RS256, ES256). Audience and issuer are
    compared when set.
    """

    secret: str = ""
    jwks: str = ""
    audience: str = ""
    issuer: str = ""


class JwtVerifier:
    """Raises Misconfigured when tokens could not be verified at all."""

    def __init__(
        self, settings: TokenSettings, *, keys: KeySet | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        if not settings.secret and not settings.jwks:
            raise Misconfigured("no way to verify tokens: set a JWT secret or a JWKS")
        if settings.secret and len(settings.secret.encode()) < SECRET_BYTES_MIN:
            raise Misconfigured(f"the JWT secret has fewer than {SECRET_BYTES_MIN} bytes")
        self._settings = settings
        self._keys = keys or (KeySet(settings.jwks) if settings.jwks else None)
        self._clock = clock

    async def verify(self, token: str) -> Identity:
        if len(token) > TOKEN_CHARS_MAX:
            raise Unauthenticated("malformed")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.InvalidTokenError, ValueError):
            raise Unauthenticated("malformed") from None
        algorithm = header.get("alg")
        claims = self._claims(token, str(algorithm), await self._key(algorithm, header))
        try:
            return identity_of(claims)
        except InvalidRecord:
            raise Unauthenticated("claims") from None

    async def _key(self, algorithm: object, header: Mapping[str, object]) -> Any:
        if algorithm == "HS256" and self._settings.secret:
            return self._settings.secret
        if algorithm in KEYED and self._keys is not None:
            key = await self._keys.find(header.get("kid"), str(algorithm))
            if key is None:
                raise Unauthenticated("key")
            return key
        raise Unauthenticated("algorithm")

    def _claims(self, token: str, algorithm: str, key: Any) -> Mapping[str, object]:
        settings = self._settings
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=settings.audience or None,
                issuer=settings.issuer or None,
                leeway=SKEW_SECONDS,
                options={"require": ["exp"], "verify_aud": bool(settings.audience)},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("expired") from None
        except (jwt.InvalidTokenError, ValueError, TypeError):
            raise Unauthenticated("invalid") from None
        expires_at = claims.get("exp")
        if isinstance(expires_at, int | float | str) and float(expires_at) <= self._clock():
            raise Unauthenticated("expired")
        return claims
