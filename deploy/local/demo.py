"""Starts the whole engine on this machine and walks through it: `deploy/demo`."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import shlex
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from deploy.local.engine import LocalEngine
from deploy.local.errors import LocalError
from deploy.local.run import ROOT
from deploy.local.terminal import raise_on_signals

WALK = "deploy.local.walkthrough"
FOLDER = ROOT / ".local" / "demo"
WATCH_SECONDS = 1.0


def main(arguments: Sequence[str]) -> int:
    """The command line; 0 only if every step of the walk held."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Chinese shows "?" and goes on
    console = Console(highlight=False)
    stays = console.is_terminal and sys.stdin.isatty() and not options.once
    raise_on_signals()
    try:
        return _show(console, options.folder, stays)
    except (LocalError, OSError) as failure:
        console.print(f"\n{failure}", style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("\nstopped; nothing is left running")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deploy/demo",
        description="Start Kafka, Redis, Milvus Lite, a worker and the API on free loopback ports, stream a sample "
        "conversation through them and show what was remembered, refused, recalled and erased.",
        epilog="On a terminal everything stays up afterwards, until Ctrl-C, for you to try.",
    )
    parser.add_argument("--once", action="store_true", help="end after the walk; exit code 0 only if every step held")
    parser.add_argument(
        "--folder", type=Path, help="keep the data there, and begin with what it holds (default: .local/demo, anew)"
    )
    return parser


def _show(console: Console, folder: Path | None, stays: bool) -> int:
    begin = time.monotonic()

    def say(line: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:6.1f} s[/dim]  {escape(line)}", soft_wrap=True)

    with LocalEngine(folder or FOLDER, fresh=folder is None, on_progress=say) as engine:
        with console.status("starting the engine"), ThreadPoolExecutor(1) as pool:
            loading = pool.submit(importlib.import_module, WALK)  # the engine's own packages, while the parts start
            engine.start()
        say(f"the engine is up: {engine.address}")
        held: bool = asyncio.run(loading.result().walk(engine, console))
        if stays:
            _stay(engine, console)
    return 0 if held else 1


def _stay(engine: LocalEngine, console: Console) -> None:
    """Keeps everything up until Ctrl-C, or until a part ends by itself."""
    console.print()
    for line in _how_to_try(engine):
        console.print(line, markup=False, soft_wrap=True)
    try:
        while True:
            time.sleep(WATCH_SECONDS)
            engine.check()
    except KeyboardInterrupt:
        console.print("\nstopping")


def _how_to_try(engine: LocalEngine) -> tuple[str, ...]:
    """Where everything is, and lines to copy that send a turn and recall it."""
    address = engine.address
    return (
        f"API     {address}  (described at {address}/openapi.json)",
        f"Kafka   {engine.settings()['TWINSLUICE_BROKERS']}",
        f"logs    {engine.folder / 'logs'}",
        "",
        "A turn of your own, and a recall: in another terminal,",
        "",
        f"cd {shlex.quote(str(ROOT))} && . .venv/bin/activate",
        f'eval "$(python -m deploy.local env --folder {shlex.quote(str(engine.folder))})"',
        'python -m streams send --tenant north --user me --session s1 "我对芒果过敏"',
        "TOKEN=$(python -m streams token --tenant north --user me)",
        f'curl -s {address}/v1/memories -H "Authorization: Bearer $TOKEN"; echo',
        f'curl -s {address}/v1/recall -H "Authorization: Bearer $TOKEN" \\',
        """  -H 'Content-Type: application/json' \\""",
        """  -d '{"query": "点什么甜品？", "session_id": "s1"}'; echo""",
        "",
        "Everything stays up; Ctrl-C ends it.",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
