"""Scenarios played on the real engine, and scored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from streams.commands.screen import say
from tables.scenario import BadScenario

if TYPE_CHECKING:
    from streams.evaluation.place import Site
    from tables.scenario import Scenario
    from tables.scoring import Result
    from tables.write_scoring import ChatTurn

EXIT_MISSED: Final = 1
EXIT_DATA: Final = 65
AT_ONCE: Final = 12  # more only lengthens the queues of a worker and an API on two cores: 12 fill them

HELP = """Play scenario files on the real engine and score every recall.

Turns go in through the conversation topic, commands through theirs, recalls through the API. Each scenario gets new
tenants that live in event time: its clock is the `at` of its steps, so the result is the same on any day. The engine is
the one that TWINSLUICE_… variables name; without any, one is started on this machine and stopped at the end.

A scenario is a list of steps in YAML:

\b
- id: preference-update-1
  group: preference_update
  lang: en
  tenant: t1
  user: u1
  steps:
    - {turn: user, session: s1, at: 2026-03-01T09:00:00Z, text: "I take my tea with sugar"}
    - {turn: user, session: s2, at: 2026-03-08T09:00:00Z, text: "From now on I take my tea without sugar"}
    - {recall: "order me a tea", session: s3, at: 2026-03-09T09:00:00Z, use: ["without sugar"], ignore: ["with sugar"]}

A chat for --write is a JSON object a line: id, lang, user, session, role, at, text, label (keep, drop, third), values.

A floor is a least value of a total, or a greatest one of what is counted against (stale_use_rate, residual_recall,
leaks, drift, junk, duplicates, latency_ms.p95); `passed` is a share. Groups and languages are named by their place.

Exit codes: 1 a leak, a residue or a missed floor; 2 wrong usage; 65 a file that can never be played; 69 and 78 as ever.

\b
python -m streams eval scenarios.yaml
python -m streams eval a.yaml b.yaml --floor passed=0.9 --floor groups.deletion.passed=1 --json result.json
python -m streams eval --write chat.jsonl --floor write.en.recall=0.8 --json -
"""


def evaluate(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Scenario files.")] = None,
    write: Annotated[list[Path] | None, typer.Option(metavar="JSONL", help="A chat to score the write side.")] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the result; - is standard output.")] = None,
    floor: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="May be repeated.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=1000, help="Scenarios played at the same time.")] = AT_ONCE,
) -> None:
    """Play and score; `HELP` says it all."""
    if not files and not write:
        raise typer.BadParameter("give scenario files, --write, or both")
    if json not in (None, "-") and not Path(json).absolute().parent.is_dir():
        raise typer.BadParameter(f"{json}: there is no such folder", param_hint="--json")
    from streams.evaluation import result as outcome

    try:
        floors = [outcome.parse_floor(text) for text in floor or []]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--floor") from None
    scenarios, chats = _read(files or [], write or [])
    results, document = _played(scenarios, chats, at_once)
    missed = outcome.missed(floors, document)
    _show(results, document, json)
    totals = document["totals"]
    missed += [f"{name}: {totals[name]}" for name in ("leaks", "residual_recall") if totals[name]]
    for one in missed:
        say(f"missed: {one}")
    if missed:
        raise typer.Exit(EXIT_MISSED)


def _read(files: Sequence[Path], write: Sequence[Path]) -> tuple[Sequence[Scenario], Sequence[Sequence[ChatTurn]]]:
    """Everything that is to be played, before anything is started."""
    from streams.evaluation.files import read_chat, read_scenarios

    try:
        return read_scenarios(files), [read_chat(file) for file in write]
    except BadScenario as error:
        say(str(error))
        raise typer.Exit(EXIT_DATA) from None


def _show(results: Sequence[Result], document: Mapping[str, Any], path: str | None) -> None:
    from streams.commands.screen import print_json
    from streams.evaluation.report import print_result

    if path == "-":
        print_json(document)
        return
    print_result(results, document)
    if path is not None:
        import json

        Path(path).write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _played(
    scenarios: Sequence[Scenario], chats: Sequence[Sequence[ChatTurn]], at_once: int
) -> tuple[list[Result], dict[str, Any]]:
    """The results, and the whole of them as JSON. Nothing that was started is left when this ends, however it ends."""
    from streams.evaluation.place import opened

    with _progress() as (tell, begin), opened(tell) as site:
        return asyncio.run(_play(site, scenarios, chats, at_once, begin))


async def _play(
    site: Site,
    scenarios: Sequence[Scenario],
    chats: Sequence[Sequence[ChatTurn]],
    at_once: int,
    begin: Callable[[str, int], Callable[[], None]],
) -> tuple[list[Result], dict[str, Any]]:
    from streams.evaluation.cost import cost
    from streams.evaluation.engine import connected
    from streams.evaluation.result import document
    from streams.evaluation.run import Names, play_all, play_chats, tenants_of

    async with connected(site.settings, site.api, at_once) as engine:
        names = Names()
        await engine.register(tenants_of(scenarios, names))
        before, begun = await cost(site.worker), time.monotonic()
        told = begin("scenarios", len(scenarios))
        results = await play_all(scenarios, engine, names, at_once=at_once, told=told, remark=say)
        write = await play_chats(chats, engine, at_once=at_once, begin=begin) if chats else None
        spent, seconds = (await cost(site.worker)).since(before), time.monotonic() - begun
    for name in spent.missing:
        say(f"the worker publishes no {name}: its part of write_cost is 0")
    return results, document(results, spent, seconds, write)


@contextmanager
def _progress() -> Iterator[tuple[Callable[[str], None], Callable[[str, int], Callable[[], None]]]]:
    """How far it is, on standard error: a way to say what is being started, and a way to begin a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:

        def begin(what: str, total: int) -> Callable[[], None]:
            task = progress.add_task(what, total=total, visible=total > 0)
            return lambda: progress.advance(task)

        yield lambda line: progress.console.print(line, style="dim", markup=False, highlight=False), begin
