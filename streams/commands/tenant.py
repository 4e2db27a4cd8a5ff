"""Tenants: register one, change its policy, list them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import typer

from streams.commands.screen import print_fields, print_table, say
from streams.commands.values import legal_id, now_text, time_ms, with_settings
from streams.settings import Settings, kafka_config, load
from tables.policy import Clock, Policy, Tenant

app = typer.Typer(no_args_is_help=True, help="Register tenants and change their policy.")

SHARDS_MAX = 1024


@app.command()
def add(
    tenant_id: Annotated[str, typer.Argument(metavar="ID", help="1 to 128 UTF-8 bytes, no control characters.")],
    clock: Annotated[Clock | None, typer.Option(help="wall (default), or event: time is what the turns say.")] = None,
    shards: Annotated[int | None, typer.Option(min=1, max=SHARDS_MAX, help="Routes of the tenant; default 1.")] = None,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of the policy; may be repeated.")
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="When the policy begins: now, or always (event clock).")
    ] = None,
) -> None:
    """Register a tenant, or give a registered one a new version of its policy.

    Clock and shards are fixed for life. Policy keys: window_messages, window_tokens, session_gap, session_ttl, items,
    item_tokens, total_weight, sensitive.health|finance|contact|identity_number|credential (allow, ask or refuse),
    authoritative (kinds that a business system holds and memory does not: order_status, ticket_status, subscription,
    account_balance, by comma, or none).

    \b
    python -m streams tenant add acme
    python -m streams tenant add big --shards 8
    python -m streams tenant add acme --policy items=200 --policy session_gap=1h --policy sensitive.health=ask
    """
    settings = load()
    begins = None if valid_from is None else time_ms(valid_from)
    legal_id(tenant_id, "ID")
    tenant, known = asyncio.run(_add(settings, tenant_id, clock, shards, policy or [], begins))
    print_fields(
        {
            "tenant": tenant.id,
            "clock": tenant.clock.value,
            "shards": tenant.shards,
            "vectors": tenant.placement,
            "policy": f"version {tenant.policies[-1].version}",
        }
    )
    say("already registered, nothing changed" if known else "recorded")


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the registered tenants.

    \b
    python -m streams tenant list
    """
    settings = load()
    from connectors.kafka.registry import registered

    tenants = sorted(asyncio.run(registered(kafka_config(settings))).values(), key=lambda tenant: tenant.id)
    if as_json:
        from connectors.codec import to_json

        typer.echo(to_json(tenants))
        return
    rows = [(t.id, t.clock.value, t.shards, t.placement, t.policies[-1].version) for t in tenants]
    print_table(("tenant", "clock", "shards", "vectors", "policy version"), rows, right=("shards", "policy version"))
    if not tenants:
        say("none yet: python -m streams tenant add ID")


async def _add(
    settings: Settings,
    tenant_id: str,
    clock: Clock | None,
    shards: int | None,
    policy: list[str],
    begins: int | None,
) -> tuple[Tenant, bool]:
    """The tenant as it stands, and whether that is what it was before."""
    from connectors.kafka.registry import register, registered
    from connectors.milvus.placement import choose, is_dedicated
    from streams.commands import engines

    config = kafka_config(settings)
    tenants = await registered(config)
    held = tenants.get(tenant_id)
    if held is None:
        dedicated = sum(is_dedicated(one.placement) for one in tenants.values())
        wanted = Tenant(tenant_id, shards or 1, clock or Clock.WALL, choose(tenant_id, dedicated))
        wanted = replace(wanted, policies=(with_settings(Policy(), policy),))
    else:
        wanted = replace(held, shards=shards or held.shards, clock=clock or held.clock)
        wanted = replace(wanted, policies=next_policies(held, policy, begins))
    if wanted == held:
        return held, True
    async with engines.bus(settings) as bus:
        return await register(config, bus, wanted), False


def next_policies(held: Tenant, settings: list[str], begins: int | None) -> tuple[Policy, ...]:
    """The policies of a registered tenant with one more version, unless the newest says the same already."""
    latest = max(held.policies, key=lambda policy: policy.version)
    wanted = with_settings(latest, settings)
    if wanted == latest:
        return held.policies
    if begins is None:
        begins = 0 if held.clock is Clock.EVENT else time_ms(now_text())
    return (*held.policies, replace(wanted, version=latest.version + 1, valid_from=begins))
