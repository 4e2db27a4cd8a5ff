"""The command line: `python -m streams`."""

from __future__ import annotations

import logging
import sys
from typing import Final, NoReturn

import typer

from streams.commands import audit, bench, command, dlq, erase, eval, schemas, send, serve, tail, tenant, token, topics  # noqa: A004
from tables.errors import InvalidRecord, Misconfigured, Unavailable

EXIT_DATA: Final = 65  # EX_DATAERR: what was given can never be right
EXIT_UNAVAILABLE: Final = 69  # EX_UNAVAILABLE: an engine is away, try again
EXIT_CONFIG: Final = 78  # EX_CONFIG: trying again changes nothing
EXIT_INTERRUPTED: Final = 130

REACHED_BY: Final = {"kafka": "TWINSLUICE_BROKERS", "redis": "TWINSLUICE_REDIS", "milvus": "TWINSLUICE_MILVUS"}

ABOUT: Final = """\
Twinsluice turns streams of chat turns into long-term memory that is bounded, protected, current and erasable.

Settings are TWINSLUICE_… variables; on one machine `eval "$(python -m deploy.local env)"` sets them for an engine that
`python -m deploy.local up` started. Exit codes: 78 settings that cannot work, 69 an engine is away, 2 wrong usage.

\b
python -m streams topics --create
python -m streams tenant add acme
python -m streams worker
python -m streams send --tenant acme --user u1 --session s1 "我对花生过敏"
python -m streams COMMAND --help
"""

app = typer.Typer(
    name="python -m streams",
    help=ABOUT,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is three times as fast, and can be piped
)
app.command(short_help="Run a worker.")(serve.worker)
app.command(short_help="Run the API.")(serve.api)
app.command(short_help="Create or verify the topics.")(topics.topics)
app.add_typer(tenant.app, name="tenant")
app.command(short_help="Print a bearer token for development.")(token.token)
app.command(short_help="Send a turn, or a file of turns.")(send.send)
app.command(help=command.HELP, short_help="Send a signed command.")(command.command)
app.command(help=erase.HELP, short_help="Erase, and see the receipt.")(erase.erase)
app.command(short_help="Print the records of a topic.")(tail.tail)
app.add_typer(dlq.app, name="dlq")
app.command(short_help="Compare ledger, index and Redis.")(audit.audit)
app.command(short_help="Measure one worker.")(bench.bench)
app.command("eval", help=eval.HELP, short_help="Play scenarios and score them.")(eval.evaluate)
app.command(short_help="Write or check the contracts of the topics.")(schemas.schemas)


def main() -> NoReturn:
    """Run a command; a failure of ours is one line on standard error and an exit code, never a traceback."""
    logging.getLogger().addHandler(logging.NullHandler())  # the clients' own complaints; `worker` and `api` set up more
    try:
        app()
    except Misconfigured as error:
        _end(str(error), EXIT_CONFIG)
    except Unavailable as error:
        setting = REACHED_BY.get(error.engine)
        _end(f"{error}: is it running, and does {setting} name it?" if setting else str(error), EXIT_UNAVAILABLE)
    except InvalidRecord as error:
        _end(f"refused: {error}", EXIT_DATA)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(0)


def _end(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
