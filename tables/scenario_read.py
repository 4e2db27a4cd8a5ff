"""Scenario files read from decoded YAML to the last key; every complaint says where it is.

Ids are not judged here: the engine refuses illegal ones, and a refused turn or recall is a result like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

from tables.candidate import Sensitivity
from tables.errors import InvalidRecord
from tables.expectation import Expectation, Want
from tables.policy import Policy, Sensitive
from tables.scenario import (
    BadScenario,
    CommandStep,
    Group,
    ListStep,
    Moment,
    Order,
    Place,
    RecallStep,
    Risk,
    Scenario,
    Step,
    TurnStep,
    WaitStep,
)
from tables.turn import LATEST_MS, parse_time

_PLACE: Final = ("tenant", "user", "session", "task", "topic")
_SCENARIO_KEYS: Final = frozenset({"id", "group", "lang", "risk", "steps", "why", "policy", *_PLACE})
_MATCHED: Final = ("use", "ignore", "stable", "reference", "window", "state", "summary", "ask", "has", "lacks")
_COUNTED: Final = ("at_least", "at_most", "max_tokens")
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "turn": frozenset({"text", "consent", "id", "minor"}),
    "recall": frozenset({"knowledge", "strict", "as_of", "max_tokens", "empty", *_MATCHED[:8]}),
    "list": frozenset({"drafts", "has", "lacks", "at_least", "at_most"}),
    "command": frozenset({"match", "scope", "text", "allow", "kind", "record"}),
    "wait": frozenset(),
}
_REACHES: Final[Mapping[Order, tuple[str, ...]]] = {
    Order.DELETE: ("memory", "session", "task", "user", "all"),
    Order.RESET: ("context", "history", "all"),
}
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_WHOLE: Final = ("window_messages", "window_tokens", "items", "item_tokens")
_DURATIONS: Final = {"session_gap": "session_gap_ms", "session_ttl": "session_ttl_ms"}


def parse_scenarios(data: object, file: str) -> tuple[Scenario, ...]:
    """The scenarios of a file, in its order. Raises BadScenario naming the file, the scenario and the step."""
    if not isinstance(data, list):
        raise BadScenario(file, "a list of scenarios is wanted")
    scenarios: dict[str, Scenario] = {}
    for number, one in enumerate(data, 1):
        fields = _Fields(one, f"{file}: scenario {number}")
        name = fields.text("id", needed=True)
        fields.where = f"{file}: {name}"
        if name in scenarios:
            fields.wrong("there is another scenario of that id")
        scenarios[name] = _scenario(name, fields)
    return tuple(scenarios.values())


class _Fields:
    """A mapping being read."""

    def __init__(self, data: object, where: str) -> None:
        self.where = where
        if not isinstance(data, Mapping):
            self.wrong("a mapping is wanted")
        self.data: Mapping[object, object] = data

    def wrong(self, problem: str) -> NoReturn:
        raise BadScenario(self.where, problem)

    def known(self, keys: frozenset[str]) -> None:
        for key in self.data:
            if key not in keys:
                self.wrong(f"{key!r} is no key here; there are {', '.join(sorted(keys))}")

    def text(self, key: str, *, needed: bool = False) -> str:
        """The text of `key`, "" when it is absent or null and not needed."""
        value = self.data.get(key)
        if value is None and not needed:
            return ""
        if value is None:
            self.wrong(f"{key} is missing")
        return value if isinstance(value, str) else self.wrong(f"{key}: a text is wanted")

    def flag(self, key: str) -> bool | None:
        value = self.data.get(key)
        return value if value is None or isinstance(value, bool) else self.wrong(f"{key}: true or false is wanted")

    def whole(self, key: str) -> int | None:
        value = self.data.get(key)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
            return int(value)
        if value is None or (type(value) is int and value >= 0):
            return value
        return self.wrong(f"{key}: a whole number is wanted")

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.wrong(f"{key}: a list of texts is wanted")
        return tuple(value)

    def pattern(self, key: str, text: str) -> str:
        try:
            re.compile(text)
        except re.error as error:
            self.wrong(f"{key}: {text!r} is no regular expression: {error}")
        return text

    def choice(self, key: str, value: str, choices: Sequence[str]) -> str:
        return value if value in choices else self.wrong(f"{key}: {value!r} is none of {', '.join(choices)}")

    def time(self, key: str) -> tuple[int, int]:
        text = self.text(key, needed=True)
        try:
            return parse_time(text, key)
        except InvalidRecord:
            self.wrong(f"{key}: {text!r} is no time with an offset, as in 2026-03-01T09:00:00+08:00")


def _scenario(name: str, fields: _Fields) -> Scenario:
    fields.known(_SCENARIO_KEYS)
    group = fields.choice("group", fields.text("group", needed=True), list(Group))
    risk = fields.choice("risk", fields.text("risk") or Risk.NORMAL.value, list(Risk))
    steps = fields.data.get("steps")
    if not isinstance(steps, list) or not steps:
        fields.wrong("steps: a list of steps is wanted")
    parsed: list[Step] = []
    for number, one in enumerate(steps, 1):
        step = _Fields(one, f"{fields.where}, step {number}")
        parsed.append(_step(number, step, fields, parsed[-1].moment if parsed else None))
    policy = _policy(_Fields(fields.data.get("policy") or {}, f"{fields.where}, policy"))
    return Scenario(name, Group(group), fields.text("lang"), Risk(risk), policy, tuple(parsed))


def _step(number: int, fields: _Fields, scenario: _Fields, before: Moment | None) -> Step:
    kinds = [kind for kind in _KEYS if kind in fields.data]
    if len(kinds) != 1:
        fields.wrong(f"exactly one of {', '.join(_KEYS)} is wanted")
    kind = kinds[0]
    common = {kind, "why"} if kind == "wait" else {kind, "why", "at", *_PLACE}
    fields.known(_KEYS[kind] | common)
    if kind == "wait":
        return _wait(number, fields, before)
    at, zone = fields.time("at")
    return _READERS[kind](fields, Moment(number, at, fields.text("at"), zone), scenario)


def _place(fields: _Fields, scenario: _Fields, *needed: str) -> Place:
    held = {key: (fields if key in fields.data else scenario).data.get(key) for key in _PLACE}
    for key in ("tenant", "user", *needed):
        if held[key] is None:
            fields.wrong(f"{key} is missing")
    return Place(*((fields if key in fields.data else scenario).text(key) for key in _PLACE))


def _turn(fields: _Fields, moment: Moment, scenario: _Fields) -> Step:
    role = fields.choice("turn", fields.text("turn", needed=True), ("user", "assistant"))
    return TurnStep(
        moment,
        _place(fields, scenario, "session"),
        role,
        fields.text("text", needed=True),
        fields.text("id"),
        fields.flag("consent"),
        fields.flag("minor"),
    )


def _recall(fields: _Fields, moment: Moment, scenario: _Fields) -> Step:
    if "as_of" in fields.data:
        fields.time("as_of")
    return RecallStep(
        moment,
        _place(fields, scenario, "session"),
        fields.text("recall", needed=True),
        _expected(fields),
        fields.texts("knowledge"),
        bool(fields.flag("strict")),
        fields.text("as_of"),
        fields.whole("max_tokens"),
    )


def _list(fields: _Fields, moment: Moment, scenario: _Fields) -> Step:
    if fields.flag("list") is not True:
        fields.wrong("list: true is wanted")
    return ListStep(moment, _place(fields, scenario), _expected(fields), bool(fields.flag("drafts")))


def _command(fields: _Fields, moment: Moment, scenario: _Fields) -> Step:
    order = Order(fields.choice("command", fields.text("command", needed=True), list(Order)))
    reach = fields.text("scope")
    if order in _REACHES:
        fields.choice("scope", fields.text("scope", needed=True), _REACHES[order])
    if order in (Order.CORRECT, Order.SYSTEM_UPDATE):
        fields.text("text", needed=True)
    if order is Order.CONSENT and fields.flag("allow") is None:
        fields.wrong("allow is missing")
    if order is Order.CORRECT or (order is Order.DELETE and reach == "memory"):
        fields.text("match", needed=True)
    return CommandStep(
        moment,
        _place(fields, scenario, *_scoped(order, reach)),
        order,
        fields.pattern("match", fields.text("match")),
        reach,
        fields.text("text"),
        fields.flag("allow"),
        fields.text("kind"),
        fields.text("record"),
    )


def _scoped(order: Order, reach: str) -> tuple[str, ...]:
    """What beside tenant and user the command cannot do without."""
    if (order, reach) in ((Order.RESET, "context"), (Order.DELETE, "session")):
        return ("session",)
    return ("task",) if order is Order.CLOSE_TASK or (order, reach) == (Order.DELETE, "task") else ()


def _wait(number: int, fields: _Fields, before: Moment | None) -> Step:
    text = fields.text("wait", needed=True)
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    if match is None:
        fields.wrong(f"wait: {text!r} is no duration: a whole number and s, m, h or d")
    if before is None:
        fields.wrong("wait: there is no step before it whose time could move on")
    at = before.at + int(match[1]) * _UNITS_MS[match[2]]
    if at >= LATEST_MS:
        fields.wrong("wait: this ends after the last time that the engine takes")
    return WaitStep(replace(before, number=number, at=at))


_READERS: Final[Mapping[str, Callable[[_Fields, Moment, _Fields], Step]]] = {
    "turn": _turn,
    "recall": _recall,
    "list": _list,
    "command": _command,
}


def _expected(fields: _Fields) -> tuple[Expectation, ...]:
    """What is expected, in the order written."""
    found: list[Expectation] = []
    for key in fields.data:
        if key == "ask" and fields.texts(key) == ():
            found.append(Expectation(Want.ASK_NOTHING))
        elif key in _MATCHED:
            found += [Expectation(Want(str(key)), fields.pattern(str(key), text)) for text in fields.texts(str(key))]
        elif key in _COUNTED:
            found.append(Expectation(Want(str(key)), number=fields.whole(str(key)) or 0))
        elif key == "empty":
            if fields.flag(key) is not True:
                fields.wrong("empty: true is wanted")
            found.append(Expectation(Want.EMPTY))
    return tuple(found)


def _policy(fields: _Fields) -> Policy:
    fields.known(frozenset({*_WHOLE, *_DURATIONS, "total_weight", "sensitive"}))
    policy = Policy()
    change: dict[str, Any] = {}
    for key in fields.data:
        name = str(key)
        if name == "sensitive":
            change[name] = {**policy.sensitive, **_sensitive(fields)}
        elif name in _DURATIONS:
            match = re.fullmatch(r"([0-9]{1,9})([smhd])", fields.text(name))
            if match is None:
                fields.wrong(f"{name}: a duration is wanted, as in 2h")
            change[_DURATIONS[name]] = int(match[1]) * _UNITS_MS[match[2]]
        else:
            change[name] = fields.whole(name) or fields.wrong(f"{name}: a whole number above 0 is wanted")
    return replace(policy, **change)


def _sensitive(fields: _Fields) -> dict[Sensitivity, Sensitive]:
    inner = _Fields(fields.data.get("sensitive"), f"{fields.where}, sensitive")
    inner.known(frozenset(one.value for one in Sensitivity if one is not Sensitivity.NONE))
    return {
        Sensitivity(str(key)): Sensitive(inner.choice(str(key), inner.text(str(key)), list(Sensitive)))
        for key in inner.data
    }
