"""Receipts: kept in the ledger, told on their topic and in Redis. A request over several routes has one receipt.

An erasure of a whole tenant with shards is one record a route under one request. Each worker keeps its routes' parts;
what readers see is the parts joined, pending until the last one is there (design §11.13).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from connectors.codec import decode_row, encode, encode_row
from connectors.kafka.producer import Outgoing
from connectors.kafka.topics import RECEIPTS
from connectors.ledger import Ledger, Row
from streams.persist import ce_headers
from streams.ports import Bus, Copies
from tables.command import Outcome, Result
from tables.keys import Scope, digest, key_parts, row_key, tenant_routes
from tables.policy import Tenant
from tables.receipt import Receipt, ReceiptState, joined

log = structlog.get_logger()

Read = Callable[[str, str], Awaitable[Receipt | None]]


class Receipts:
    """`read(tenant, request_id)` gives a receipt as readers see it."""

    def __init__(self, *, ledger: Ledger, bus: Bus, copies: Copies, read: Read) -> None:
        self._ledger = ledger
        self._bus = bus
        self._copies = copies
        self._read = read

    def held(self, partition: int, route: bytes, scope: Scope, request_id: str) -> Receipt | None:
        """The part of `route` that this partition has kept."""
        raw = self._ledger.get("receipts", partition, _key(route, scope, request_id))
        return decode_row(Receipt, raw) if raw else None

    async def keep(self, partition: int, route: bytes, scope: Scope, receipt: Receipt) -> None:
        """Make the receipt durable: from here on the same request gives the same receipt."""
        await self._ledger.write(
            [Row("receipts", partition, _key(route, scope, receipt.request_id), encode_row(receipt))]
        )

    async def tell(self, tenant: Tenant, route: bytes, scope: Scope, receipt: Receipt) -> None:
        """Publish the receipt and the outcome of its request. Raises Unavailable; a repeat tells the same."""
        whole = await self.show(tenant, route, scope, receipt)
        headers = ce_headers(digest("receipt", tenant.id, receipt.request_id, whole.state), "memory.receipt.v1")
        await self._bus.send_all([Outgoing(RECEIPTS, route, encode(whole), headers)])
        if whole.state is ReceiptState.FAILED:
            log.error("residue", state=whole.state.value)
        await self._answer(tenant, whole)

    async def _answer(self, tenant: Tenant, whole: Receipt) -> None:
        if whole.state is not ReceiptState.PENDING:
            await self._copies.put_outcome(tenant.id, _outcome(whole))

    async def show(self, tenant: Tenant, route: bytes, scope: Scope, receipt: Receipt) -> Receipt:
        """Put the receipt where readers look, joined with the other routes' parts if there are any; what they see."""
        routes = (route,) if scope.user else tenant_routes(tenant.id, tenant.shards)
        if len(routes) == 1:
            await self._copies.put_receipt(tenant.id, receipt)
            return receipt
        await self._copies.put_receipt(tenant.id, replace(receipt, request_id=_part(receipt.request_id, route)))
        shown, whole = 0, receipt
        while True:  # whoever writes last has read every part that was there before
            found = [await self._read(tenant.id, _part(receipt.request_id, other)) for other in routes]
            parts = [replace(part, request_id=receipt.request_id) for part in found if part is not None]
            if len(parts) <= shown:
                return whole
            shown, whole = len(parts), joined(parts, len(routes))
            await self._copies.put_receipt(tenant.id, whole)

    async def show_all(self, partition: int, tenant: Callable[[str], Tenant | None]) -> None:
        """Every receipt that this partition keeps, put where readers look again, with the outcome of its request."""
        for key, raw in self._ledger.scan("receipts", partition):
            tenant_id, user, route, _ = key_parts(key)
            known = tenant(tenant_id)
            if known is not None:
                receipt = decode_row(Receipt, raw)
                await self._answer(known, await self.show(known, route.encode(), Scope(tenant_id, user), receipt))


def _key(route: bytes, scope: Scope, request_id: str) -> bytes:
    return row_key(scope.tenant, scope.user, route.decode(), request_id)


def _part(request_id: str, route: bytes) -> str:
    return digest("receipt-part", request_id, route.decode())


def _outcome(receipt: Receipt) -> Outcome:
    if receipt.state is ReceiptState.FAILED:
        return Outcome(receipt.request_id, Result.REFUSED, "residue", (), 0, receipt.finished_at)
    found = receipt.memories or any(copy.before for copy in receipt.copies)
    return Outcome(receipt.request_id, Result.APPLIED if found else Result.NOOP, "", (), 0, receipt.finished_at)
