"""Names of the keys: a prefix, what it is, and digests of the full scope. No id in clear ever stands in a key."""

from __future__ import annotations

from dataclasses import dataclass

from tables.erasure import Mark
from tables.keys import Scope, digest, scope_digest, session_digest, tenant_digest


@dataclass(frozen=True, slots=True)
class Layout:
    """Content of a user lies under `user(scope)`; marks, receipts and outcomes lie elsewhere and outlive it."""

    prefix: str = "tw"

    def user(self, scope: Scope) -> str:
        """What every content key of a user begins with."""
        return f"{self.prefix}:u:{scope_digest(scope)}"

    def memories(self, scope: Scope) -> str:
        """Hash: memory id → the memory."""
        return f"{self.user(scope)}:mem"

    def questions(self, scope: Scope) -> str:
        """Hash: question id → the open question."""
        return f"{self.user(scope)}:ask"

    def meta(self, scope: Scope) -> str:
        """Hash: `present`, `profile_version`."""
        return f"{self.user(scope)}:meta"

    def sessions(self, scope: Scope) -> str:
        """Sorted set: digest of each session that has a copy, by when its key goes (epoch ms)."""
        return f"{self.user(scope)}:sessions"

    def session(self, scope: Scope, session: str) -> str:
        return self.session_of(scope, session_digest(scope, session))

    def session_of(self, scope: Scope, digest_of_session: str) -> str:
        return f"{self.user(scope)}:s:{digest_of_session}"

    def user_keys(self, scope: Scope) -> str:
        """Pattern of every content key of a user: digests hold nothing that a pattern could mistake."""
        return f"{self.prefix}:*{scope_digest(scope)}*"

    def is_content(self, key: str) -> bool:
        return not key.startswith(f"{self.prefix}:m:")

    def user_marks(self, scope: Scope) -> str:
        """Hash: reach, digest of the value and time → the mark."""
        return f"{self.prefix}:m:{scope_digest(scope)}"

    def tenant_marks(self, tenant: str) -> str:
        return f"{self.prefix}:m:{tenant_digest(tenant)}"

    def receipt(self, tenant: str, request_id: str) -> str:
        return f"{self.prefix}:t:{tenant_digest(tenant)}:receipt:{digest('request', tenant, request_id)}"

    def outcome(self, tenant: str, request_id: str) -> str:
        return f"{self.prefix}:t:{tenant_digest(tenant)}:outcome:{digest('request', tenant, request_id)}"

    def trace(self, tenant: str, trace_id: str) -> str:
        return f"{self.prefix}:t:{tenant_digest(tenant)}:trace:{digest('trace', tenant, trace_id)}"

    @property
    def clocks(self) -> str:
        """Hash: digest of the tenant → greatest event time."""
        return f"{self.prefix}:clocks"

    @property
    def progress(self) -> str:
        """Hash: topic/partition → offset up to which every effect is done."""
        return f"{self.prefix}:progress"

    @property
    def epoch(self) -> str:
        """Hash: a field per partition whose copies are complete; gone when Redis has lost its data."""
        return f"{self.prefix}:epoch"


def mark_field(mark: Mark) -> str:
    """Field of a mark: the same erasure gives the same field, confirmed or not."""
    return f"{mark.reach.value}:{digest('mark', mark.value)}:{mark.at}:{mark.before}"


def progress_field(topic: str, partition: int) -> str:
    return f"{topic}/{partition}"
