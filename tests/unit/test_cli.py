"""The command line: it answers at once, teaches, and says every fault in one line with the right exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from streams import __main__ as cli
from streams.commands.erase import selected
from streams.commands.screen import visible
from streams.commands.tail import full_name, value_text
from streams.commands.tenant import next_policies
from streams.commands.token import minted
from streams.commands.values import duration_ms, legal_id, time_ms, with_settings
from tables.candidate import Sensitivity
from tables.command import ActorRole
from tables.erasure import Reach
from tables.errors import Misconfigured
from tables.identity import Identity, identity_of
from tables.policy import Clock, Policy, Sensitive, Tenant

COMMANDS = (
    ["worker"], ["api"], ["topics"], ["tenant", "add"], ["tenant", "list"], ["token"], ["send"], ["command"], ["erase"],
    ["tail"], ["dlq", "list"], ["dlq", "redrive"], ["audit"], ["bench"], ["schemas"],
)  # fmt: skip
SECRET = "s" * 32


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": "/usr/bin:/bin", "TWINSLUICE_BROKERS": "127.0.0.1:9", **environment}
    return subprocess.run(
        [sys.executable, "-m", "streams", *arguments],
        capture_output=True,
        text=True,
        env=clean,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command: list[str]) -> None:
    result = CliRunner().invoke(cli.app, [*command, "--help"])

    assert result.exit_code == 0
    assert f"python -m streams {' '.join(command)}" in result.output


def test_help_imports_no_engine() -> None:
    slow = "{'aiokafka', 'redis', 'pymilvus', 'faust', 'fastapi', 'numpy', 'structlog'}"
    program = f"import sys, streams.__main__; print(sorted({slow} & set(sys.modules)))"

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "said"),
    [
        (["tenant", "list"], {"TWINSLUICE_PARTITIONS": "many"}, 78, "TWINSLUICE_PARTITIONS must be a whole number"),
        (["worker"], {"TWINSLUICE_EMBEDDER": "none"}, 78, "TWINSLUICE_EMBEDDER must be one of"),
        (["token", "--tenant", "t", "--user", "u"], {}, 78, "TWINSLUICE_JWT_SECRET is not set"),
        (["token", "--tenant", "t", "--user", "u"], {"TWINSLUICE_JWT_SECRET": "short"}, 78, "too short"),
        (["command", "tick", "--tenant", "t"], {}, 78, "TWINSLUICE_SIGNING_SECRET is not set"),
        (["topics"], {}, 69, "does TWINSLUICE_BROKERS name it"),
        (["send", "--user", "u", "--session", "s", "hi"], {}, 65, "missing_field: tenant_id"),
        (["send", "--file", "no-such-file", "--tenant", "t"], {}, 78, "no-such-file: No such file"),
        (["tail", "no.such.topic"], {}, 78, "names no topic"),
        (["dlq", "list", "--topic", "memory.state.v1"], {}, 78, "has no dead letters"),
    ],
)
def test_a_fault_is_one_line_and_its_exit_code(
    arguments: list[str], environment: dict[str, str], code: int, said: str
) -> None:
    result = run(*arguments, **environment)

    assert result.returncode == code, result.stderr
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_wrong_usage_exits_with_2() -> None:
    assert run("send").returncode == 2
    assert run("erase", "--tenant", "t", "--user", "u").returncode == 2


@pytest.mark.parametrize(("text", "ms"), [("1s", 1000), ("30m", 1_800_000), ("2h", 7_200_000), ("7d", 604_800_000)])
def test_durations(text: str, ms: int) -> None:
    assert ms == duration_ms(text)


@pytest.mark.parametrize("text", ["", "2", "h", "-1h", "0s", "1.5h", "1w", "２h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        duration_ms(text)


def test_times_need_an_offset() -> None:
    assert time_ms("2026-03-01T09:00:00+08:00") == 1_772_326_800_000
    with pytest.raises(typer.BadParameter):
        time_ms("2026-03-01T09:00:00")


def test_policy_settings_are_those_of_the_scenarios() -> None:
    given = ["items=20", "window_messages=4", "session_gap=1h", "session_ttl=2d", "total_weight=500"]

    policy = with_settings(Policy(), [*given, "sensitive.health=ask"])

    assert (policy.items, policy.window_messages, policy.total_weight) == (20, 4, 500.0)
    assert (policy.session_gap_ms, policy.session_ttl_ms) == (3_600_000, 172_800_000)
    assert policy.sensitive[Sensitivity.HEALTH] is Sensitive.ASK
    assert policy.sensitive[Sensitivity.CREDENTIAL] is Sensitive.REFUSE


@pytest.mark.parametrize(
    "setting", ["items", "items=", "items=-1", "items=many", "colour=red", "sensitive.soul=ask", "sensitive.health=yes"]
)
def test_a_wrong_policy_setting_is_refused(setting: str) -> None:
    with pytest.raises(typer.BadParameter):
        with_settings(Policy(), [setting])


def test_a_registered_tenant_gets_a_new_version_only_for_a_new_policy() -> None:
    held = Tenant("t", clock=Clock.EVENT)

    assert next_policies(held, [], None) == held.policies
    assert next_policies(held, ["items=300"], None) == held.policies
    newest = next_policies(held, ["items=20"], None)[-1]
    assert (newest.version, newest.valid_from, newest.items) == (2, 0, 20)
    assert next_policies(held, ["items=20"], 5)[-1].valid_from == 5


def test_a_minted_token_says_who_it_is() -> None:
    import jwt

    token = minted(SECRET, "t/1", "用户", ActorRole.REVIEWER, now=2_000_000_000, seconds=60)
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], options={"verify_iat": False, "verify_exp": False})

    assert identity_of(claims) == Identity("t/1", "用户", ActorRole.REVIEWER)
    assert claims["exp"] - claims["iat"] == 60


def test_ids_are_byte_exact() -> None:
    assert legal_id("a#/%*'\"用户🙂", "ID") == "a#/%*'\"用户🙂"
    for wrong in ("", "a\n", "x" * 129, "\ud800"):
        with pytest.raises(typer.BadParameter):
            legal_id(wrong, "ID")


def test_an_erasure_selects_exactly_one_thing() -> None:
    assert selected({Reach.TASK: ["a", "b"]}, True, False) == {"reach": Reach.TASK, "values": ["a", "b"]}
    assert selected({}, True, True) == {"reach": Reach.USER}
    assert selected({}, False, True) == {"reach": Reach.TENANT}
    for chosen, has_user, everything in (
        ({}, True, False),
        ({Reach.TASK: ["a"]}, True, True),
        ({Reach.TASK: ["a"], Reach.SOURCE: ["b"]}, True, False),
        ({Reach.MEMORY: ["a"]}, False, False),
    ):
        with pytest.raises(typer.BadParameter):
            selected(chosen, has_user, everything)


def test_a_topic_may_be_named_by_a_part() -> None:
    assert full_name("turns") == "conversation.turns.v1"
    assert full_name("turns.v1.dlq") == "conversation.turns.v1.dlq"
    with pytest.raises(Misconfigured, match="several topics"):
        full_name("memory")


def test_values_are_shown_so_that_no_terminal_acts_on_them() -> None:
    assert value_text(None) == "(null)"
    assert value_text(b"\x01" + b'{"a":1}') == '{\n  "a": 1\n}'
    assert value_text(b"\xff\x1b[2J") == "\\xff\\x1b[2J"
    assert "\x9b" not in value_text('{"a":"\u009b\u202e喝茶"}'.encode())
    assert "喝茶" in value_text('{"a":"喝茶"}'.encode())
    assert visible("a\tb\x07") == "a\\tb\\x07"
