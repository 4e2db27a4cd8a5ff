"""Runs every check of the tree and says, at the end, how each went; called by `deploy/test`.

The last line is `N passed, N failed` (and `, N skipped`): tests, and each other check as one. Exit code 0 means that
nothing failed and that tests did run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / ".local" / "test" / "junit.xml"
_BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one check went; `failures` and `skips` are lines for the summary."""

    name: str
    seconds: float
    passed: int
    failures: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    note: str = ""

    def line(self) -> str:
        """One line: the state, the name, the time, and the counts where there is more than one."""
        counted = f"{self.passed} passed, {len(self.failures)} failed" if self.passed + len(self.failures) > 1 else ""
        state = "FAIL" if self.failures else "ok"
        return f"{state:5} {self.name:16} {self.seconds:6.1f} s  {self.note or counted}".rstrip()


def run_quietly(name: str, *command: str) -> Outcome:
    """One check that passes or fails as a whole; its output is shown only when it fails."""
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    failed = done.returncode != 0
    if failed:
        print(done.stdout.rstrip(), flush=True)
    return Outcome(name, time.monotonic() - begin, passed=not failed, failures=(name,) if failed else ())


def check_generated_files() -> Outcome:
    """The drift check, once the command line has one."""
    name = "generated files"
    streams = (sys.executable, "-m", "streams")
    known = subprocess.run((*streams, "--help"), cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode != 0 or "schemas" not in known.stdout:
        return Outcome(name, 0.0, passed=0, note="not there yet")
    return run_quietly(name, *streams, "schemas", "--check")


def run_tests(arguments: Sequence[str]) -> Outcome:
    """All tests, shown as they run; counted from pytest's own report."""
    begin = time.monotonic()
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.unlink(missing_ok=True)
    command = (sys.executable, "-m", "pytest", f"--junit-xml={REPORT}", *arguments)
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    passed, failures, skips = read_report(REPORT)
    if code != 0 and not failures:
        failures = (f"pytest ended with exit code {code}" + (": no test was run" if code == 5 else ""),)
    return Outcome("pytest", time.monotonic() - begin, passed, failures, skips)


def read_report(report: Path) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Passed tests, names of failed ones, and skipped ones with their reasons. An expected failure has passed."""
    passed, failures, skips = 0, [], []
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    for case in cases:
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failures.append(name)
        elif skipped is not None and skipped.get("type") != "pytest.xfail":
            skips.append(f"{name}: {skipped.get('message', 'no reason given')}")
        else:
            passed += 1
    return passed, tuple(dict.fromkeys(failures)), tuple(skips)


def summarise(outcomes: Sequence[Outcome]) -> int:
    """Prints the summary; the exit code."""
    print("\n== summary")
    for outcome in outcomes:
        print(outcome.line())
    for title, lines in (
        ("failed", [line for outcome in outcomes for line in outcome.failures]),
        ("skipped", [line for outcome in outcomes for line in outcome.skips]),
    ):
        if lines:
            print(f"\n{title}:")
            print("\n".join(f"  {line}" for line in lines))
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(len(outcome.failures) for outcome in outcomes)
    skipped = sum(len(outcome.skips) for outcome in outcomes)
    print(f"\n{passed} passed, {failed} failed{f', {skipped} skipped' if skipped else ''}", flush=True)
    return 1 if failed else 0


def main(arguments: Sequence[str]) -> int:
    """The command line; 0 when everything held."""
    parser = argparse.ArgumentParser(
        prog="deploy/test",
        description="Run every check and test of the tree: style, types, imports, generated files, tests.",
        epilog="Anything else is handed to pytest: deploy/test tests/unit -k window. "
        "Tests that need Kafka, Redis and Milvus Lite start them on free loopback ports and stop them.",
    )
    parser.add_argument("--fast", action="store_true", help="leave out the tests that need the real parts")
    options, for_pytest = parser.parse_known_args(arguments)
    selection = ["-m", "not real"] if options.fast else []
    steps: Sequence[Callable[[], Outcome]] = (
        lambda: run_quietly("ruff check", sys.executable, "-m", "ruff", "check"),
        lambda: run_quietly("ruff format", sys.executable, "-m", "ruff", "format", "--check"),
        lambda: run_quietly("mypy --strict", sys.executable, "-m", "mypy"),
        lambda: run_quietly("import arrows", str(_BIN / "lint-imports")),
        check_generated_files,
        lambda: run_tests([*selection, *for_pytest]),
    )
    outcomes = []
    for step in steps:
        outcomes.append(step())
        print(outcomes[-1].line(), flush=True)
    return summarise(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
