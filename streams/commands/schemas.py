"""The contracts of the public topics as files: JSON Schema, and one AsyncAPI document."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Annotated, Final

import typer

from streams.commands.screen import say

FOLDER: Final = Path(__file__).resolve().parents[2] / "connectors" / "kafka" / "schemas"
EXIT_DRIFT: Final = 1


def schemas(
    check: Annotated[bool, typer.Option("--check", help="Fail with a diff when the files have drifted.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Write the files.")] = False,
    folder: Annotated[Path, typer.Option(help="Where they lie.", show_default=False)] = FOLDER,
) -> None:
    """Write or check the JSON Schemas and the AsyncAPI document of the public topics; they are made from the types.

    \b
    python -m streams schemas --write
    python -m streams schemas --check
    """
    if check == write:
        raise typer.BadParameter("give either --check or --write")
    made = texts()
    if write:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in set(_held(folder)) - set(made):
            (folder / stale).unlink()
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")
        say(f"wrote {len(made)} files to {folder}")
        return
    drift = list(drifted(_held(folder), made))
    typer.echo("".join(drift), nl=False)
    if drift:
        say("the contracts have drifted from the types: python -m streams schemas --write")
        raise typer.Exit(EXIT_DRIFT)
    say(f"{len(made)} files are as the types say")


def texts() -> dict[str, str]:
    """Every file by name."""
    from streams.commands.contracts import documents

    return {name: json.dumps(document, ensure_ascii=False, indent=1) + "\n" for name, document in documents().items()}


def drifted(held: dict[str, str], made: dict[str, str]) -> list[str]:
    """The diff from the files to the types, line by line; empty when they agree."""
    lines: list[str] = []
    for name in sorted({*held, *made}):
        before, after = held.get(name, ""), made.get(name, "")
        lines += difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
    return lines


def _held(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
