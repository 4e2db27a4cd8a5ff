"""What `deploy/demo` shows once everything runs: a conversation through the whole engine, and what came of it.

Nothing is made up: every table holds what the running engine answered, and every step checks what it says.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import httpx

from deploy.local import walk_changes, walk_steps
from deploy.local.walk_engine import StepFailed, opened
from deploy.local.walk_steps import Walk
from deploy.local.walk_story import story
from deploy.local.walk_views import View
from tables.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from rich.console import Console

    from deploy.local.engine import LocalEngine

TENANTS: Final = ("north", "south")
STEPS: Final[tuple[Callable[[Walk], Awaitable[None]], ...]] = (
    walk_steps.conversation,
    walk_steps.remembered,
    walk_steps.refused,
    walk_steps.recalled,
    walk_changes.changed,
    walk_changes.asked,
    walk_changes.isolated,
    walk_changes.erased,
)


async def walk(engine: LocalEngine, console: Console) -> bool:
    """Streams a conversation through the running engine and shows what came of it; True if every step held.

    It ends with the first step that did not hold, and says which and why.
    """
    view = View(console)
    step = "connecting"
    try:
        async with opened(engine.settings(), engine.address) as there:
            north, south = await there.add_tenants(*TENANTS)
            shared = Walk(there, view, story(north, south))
            for take in STEPS:
                step = take.__name__
                await take(shared)
    except (StepFailed, Unavailable, Misconfigured, httpx.HTTPError) as failure:
        view.failed(f"{step}: {failure or type(failure).__name__}")
        return False
    view.title("Every step held", "每一步都成立")
    return True
