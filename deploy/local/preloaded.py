"""Runs `python -m MODULE ARGUMENT…` as soon as a file is there, and loads what it needs in the meantime.

`python -m deploy.local.preloaded FILE PACKAGE,… MODULE ARGUMENT…`. A worker and the API take seconds to load, and what
they wait for (a broker with its topics) takes seconds to start: here both happen at the same time. Ends when the
process that started it is gone.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import sys
import time
from collections.abc import Sequence
from pathlib import Path

POLL_SECONDS = 0.02


def main(file: Path, packages: Sequence[str], module: str, arguments: Sequence[str]) -> None:
    """Returns when the command has ended; the command sees its own arguments only."""
    owner = os.getppid()
    gc.disable()  # what is loaded stays: looking through it again and again is a tenth of the time
    for package in packages:
        importlib.import_module(package)
    gc.freeze()
    gc.enable()
    while not file.exists():
        if os.getppid() != owner:
            return
        time.sleep(POLL_SECONDS)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3], sys.argv[4:])
