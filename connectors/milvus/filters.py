"""Filter expressions. Only our own hex, our own words and whole numbers ever stand in one.

The engine's client does not escape, and templates do not work on every engine: so nothing that a caller chose may
get here, and `_quoted` refuses what is not a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tables.keys import Scope, scope_digest, task_digest, tenant_digest
from tables.memory import State, Status

HEX_ID = re.compile(r"[0-9a-f]{32}")


def is_row_id(value: str) -> bool:
    """Whether `value` can be the id of a row at all."""
    return HEX_ID.fullmatch(value) is not None


def known_ids(memory_ids: Iterable[str]) -> list[str]:
    """The ids that can exist in the index, each once, in order. Whatever else a caller names is simply not there."""
    return [value for value in dict.fromkeys(memory_ids) if is_row_id(value)]


def ids_in(memory_ids: Sequence[str]) -> str:
    """Exactly this form is a point lookup on Milvus Lite; joined with anything it becomes a scan."""
    if not memory_ids:
        raise ValueError("an empty list of ids")
    return f"memory_id in [{','.join(_quoted(value) for value in memory_ids)}]"


def of_tenant(tenant: str) -> str:
    return f"tenant == {_quoted(tenant_digest(tenant))}"


def of_owner(scope: Scope) -> str:
    """Rows of one user. Raises ValueError for a scope without a user: an empty id must never widen a read."""
    if not scope.user:
        raise ValueError("a scope without a user")
    return f"{of_tenant(scope.tenant)} and owner == {_quoted(scope_digest(scope))}"


def of_scope(scope: Scope) -> str:
    """Rows of the user, or of the whole tenant where the scope names no user: for erasure and counting only."""
    return of_owner(scope) if scope.user else of_tenant(scope.tenant)


def recallable(scope: Scope, tasks: Sequence[str], now: int) -> str:
    """What a recall may find: active, no draft, not expired at `now`, of no task or of one of `tasks`."""
    wanted = ['""', *(_quoted(task_digest(scope, task)) for task in dict.fromkeys(tasks) if task)]
    return (
        f'{of_owner(scope)} and status == "{Status.ACTIVE.value}" and state != "{State.DRAFT.value}"'
        f" and (expires_at == 0 or expires_at > {int(now)}) and task in [{','.join(wanted)}]"
    )


def in_range(low: int, high: int) -> str:
    """Rows whose id begins with a number in [low, high) of the 2^32 that eight hex digits can name."""
    lower = f'memory_id >= "{low:08x}"'
    return lower if high >= RANGE_END else f'{lower} and memory_id < "{high:08x}"'


RANGE_END = 1 << 32


def _quoted(value: str) -> str:
    if not HEX_ID.fullmatch(value):
        raise ValueError("only digests may stand in a filter")
    return f'"{value}"'
