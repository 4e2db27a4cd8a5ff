"""Scenario and chat files, decoded. Every scalar but true, false and null stays the text that was written."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from connectors.codec import parse_json
from tables.errors import InvalidRecord
from tables.scenario import BadScenario, Scenario
from tables.scenario_read import parse_scenarios
from tables.write_scoring import ChatTurn, parse_chat_turn

_KEPT_TAGS: Final = frozenset({"tag:yaml.org,2002:bool", "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"})
_WORDS: Final = {"true": True, "false": False}


class _Loader(yaml.SafeLoader):
    """No value is bent: a time keeps its offset, an id its zeros, `no` is a word; a key stands once in its mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands here twice", problem_mark=key.start_mark
                )
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
        return super().construct_mapping(node, deep)


def _word(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool | str:
    text = str(loader.construct_scalar(node))
    return _WORDS.get(text.lower(), text)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:bool", _word)


def read_scenarios(files: Sequence[Path]) -> tuple[Scenario, ...]:
    """The scenarios of all files, in order. Raises BadScenario; the same id in two files is wrong too."""
    scenarios: list[Scenario] = []
    owners: dict[str, Path] = {}
    for file in files:
        for scenario in parse_scenarios(_decoded(file), str(file)):
            if scenario.id in owners:
                raise BadScenario(f"{file}: {scenario.id}", f"{owners[scenario.id]} has a scenario of that id")
            owners[scenario.id] = file
            scenarios.append(scenario)
    return tuple(scenarios)


def read_chat(file: Path) -> tuple[ChatTurn, ...]:
    """The turns of a chat, a JSON object a line. Raises BadScenario naming the line."""
    turns: list[ChatTurn] = []
    seen: set[tuple[str, str, str]] = set()
    for number, line in enumerate(_text(file).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}: line {number}"
        try:
            turn = parse_chat_turn(parse_json(line.encode()), where)
        except BadScenario:
            raise
        except InvalidRecord:
            raise BadScenario(where, "this is no JSON") from None
        if (turn.user, turn.session, turn.id) in seen:
            raise BadScenario(where, f"there is another turn with the id {turn.id!r} in this session")
        seen.add((turn.user, turn.session, turn.id))
        turns.append(turn)
    return tuple(turns)


def _decoded(file: Path) -> object:
    try:
        return yaml.load(_text(file), Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise BadScenario(f"{file}{place}", str(getattr(error, "problem", None) or error)) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadScenario(str(file), error.strerror or "it cannot be read") from None
    except UnicodeDecodeError:
        raise BadScenario(str(file), "it is not UTF-8") from None
