"""Free loopback ports, held until their users start."""

from __future__ import annotations

import contextlib
import errno
import random
import socket
from collections.abc import Callable
from pathlib import Path

from deploy.local.errors import PortTaken, Refused

HOST = "127.0.0.1"
# The system hands ports of its own range to outgoing connections. A part that is down would lose such a port to the
# next client, or a client that keeps connecting to it would meet itself there and hold it, so ours lie below.
FIRST, LAST = 15_000, 32_000
_SYSTEM_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class Port:
    """A port of 127.0.0.1 for one part, held so that nobody else can take it before the part starts."""

    def __init__(self, number: int, purpose: str) -> None:
        """Takes hold of this very port; PortTaken, naming the purpose, when it belongs to someone else."""
        self._holder: socket.socket | None = _listen(number, purpose)
        self.number = number
        self.purpose = purpose

    def give(self) -> int:
        """Lets go of the port for the part that starts now; returns its number.

        May be called again for a later start: PortTaken when someone else took it meanwhile. Between this call and the
        part's own bind there is a moment in which that can still happen; the part then fails and its log says so.
        """
        holder = self._holder or _listen(self.number, self.purpose)
        self._holder = None
        holder.close()
        return self.number

    def drop(self) -> None:
        """Lets go of the port for good."""
        if self._holder is not None:
            self._holder.close()
            self._holder = None


def free_port(purpose: str, choose: Callable[[int, int], int] = random.randint) -> Port:
    """A free port outside the range of outgoing connections."""
    first, last = _own_range()
    for _ in range(200):
        with contextlib.suppress(PortTaken):
            return Port(choose(first, last), purpose)
    raise Refused(f"no free port was found between {first} and {last} on {HOST} for {purpose}.")


def _listen(number: int, purpose: str) -> socket.socket:
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # As a server does: connections of an earlier run that are still closing (TIME_WAIT) do not take the port, but
        # only listening keeps out others who set the same option.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((HOST, number))
        holder.listen(1)
    except OSError as error:
        holder.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise PortTaken(number, purpose) from error
        raise
    return holder


def _own_range() -> tuple[int, int]:
    try:
        lowest = int(_SYSTEM_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        lowest = 32_768
    return (FIRST, min(LAST, lowest - 1)) if lowest > FIRST + 1_000 else (FIRST, 65_000)
