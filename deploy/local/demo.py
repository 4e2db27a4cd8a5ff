"""Starts the whole engine on this machine and walks through it: `deploy/demo`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from deploy.local.engine import LocalEngine
from deploy.local.errors import LocalError
from deploy.local.run import ROOT
from deploy.local.terminal import raise_on_signals

FOLDER = ROOT / ".local" / "demo"
WATCH_SECONDS = 1.0


def main(arguments: Sequence[str]) -> int:
    """The command line; 0 only if every step of the walk held."""
    options = _parser().parse_args(arguments)
    console = Console(highlight=False)
    stays = console.is_terminal and sys.stdin.isatty() and not options.once
    raise_on_signals()
    try:
        return _show(console, options.folder, stays)
    except (LocalError, OSError, NotImplementedError) as failure:
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
    from deploy.local.walkthrough import walk  # it imports the engine's own packages, which take a second

    begin = time.monotonic()

    def say(line: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:6.1f} s[/dim]  {escape(line)}", soft_wrap=True)

    with LocalEngine(folder or FOLDER, fresh=folder is None, on_progress=say) as engine:
        with console.status("starting the engine"):
            engine.start_parts()
            engine.provision()
            with ThreadPoolExecutor(2) as pool:  # both spend most of their start importing: one core each
                worker = pool.submit(engine.start_worker)
                address = engine.start_api()
                worker.result()
        say(f"the engine is up: {address}")
        held = asyncio.run(walk(engine, console))
        if stays:
            _stay(engine, console, address)
    return 0 if held else 1


def _stay(engine: LocalEngine, console: Console, address: str) -> None:
    """Keeps everything up until Ctrl-C, or until a part ends by itself."""
    python = f"{ROOT}/.venv/bin/python"
    lines = (
        f"API       {address}   its description: {address}/openapi.json",
        f"Kafka     {engine.settings()['TWINSLUICE_BROKERS']}",
        "",
        f"In another terminal, in {ROOT}: the settings, a turn of your own, a recall.",
        "",
        f'eval "$({python} -m deploy.local env --folder {engine.folder})"',
        f'{python} -m streams send --tenant north --user me --session mine "I am allergic to shellfish"',
        f"curl -s {address}/v1/recall -H 'content-type: application/json' \\",
        f'  -H "authorization: Bearer $({python} -m streams token --tenant north --user me)" \\',
        """  -d '{"query": "what can I eat tonight?", "session_id": "mine"}'""",
        "",
        "Everything stays up; Ctrl-C ends it.",
    )
    console.print()
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    try:
        while True:
            time.sleep(WATCH_SECONDS)
            engine.check()
    except KeyboardInterrupt:
        console.print("\nstopping")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
