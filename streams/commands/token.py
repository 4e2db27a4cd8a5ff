"""A bearer token for development: in production an identity provider issues them (TWINSLUICE_JWKS)."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from streams.commands.values import duration_ms, legal_id
from streams.settings import PREFIX, load
from tables.command import ActorRole
from tables.errors import Misconfigured


def token(
    tenant: Annotated[str, typer.Option(help="The tenant that the token is for.")],
    user: Annotated[str, typer.Option(help="Who it names: the user; for other roles the service's or person's name.")],
    role: Annotated[ActorRole, typer.Option(help="What its bearer may do.")] = ActorRole.USER,
    ttl: Annotated[str, typer.Option(metavar="DURATION", help="How long it is valid.")] = "1h",
) -> None:
    """Print a bearer token signed with TWINSLUICE_JWT_SECRET, for development.

    \b
    TOKEN=$(python -m streams token --tenant acme --user u1)
    curl -s localhost:8080/v1/memories -H "Authorization: Bearer $TOKEN"
    python -m streams token --tenant acme --user desk --role reviewer --ttl 8h
    """
    settings = load()
    seconds = duration_ms(ttl) // 1000
    if not settings.jwt_secret:
        raise Misconfigured(f"{PREFIX}JWT_SECRET is not set: a token could not be signed, nor the API verify it")
    typer.echo(minted(settings.jwt_secret, tenant, user, role, now=int(time.time()), seconds=seconds))


def minted(secret: str, tenant: str, user: str, role: ActorRole, *, now: int, seconds: int) -> str:
    """The signed token. Raises typer.BadParameter for ids that no identity can have."""
    import jwt

    sub, name = legal_id(user, "--user"), legal_id(tenant, "--tenant")
    claims = {"tenant": name, "sub": sub, "role": role.value, "iat": now, "exp": now + seconds}
    return jwt.encode(claims, secret, algorithm="HS256")
