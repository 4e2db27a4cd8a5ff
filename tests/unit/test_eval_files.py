"""Scenario files as people write them: nothing is bent into another value, and every fault has its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.evaluation.files import read_chat, read_scenarios
from tables.scenario import BadScenario, TurnStep

HEAD = "- id: one\n  group: deletion\n  tenant: t\n  user: u\n  session: s\n  steps:\n"
CHAT = (
    '{"id": "%s", "lang": "en", "user": "u", "session": "s", "role": "user",'
    ' "at": "2026-03-01T09:00:00Z", "text": "x"}\n'
)


def written(tmp_path: Path, text: str, name: str = "f.yaml") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def first_turn(tmp_path: Path, step: str) -> TurnStep:
    (scenario,) = read_scenarios([written(tmp_path, f"{HEAD}    - {step}\n")])
    (turn,) = scenario.steps
    assert isinstance(turn, TurnStep)
    return turn


def complaint(*files: Path) -> str:
    with pytest.raises(BadScenario) as error:
        read_scenarios(files)
    return str(error.value)


def test_scalars_stay_as_they_were_written(tmp_path: Path) -> None:
    turn = first_turn(
        tmp_path, "{turn: user, at: 2026-03-01T09:00:00+08:00, text: no, session: 007, task: 1.0, consent: false}"
    )
    assert (turn.text, turn.place.session, turn.place.task, turn.consent) == ("no", "007", "1.0", False)
    assert (turn.moment.said_at, turn.moment.zone_minutes) == ("2026-03-01T09:00:00+08:00", 480)


def test_null_removes_a_default(tmp_path: Path) -> None:
    text = HEAD.replace("  steps", "  task: k\n  steps")
    turn = "{turn: user, at: 2026-03-01T09:00:00Z, text: a, task: null}"
    (scenario,) = read_scenarios([written(tmp_path, f"{text}    - {turn}\n")])
    assert scenario.steps[0].place.task == ""  # type: ignore[union-attr]  # a turn


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "    - {turn: user, text: a, text: b, at: 2026-03-01T09:00:00Z}\n")
    assert complaint(file) == f"{file}, line 7: the key 'text' stands here twice"


def test_what_is_no_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "- id: [\n")
    assert complaint(file).startswith(f"{file}, line 2: ")


def test_an_object_of_python_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "- !!python/object/apply:os.getcwd []\n")
    assert "could not determine a constructor" in complaint(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.yaml") == f"{tmp_path / 'none.yaml'}: No such file or directory"


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xff\xfe\xff")
    assert complaint(file) == f"{file}: it is not UTF-8"


def test_an_id_stands_in_one_file_only(tmp_path: Path) -> None:
    text = HEAD + "    - {turn: user, text: a, at: 2026-03-01T09:00:00Z}\n"
    one, two = written(tmp_path, text, "1.yaml"), written(tmp_path, text, "2.yaml")
    assert complaint(one, two) == f"{two}: one: {one} has a scenario of that id"


def test_a_chat_is_read_line_by_line(tmp_path: Path) -> None:
    turns = read_chat(written(tmp_path, CHAT % "a" + "\n" + CHAT % "b"))
    assert [turn.id for turn in turns] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}\n", "line 1: id: a text is wanted"),
        (CHAT % "a" + "nonsense\n", "line 2: this is no JSON"),
        (CHAT % "a" + CHAT % "a", "line 2: there is another turn with the id 'a' in this session"),
    ],
)
def test_a_bad_chat_is_refused_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(BadScenario) as error:
        read_chat(file)
    assert str(error.value) == f"{file}: {says}"
