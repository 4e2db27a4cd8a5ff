"""What people write on a command line, as values: durations, times, policy settings. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import typer

from tables.candidate import Sensitivity
from tables.errors import InvalidRecord
from tables.keys import is_legal_id
from tables.policy import Policy, Sensitive
from tables.turn import parse_time
from tables.worth import AUTHORITATIVE

_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_WHOLE: Final = {"window_messages", "window_tokens", "items", "item_tokens"}
_DURATIONS: Final = {"session_gap": "session_gap_ms", "session_ttl": "session_ttl_ms"}
_SENSITIVE: Final = "sensitive."
POLICY_KEYS: Final = (*sorted(_WHOLE), *_DURATIONS, "total_weight", "authoritative", f"{_SENSITIVE}<class>")


def duration_ms(text: str) -> int:
    """Milliseconds of `90s`, `30m`, `2h` or `7d`. Raises typer.BadParameter."""
    match = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", text)
    if match is None:
        raise typer.BadParameter(f"{text!r} is no duration: a whole number and s, m, h or d, as in 2h")
    return int(match[1]) * _UNITS_MS[match[2]]


def legal_id(text: str, what: str) -> str:
    """`text` when it is a legal id, byte-exact. Raises typer.BadParameter."""
    if not is_legal_id(text):
        raise typer.BadParameter(f"{what}: an id is 1 to 128 UTF-8 bytes without control characters")
    return text


def now_text() -> str:
    """The present time as RFC 3339 with this machine's offset."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def time_ms(text: str) -> int:
    """Epoch milliseconds of an RFC 3339 time with its offset. Raises typer.BadParameter."""
    try:
        return parse_time(text, "time")[0]
    except InvalidRecord:
        raise typer.BadParameter(f"{text!r} is no time: RFC 3339 with an offset, as in {now_text()}") from None


def with_settings(policy: Policy, settings: Sequence[str]) -> Policy:
    """`policy` with `key=value` settings applied. Raises typer.BadParameter naming the one that is wrong."""
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise typer.BadParameter(f"{setting!r}: write key=value; keys are {', '.join(POLICY_KEYS)}")
        policy = _set(policy, key.strip(), value.strip())
    return policy


def _set(policy: Policy, key: str, value: str) -> Policy:
    change: dict[str, Any] = {}
    if key in _WHOLE:
        change[key] = _whole(key, value)
    elif key in _DURATIONS:
        change[_DURATIONS[key]] = duration_ms(value)
    elif key == "total_weight":
        change[key] = float(_whole(key, value))
    elif key == "authoritative":
        change[key] = _kinds(value)
    if change:
        return replace(policy, **change)
    if key.startswith(_SENSITIVE):
        return _set_sensitive(policy, key.removeprefix(_SENSITIVE), value)
    raise typer.BadParameter(f"{key!r} is no policy setting; there are {', '.join(POLICY_KEYS)}")


def _set_sensitive(policy: Policy, name: str, value: str) -> Policy:
    classes = [one.value for one in Sensitivity if one is not Sensitivity.NONE]
    if name not in classes:
        raise typer.BadParameter(f"{name!r} is no sensitive class; there are {', '.join(classes)}")
    if value not in set(Sensitive):
        raise typer.BadParameter(f"{_SENSITIVE}{name} is {', '.join(Sensitive)}, not {value!r}")
    return replace(policy, sensitive={**policy.sensitive, Sensitivity(name): Sensitive(value)})


def _kinds(value: str) -> tuple[str, ...]:
    """Kinds that a business system holds, by comma; `none` for none."""
    kinds = () if value == "none" else tuple(dict.fromkeys(one.strip() for one in value.split(",")))
    for one in kinds:
        if one not in AUTHORITATIVE:
            raise typer.BadParameter(f"authoritative: {one!r} is none of {', '.join(AUTHORITATIVE)}; `none` for none")
    return kinds


def _whole(key: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= 1_000_000):
        raise typer.BadParameter(f"{key} is a whole number from 1 to 1000000, not {value!r}")
    return int(value)
