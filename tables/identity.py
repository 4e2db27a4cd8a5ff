"""Who is asking, from the claims of a verified token, and what that allows. Nothing else ever says who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tables.command import Actor, ActorRole, CommandKind
from tables.erasure import Reach
from tables.errors import BadRecord, InvalidRecord
from tables.keys import Scope, checked_id


@dataclass(frozen=True, slots=True)
class Identity:
    """`sub` is the user for role `user`, the service's or person's own name otherwise."""

    tenant: str
    sub: str
    role: ActorRole

    @property
    def actor(self) -> Actor:
        return Actor(self.sub, self.role)


class Denial(StrEnum):
    """Why an identity may not do what it asks: a closed set."""

    OTHER_TENANT = "other_tenant"
    OTHER_USER = "other_user"
    NO_USER = "no_user"  # a role that acts for users must say for whom
    ROLE = "role"


_ENGINE_KINDS: Final = frozenset({CommandKind.SYSTEM_UPDATE, CommandKind.TICK})
_REVIEW_KINDS: Final = frozenset({CommandKind.REVIEW})
_OWN_KINDS: Final = frozenset({CommandKind.CONSENT})  # nobody consents in a user's place but the platform that asked


def identity_of(claims: Mapping[str, object]) -> Identity:
    """The identity in claims whose signature and times hold. Raises InvalidRecord naming the claim, never its value."""
    role = claims.get("role")
    if role is None:
        raise InvalidRecord(BadRecord.MISSING_FIELD, "role")
    if not isinstance(role, str) or role not in set(ActorRole):
        raise InvalidRecord(BadRecord.BAD_VALUE, "role")
    return Identity(checked_id(claims.get("tenant"), "tenant"), checked_id(claims.get("sub"), "sub"), ActorRole(role))


def scope_of(identity: Identity, named: str, tenant: str = "") -> Scope | Denial:
    """Whose memory the identity may touch when the request names user `named` and `tenant` ("" = names none).

    Always in the identity's own tenant: a request that names another one is denied, not corrected.
    """
    if tenant and tenant != identity.tenant:
        return Denial.OTHER_TENANT
    if identity.role is ActorRole.USER:
        return Scope(identity.tenant, identity.sub) if named in ("", identity.sub) else Denial.OTHER_USER
    return Scope(identity.tenant, named) if named else Denial.NO_USER


def may_command(role: ActorRole, kind: CommandKind) -> bool:
    """Whether a role may send a command of this kind (for the user whose scope it has)."""
    match role:
        case ActorRole.ADMIN:
            return True
        case ActorRole.USER:
            return kind not in _ENGINE_KINDS | _REVIEW_KINDS
        case ActorRole.SERVICE:
            return kind not in _REVIEW_KINDS
        case ActorRole.REVIEWER:
            return kind not in _ENGINE_KINDS | _OWN_KINDS


def may_erase(role: ActorRole, reach: Reach) -> bool:
    """Whether a role may erase with this reach: a whole tenant is the admin's alone."""
    return reach is not Reach.TENANT or role is ActorRole.ADMIN
