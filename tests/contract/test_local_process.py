"""Processes of a run: their start, their failure, their end, and the end of their owner."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from deploy.local.application import ApplicationServer
from deploy.local.errors import FolderInUse, Interrupted, PartFailed
from deploy.local.leftovers import RUN_TAG
from deploy.local.ports import free_port
from deploy.local.process import Command
from deploy.local.run import ROOT, Run, State

SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)",
)
OWNER = """
import sys, time
from pathlib import Path
from deploy.local.process import Command
from deploy.local.run import Run

run = Run(Path(sys.argv[1]))
run.start(Command("child", (sys.executable, "-c", "import time; time.sleep(600)")))
run.start(Command("parent", ("/bin/sh", "-c", "sleep 600 & wait")))
print("started", flush=True)
time.sleep(600)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    begun = Run(tmp_path / "run")
    yield begun
    begun.end()


def living(run: str) -> list[psutil.Process]:
    """Processes that carry a run's tag and have not ended."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(RUN_TAG) == run and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def wait_until_none(run: str, seconds: float) -> list[psutil.Process]:
    """Those of a run that still live when the time is up."""
    deadline = time.monotonic() + seconds
    while (left := living(run)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def killed_owner(folder: Path, *, watchdog_first: bool = False) -> State:
    """The state left by an owner that was killed hard with its processes running."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", OWNER, folder], stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"started\n"
        state = State.read(folder)
        for child in psutil.Process(owner.pid).children() if watchdog_first else []:
            if "deploy.local.watchdog" in child.cmdline():
                child.kill()
        owner.kill()
    assert state is not None
    return state


def test_a_part_that_ends_at_its_start_is_reported_with_its_last_words(run: Run) -> None:
    part = run.start(Command("part", (sys.executable, "-c", "print('the reason'); raise SystemExit(3)")))

    with pytest.raises(PartFailed, match=r"part ended with exit code 3 at its start\.\n    \| the reason"):
        part.wait_ready(lambda: False, 20, run.cancelled)


def test_a_part_that_does_not_answer_in_time_is_reported_and_gone(run: Run) -> None:
    part = run.start(Command("part", SLEEPER))

    with pytest.raises(PartFailed, match="did not answer within 0 seconds"):
        part.wait_ready(lambda: False, 0.2, run.cancelled)
    assert not part.lives


def test_a_start_that_is_called_off_ends_the_part(run: Run) -> None:
    part = run.start(Command("part", SLEEPER))
    threading.Timer(0.2, run.cancelled.set).start()

    with pytest.raises(Interrupted):
        part.wait_ready(lambda: False, 20, run.cancelled)
    assert not part.lives


def test_a_part_that_ignores_the_request_to_stop_is_killed_after_its_bound(run: Run) -> None:
    part = run.start(Command("part", STUBBORN, stop_seconds=0.3))
    part.wait_ready(lambda: part.said(b"deaf"), 20, run.cancelled)

    part.stop()

    assert not part.lives


def test_the_end_of_a_run_stops_the_last_started_first(tmp_path: Path) -> None:
    order: list[str] = []
    run = Run(tmp_path / "run")
    for name in ("first", "second"):
        part = run.start(Command(name, SLEEPER, after=lambda _, name=name: order.append(name)))  # type: ignore[misc]
        part.wait_ready(lambda: True, 20, run.cancelled)

    run.end()

    assert order == ["second", "first"]


def test_a_folder_belongs_to_one_run(run: Run) -> None:
    with pytest.raises(FolderInUse, match=rf"running there as pid {os.getpid()}\.\nStop it with: .* --folder") as error:
        Run(run.folder)
    assert error.value.pid == os.getpid()


def test_nothing_outlives_an_owner_that_is_killed(tmp_path: Path) -> None:
    state = killed_owner(tmp_path)

    assert wait_until_none(state.run, 20) == []


def test_what_even_the_watchdog_left_is_ended_by_the_next_run(tmp_path: Path) -> None:
    state = killed_owner(tmp_path, watchdog_first=True)
    before = living(state.run)

    Run(tmp_path).end()

    assert (len(before) >= 3, living(state.run)) == (True, [])


def test_a_process_with_a_recorded_number_but_another_start_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(SLEEPER)
    try:
        run = Run(tmp_path)
        run.state.parts["part"] = type(run.state.owner)(stranger.pid, 1.0, SLEEPER)
        run.state.write(tmp_path)
        (tmp_path / "state.json").rename(tmp_path / "kept")
        run.end()
        (tmp_path / "kept").rename(tmp_path / "state.json")

        Run(tmp_path).end()

        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_the_settings_can_be_read_by_this_user_only(run: Run) -> None:
    run.settle({"TWINSLUICE_JWT_SECRET": "s"})

    mode = (run.folder / "state.json").stat().st_mode & 0o777
    state = State.read(run.folder)
    assert state is not None
    assert (mode, state.settings) == (0o600, {"TWINSLUICE_JWT_SECRET": "s"})


def test_a_fresh_run_forgets_its_data_and_nothing_else(tmp_path: Path) -> None:
    for name in ("kafka", "redis", "mine"):
        (tmp_path / name).mkdir()

    Run(tmp_path, fresh=True).end()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "logs", "mine"]


SERVICE = """
import http.server, sys, time
begin = time.monotonic()

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ready = self.path == "/readyz" and time.monotonic() - begin > 0.3
        self.send_response(200 if ready else 503)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_worker_counts_as_started_when_it_says_that_it_is_ready(run: Run) -> None:
    port = free_port("a worker")
    server = ApplicationServer("worker-1", (sys.executable, "-c", SERVICE, str(port.number)), {}, port)
    begin = time.monotonic()

    part = server.start(run, lambda _: None)

    assert (part.lives, time.monotonic() - begin > 0.3) == (True, True)
