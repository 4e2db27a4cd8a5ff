"""The command line of the evaluation, as far as it goes without an engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams.__main__ import app
from streams.evaluation.place import names_an_engine

GOOD = """\
- id: one
  group: deletion
  tenant: t
  user: u
  session: s
  steps:
    - {turn: user, at: 2026-03-01T09:00:00Z, text: hello}
"""


@pytest.fixture
def good(tmp_path: Path) -> str:
    file = tmp_path / "good.yaml"
    file.write_text(GOOD)
    return str(file)


def test_without_anything_to_play_it_is_wrong_usage() -> None:
    assert CliRunner().invoke(app, ["eval"]).exit_code == 2


@pytest.mark.parametrize("more", [["--floor", "passed"], ["--floor", "recal=1"], ["--json", "/none/there/x.json"]])
def test_wrong_usage_is_told_before_anything_is_started(good: str, more: list[str]) -> None:
    assert CliRunner().invoke(app, ["eval", good, *more]).exit_code == 2


def test_a_bad_file_ends_with_65_and_its_place(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(GOOD.replace("text: hello", "txt: hello"))
    result = CliRunner().invoke(app, ["eval", str(file)])
    assert result.exit_code == 65
    assert f"{file}: one, step 1: 'txt' is no key here" in result.stderr
    assert result.stdout == ""


def test_a_bad_chat_ends_with_65(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text("{}\n")
    result = CliRunner().invoke(app, ["eval", "--write", str(file)])
    assert (result.exit_code, "line 1" in result.stderr) == (65, True)


def test_help_teaches() -> None:
    out = CliRunner().invoke(app, ["eval", "--help"]).stdout
    assert all(word in out for word in ("--write", "--floor", "steps:", "Exit codes"))


@pytest.mark.parametrize(
    ("environment", "named"),
    [({}, False), ({"TWINSLUICE_EMBEDDER": "hash"}, False), ({"TWINSLUICE_BROKERS": "b:9092"}, True)],
)
def test_an_engine_is_named_by_where_it_is(environment: dict[str, str], named: bool) -> None:
    assert names_an_engine(environment) is named
