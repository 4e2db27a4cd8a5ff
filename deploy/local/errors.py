"""What can go wrong when the real parts are started on one machine.

    LocalError
    ├── Refused              the machine or the folder is not fit; nothing was started
    │   ├── FolderInUse
    │   ├── NoSpace
    │   ├── PortTaken
    │   └── Missing          Java or Redis is not there
    ├── JarsUnavailable      Kafka's jars could not be fetched, or are not the expected ones
    ├── PartFailed           a part ended, or did not become ready in time
    ├── TopicsRefused        topics are there, but not the right ones
    └── Interrupted          the start was called off

Every message says what to do. Whoever sees one of these from `LocalEngine` may rely on nothing being left running.
"""

from __future__ import annotations

from pathlib import Path

LINES_SHOWN = 15


class LocalError(Exception):
    """Anything that keeps the local engine from running; the message is for the person at the terminal."""


class Refused(LocalError):
    """The machine or the folder is not fit for a start, and nothing was started."""


class FolderInUse(Refused):
    """Another living run owns the folder. Stop it, or use another folder."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        owner = f"pid {pid}" if pid else "another process"
        super().__init__(
            f"{folder} is in use: an engine is running there as {owner}.\n"
            f"Stop it with: python -m deploy.local down --folder {folder}"
        )
        self.folder = folder
        self.pid = pid


class NoSpace(Refused):
    """The disk is too full for logs and copies. Free some space, or use a folder on another disk."""

    def __init__(self, folder: Path, free_bytes: int, needed_bytes: int) -> None:
        super().__init__(
            f"not enough space in {folder}: "
            f"{free_bytes / 1024**2:.0f} MB free, {needed_bytes / 1024**2:.0f} MB needed.\n"
            "Free some space, or name a folder on another disk with --folder."
        )


class PortTaken(Refused):
    """A port that must be had (asked for, or used before a restart) belongs to someone else."""

    def __init__(self, port: int, purpose: str) -> None:
        super().__init__(
            f"port {port} ({purpose}) is taken by another program.\n"
            f"See who has it with: ss -ltnp 'sport = :{port}' (macOS: lsof -iTCP:{port}), or let a free one be chosen."
        )
        self.port = port


class Missing(Refused):
    """A program the parts need is neither installed nor in the environment."""


class JarsUnavailable(LocalError):
    """Kafka's jars could not be fetched or are not the expected ones. Check the network and start again."""


class PartFailed(LocalError):
    """A part ended, or was not ready in time; the message ends with the last lines of its log."""

    def __init__(self, name: str, what: str, log: Path) -> None:
        said = last_lines(log, LINES_SHOWN) or "(it said nothing)"
        quoted = "\n".join(f"    | {line}" for line in said.splitlines())
        super().__init__(f"{name} {what}\n{quoted}\nIts whole log: {log}")
        self.name = name


class TopicsRefused(LocalError):
    """Topics of the folder's Kafka are not as this tree wants them; the message says which, and how to mend them."""


class Interrupted(LocalError):
    """The start was called off, because another part failed or the caller said so."""


def last_lines(log: Path, count: int) -> str:
    """The end of a log; empty when it is empty or absent."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-count:])
