"""Ends the processes of a run whose owner died without doing so (kill -9, out of memory).

`python -m deploy.local.watchdog RUN OWNER_PID`, started by the owner with a pipe as standard input. The pipe closes
when the owner goes, however it goes. After an orderly stop there is nothing left to end.
"""

from __future__ import annotations

import os
import select
import sys

from deploy.local.leftovers import end

POLL_SECONDS = (
    0.5  # a copy of the pipe's end in a forked child of the owner would keep it open, so its pid is watched too
)


def main(run: str, owner: int) -> None:
    """Waits for the owner to go, then ends what is left of the run."""
    while os.getppid() == owner:
        readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
    end(run)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
