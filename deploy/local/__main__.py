"""The command line of the local engine; see `python -m deploy.local --help`."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from deploy.local.engine import LocalEngine
from deploy.local.errors import LocalError
from deploy.local.run import ROOT, State, end_leftovers, take_lock
from deploy.local.terminal import raise_on_signals

DOWN_SECONDS = 90.0  # longer than the sum of what the parts may take to stop
WATCH_SECONDS = 1.0
EXAMPLES = """\
examples:
  python -m deploy.local up                     Kafka, Redis and Milvus Lite, until Ctrl-C
  python -m deploy.local up --all               and the topics, a worker and the API
  eval "$(python -m deploy.local env)"          in another terminal: the settings that reach them
  python -m streams worker                      there: a worker of your own
  python -m deploy.local down                   ends what "up" started, from anywhere

"python" is .venv/bin/python once deploy/bootstrap has made it.
The data stay in the folder, so the next "up" finds them. To begin anew, remove the folder.
Logs are in FOLDER/logs. Everything listens on 127.0.0.1 only, on ports that are free at the start.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs one command; its exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (LocalError, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; nothing is left running", file=sys.stderr)
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.local",
        description="The real parts of the engine on this machine: Kafka, Redis and Milvus Lite.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--folder",
        type=Path,
        default=ROOT / ".local" / "dev",
        help="where data, logs and state are kept (default: .local/dev in this tree)",
    )
    for name, command, help_line in (
        ("up", _up, "start the parts and keep them up until Ctrl-C"),
        ("down", _down, "end the run of a folder, also what a killed one left behind"),
        ("status", _status, "say what runs in a folder"),
        ("env", _env, "print the settings of a running engine as export lines"),
    ):
        verb = verbs.add_parser(
            name, parents=[common], help=help_line, description=f"{help_line[0].upper()}{help_line[1:]}."
        )
        verb.set_defaults(command=command)
        if name == "up":
            verb.add_argument("--partitions", type=positive, default=4, help="partitions of each topic (default: 4)")
            verb.add_argument(
                "--all", action="store_true", help="also create the topics and start a worker and the API"
            )
    return parser


def _up(options: argparse.Namespace) -> int:
    raise_on_signals()
    with LocalEngine(options.folder, partitions=options.partitions, on_progress=_say) as engine:
        if options.all:
            _say(f"API: {engine.start()}")
        else:
            engine.start_parts()
        print(export_lines(engine.settings()), flush=True)
        _say("up; Ctrl-C ends it")
        while True:
            time.sleep(WATCH_SECONDS)
            engine.check()


def _down(options: argparse.Namespace) -> int:
    state = State.read(options.folder)
    if state is None:
        _say(f"nothing runs in {options.folder}")
        return 0
    if owner := state.owner.find():
        owner.send_signal(signal.SIGTERM)
        psutil.wait_procs([owner], timeout=DOWN_SECONDS)
    with take_lock(options.folder):
        end_leftovers(options.folder)
    _say("ended")
    return 0


def _status(options: argparse.Namespace) -> int:
    state = State.read(options.folder)
    if state is None or state.owner.find() is None:
        print(f"nothing runs in {options.folder}")
        return 1
    print(f"{options.folder}: owned by pid {state.owner.pid}")
    for name, part in state.parts.items():
        print(f"  {name:12} {'pid ' + str(part.pid) if part.find() else 'ended'}")
    return 0


def _env(options: argparse.Namespace) -> int:
    state = State.read(options.folder)
    if state is None or state.owner.find() is None:
        raise LocalError(f'nothing runs in {options.folder}; start it with "python -m deploy.local up"')
    print(export_lines(state.settings))
    return 0


def positive(text: str) -> int:
    """A count from the command line, at least 1."""
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def export_lines(settings: Mapping[str, str]) -> str:
    """The settings as a shell takes them."""
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
