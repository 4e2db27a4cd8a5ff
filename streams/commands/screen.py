"""What the commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import typer

_HIDDEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}  # they could move the cursor, or turn the text around


def say(line: str) -> None:
    """A remark for the person at the terminal, never part of the result."""
    typer.echo(line, err=True)


def print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def visible(text: str, keep: str = "") -> str:
    """`text` with every character that acts on a terminal written as an escape; those in `keep` stay."""
    return "".join(c if c in keep or unicodedata.category(c) not in _HIDDEN else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> None:
    """A readable table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(visible(str(cell))) for cell in row])
    console = Console()
    console.print(table) if console.is_terminal else Console(width=200).print(table)


def print_fields(fields: Mapping[str, Any]) -> None:
    """Name and value a line, aligned."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        typer.echo(f"{name:<{width}}  {visible(str(value))}")
