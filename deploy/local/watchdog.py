"""Ends the processes of a run whose owner died without doing so (kill -9, out of memory).

`python -m deploy.local.watchdog FOLDER RUN OWNER_PID`, started by the owner with a pipe as standard input. A byte on
the pipe says that the owner has ended its processes itself; the pipe's end without one, that it is gone.
"""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path

from deploy.local.leftovers import end
from deploy.local.run import State

# A copy of the pipe's end in a forked child of the owner would keep it open, so the owner's number is watched as well.
POLL_SECONDS = 0.5
# A process that the owner was just starting as it died is not yet known by its environment.
SECOND_LOOK_SECONDS = 1.0


def main(folder: Path, run: str, owner: int) -> None:
    """Waits for the owner to go, then ends what is left of the run."""
    while os.getppid() == owner:
        readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
        if readable:
            if os.read(sys.stdin.fileno(), 1):
                return
            break
    _end(folder, run)
    time.sleep(SECOND_LOOK_SECONDS)
    _end(folder, run)


def _end(folder: Path, run: str) -> None:
    state = State.read(folder)
    end(run, state.parts.values() if state and state.run == run else ())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
