"""Who calls, and what every route shares: the verified identity, the scope it may touch, ids out of paths, answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from connectors.codec import to_json
from connectors.http.ports import Services
from connectors.http.positions import TOKEN_CHARS_MAX, PositionTokens
from connectors.http.problems import Problem, denied, unauthenticated
from connectors.http.tokens import Unauthenticated, Verifier
from tables.errors import BadRecord, InvalidRecord
from tables.identity import Denial, Identity, scope_of
from tables.keys import Position, Scope, checked_id

BEARER: Final = HTTPBearer(
    auto_error=False,
    bearerFormat="JWT",
    description="Claims `tenant`, `sub`, `role` (user, service, reviewer, admin), `exp`; optional `iat`, `nbf`, `aud`.",
)
_SPACE_FOR_PLUS: Final = re.compile(r" (\d\d:?\d\d)$")  # an unencoded "+08:00" in a query string


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the routes stand on, kept in `app.state.wiring`."""

    services: Services
    verifier: Verifier
    positions: PositionTokens


@dataclass(frozen=True, slots=True)
class Caller:
    """`named`: the user in the query string, "" when there is none."""

    identity: Identity
    named: str
    wiring: Wiring

    @property
    def services(self) -> Services:
        return self.wiring.services

    def scope(self, user: str | None = None, tenant: str | None = None) -> Scope:
        """The one scope of this request; `user` and `tenant` as the body names them. Raises Problem(403 | 422)."""
        scope = self._scope(user, tenant)
        if isinstance(scope, Denial):
            raise denied(scope)
        return scope

    def scope_or_tenant(self, user: str | None = None, tenant: str | None = None) -> Scope:
        """The same, but a role that acts for users and names none means its tenant: Scope(tenant, "")."""
        scope = self._scope(user, tenant)
        if scope is Denial.NO_USER:
            return Scope(self.identity.tenant, "")
        if isinstance(scope, Denial):
            raise denied(scope)
        return scope

    def after(self, token: str | None) -> tuple[Position, ...]:
        return self.wiring.positions.read(self.identity.tenant, token) if token else ()

    def token(self, positions: tuple[Position, ...]) -> str:
        return self.wiring.positions.mint(self.identity.tenant, positions)

    def _scope(self, user: str | None, tenant: str | None) -> Scope | Denial:
        named = "" if user is None else checked_id(user, "user_id")
        if named and self.named and named != self.named:
            raise InvalidRecord(BadRecord.BAD_VALUE, "user_id")
        return scope_of(self.identity, named or self.named, tenant or "")


async def caller(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
    user_id: Annotated[
        str | None,
        Query(description="Whose memory: for service, reviewer and admin; a user may only repeat the own id."),
    ] = None,
) -> Caller:
    """The caller of this request. Raises Problem(401) without a valid token, Problem(403) for an unknown tenant."""
    wiring: Wiring = request.app.state.wiring
    if credentials is None:
        raise unauthenticated("missing")
    try:
        identity = await wiring.verifier.verify(credentials.credentials)
    except Unauthenticated as error:
        raise unauthenticated(error.reason) from None
    if wiring.services.tenants.get(identity.tenant) is None:
        raise Problem("unknown-tenant")
    return Caller(identity, "" if user_id is None else checked_id(user_id, "user_id"), wiring)


Called = Annotated[Caller, Depends(caller)]
After = Annotated[
    str | None,
    Query(max_length=TOKEN_CHARS_MAX, description="A write's token: wait up to 2 s for its effects, else `stale`."),
]
At = Annotated[str | None, Query(description="Only for tenants with an event clock: RFC 3339 or epoch milliseconds.")]
Wait = Annotated[bool, Query(description="Wait up to 2 s for the outcome; `false`: answer 202 at once.")]


def path_id(request: Request, value: str, field: str) -> str:
    """An id out of the path, byte-exact. Raises InvalidRecord(BAD_ID) for bytes that are no UTF-8: the server has put
    a replacement character there, which is a legal id of somebody else.
    """
    if "\ufffd" in value:
        raw = unquote_to_bytes(request.scope.get("raw_path") or b"")
        if value.encode() not in raw:
            raise InvalidRecord(BadRecord.BAD_ID, field)
    return checked_id(value or None, field)


def query_time(value: str | None) -> str | int | None:
    if value is None:
        return None
    if value.isascii() and value.isdigit() and len(value) <= 15:
        return int(value)
    return _SPACE_FOR_PLUS.sub(r"+\1", value)


def found(body: Any | None) -> Response:
    """200 with the body, or the one 404 that tells nothing apart."""
    if body is None:
        raise Problem("not-found")
    return json(body)


def json(body: Any, status: int = 200) -> Response:
    return Response(to_json(body), status, {"Cache-Control": "no-store"}, "application/json")
