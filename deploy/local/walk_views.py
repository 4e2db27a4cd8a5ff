"""How the walk looks: tables that fit 80 columns. Whatever was said is printed as it is, never taken for markup."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import psutil
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from streams.commands.screen import visible

Json = Mapping[str, Any]
Row = Sequence[str | Text]

WIDTH: Final = 80
PROMPT_LINES: Final = 16
SHORT_ID: Final = 8


class View:
    """The terminal of the walk."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def title(self, english: str, chinese: str) -> None:
        """The heading of a step."""
        self._console.print()
        rule = Rule(Text(f"{english} · {chinese}", "bold"), align="left", style="dim")
        self._console.print(rule, width=self._width)

    def note(self, text: str) -> None:
        """A sentence about what follows."""
        self._console.print(Padding(Text(text), (0, 0, 0, 1)), width=self._width)

    def held(self, claim: str) -> None:
        """Something that was checked against the engine, and was so."""
        self._sign("ok", "green", claim)

    def failed(self, what: str) -> None:
        """Something that was not so."""
        self._sign("did not hold", "bold red", visible(what))

    def first_result(self) -> None:
        """How long the whole program has run."""
        seconds = time.time() - psutil.Process().create_time()
        self.note(f"The first memory, {seconds:.1f} s after the program was called.")

    def table(self, columns: Sequence[str], rows: Iterable[Row], *, wide: int = 0, right: Sequence[str] = ()) -> None:
        """Rows under their columns; the column number `wide` takes the room that is left."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=True)
        for number, name in enumerate(columns):
            table.add_column(
                name,
                justify="right" if name in right else "left",
                ratio=1 if number == wide else None,
                overflow="fold",
                no_wrap=number != wide,
            )
        for row in rows:
            table.add_row(*(cell if isinstance(cell, Text) else Text(visible(cell, keep="\n")) for cell in row))
        self._console.print(Padding(table, (1, 0, 1, 1)), width=self._width)

    def memories(self, found: Sequence[Json], rules: Mapping[str, Sequence[str]]) -> None:
        """What is held, how sure it is, what it rests on and which verdicts brought it here."""
        rows = [
            (
                _content(memory),
                memory["type"],
                f"{memory['confidence']:.2f}",
                memory["state"] if memory["status"] == "active" else memory["status"],
                "\n".join(memory["source_ids"]),
                "\n".join(rules.get(memory["id"], ())),
            )
            for memory in sorted(found, key=lambda memory: str(memory["created_at"]))
        ]
        self.table(("remembered", "type", "sure", "state", "from", "verdict"), rows, right=("sure",))

    def recall(self, context: Json) -> None:
        """The sections of a context, and the prompt as far as it is not too long."""
        rows = [
            (name if first else "", item["content"], _whence(item), str(item["tokens"]))
            for name, items in context["sections"].items()
            for first, item in ((number == 0, item) for number, item in enumerate(items))
        ]
        self.table(("section", "item", "what it is", "tokens"), rows, wide=1, right=("tokens",))
        self.note(f"{context['tokens']} of {context['max_tokens']} tokens used (the question is not counted).")
        lines = str(context["prompt"]).splitlines()
        more = [f"… {len(lines) - PROMPT_LINES} more lines"] if len(lines) > PROMPT_LINES else []
        prompt = Text("\n".join([*(visible(line) for line in lines[:PROMPT_LINES]), *more]), "dim")
        self._console.print(Padding(prompt, (1, 0, 1, 3)), width=self._width)

    def receipt(self, receipt: Json) -> None:
        """An erasure copy by copy."""
        rows = [
            (
                copy["copy"],
                str(copy["before"]),
                str(copy["after"]),
                " ".join(f"{query['name']}:{query['found']}" for query in copy["queries"]),
                copy["physical"] + (f"\nuntil {copy['until'][:10]}" if copy["until"] else ""),
            )
            for copy in receipt["copies"]
        ]
        columns = ("copy", "before", "after", "asked again: found", "physically")
        self.table(columns, rows, wide=3, right=("before", "after"))

    def _sign(self, sign: str, style: str, text: str) -> None:
        line = Table.grid(padding=(0, 1))
        line.add_row(Text(sign, style), Text(text))
        self._console.print(Padding(line, (0, 0, 0, 1)), width=self._width)

    @property
    def _width(self) -> int:
        return min(self._console.width, WIDTH)


def short(name: str) -> str:
    """The beginning of an id: enough to tell the few of the walk apart."""
    return name[:SHORT_ID]


def _content(memory: Json) -> Text:
    sign = "not " if memory["polarity"] == "neg" else ""
    subject = "" if memory["subject"] == "self" else f"{memory['subject']}: "
    under = f"\n{subject}{memory['slot']} = {sign}{memory['value']}"
    return Text.assemble(visible(memory["content"]), (visible(under, keep="\n"), "dim"))


def _whence(item: Json) -> str:
    return str(item["type"]) if item["origin"] == "memory" else f"{item['type']}, {item['origin']}"
