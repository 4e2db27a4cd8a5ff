"""Where to play: the engine that the settings name, else one of this machine's own that ends with the command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Final

from streams.settings import PREFIX, Settings, load
from tables.errors import Misconfigured

NAMING: Final = ("BROKERS", "REDIS", "MILVUS", "API_PORT")  # what names an engine; others only say how to behave


@dataclass(frozen=True, slots=True)
class Site:
    """A running engine: its settings, the base addresses of its API and of its worker's door."""

    settings: Settings
    api: str
    worker: str

    @classmethod
    def of(cls, settings: Settings) -> Site:
        host = settings.api_host if settings.api_host not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104 - a listener's address read, none opened
        return cls(settings, f"http://{host}:{settings.api_port}", f"http://127.0.0.1:{settings.worker_port}")


def names_an_engine(environment: Mapping[str, str]) -> bool:
    """Whether any setting says where an engine is."""
    return any(PREFIX + name in environment for name in NAMING)


@contextmanager
def opened(say: Callable[[str], None]) -> Iterator[Site]:
    """The engine to play on. Raises Misconfigured when there is none and none can be started."""
    if names_an_engine(os.environ):
        yield Site.of(load())
        return
    try:
        from deploy.local.errors import LocalError
        from deploy.local.terminal import raise_on_signals
    except ImportError as error:
        raise Misconfigured(
            f"no {PREFIX}BROKERS names an engine, and the parts for one of this machine's own are not installed "
            f"({error.name} is missing)"
        ) from None
    raise_on_signals()
    try:
        with _started(say) as site:
            yield site
    except LocalError as error:
        raise Misconfigured(str(error)) from error


@contextmanager
def _started(say: Callable[[str], None]) -> Iterator[Site]:
    """A new engine in a folder that no other run has; its logs stay there until the next."""
    from deploy.local.engine import LocalEngine
    from deploy.local.errors import FolderInUse
    from deploy.local.run import ROOT

    for number in count(1):
        try:
            engine = LocalEngine(ROOT / ".local" / f"eval-{number}", fresh=True, on_progress=say)
        except FolderInUse:
            continue
        with engine:
            engine.start()
            yield Site.of(load({**os.environ, **engine.settings()}))
        return
