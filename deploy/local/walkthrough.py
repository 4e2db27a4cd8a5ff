"""What `deploy/demo` shows once everything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from deploy.local.engine import LocalEngine


async def walk(engine: LocalEngine, console: Console) -> bool:
    """Streams a conversation through the running engine and shows what came of it; True if every step held."""
    raise NotImplementedError("the walk through the engine is not written yet")
