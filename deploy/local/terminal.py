"""What the programs at a terminal have in common."""

from __future__ import annotations

import signal


def raise_on_signals() -> None:
    """From here on SIGTERM and (unless under nohup) a closed terminal end the program as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
