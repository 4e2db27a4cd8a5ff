"""Logging of the long-running processes: one JSON object a line on standard error, never a word that was said.

Records of the libraries beneath (Faust, aiokafka, uvicorn) pass from WARNING on: lower down they print what they carry.
Of an exception its type and places are kept, its message is not: a library's message may quote what it was given.
"""

from __future__ import annotations

import logging
import os
import sys
from types import TracebackType
from typing import Any, Final

import structlog
from structlog.typing import EventDict, Processor

FRAMES_MAX: Final = 8


def set_up(level: str) -> None:
    """Configure structlog and the standard library's root logger. `level` is ours alone."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_words,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(sort_keys=False)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(sort_keys=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("faust", "mode", "aiokafka", "uvicorn", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)


def without_words(_: Any, __: str, event: EventDict) -> EventDict:
    """`exc_info` as the exception's type and where it came by; the message and the arguments go."""
    given = event.pop("exc_info", None)
    event.pop("stack", None)
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["at"] = places(error.__traceback__)
    return event


def places(trace: TracebackType | None) -> str:
    """The last few `file:line` of a traceback."""
    frames = []
    while trace is not None:
        frames.append(f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(frames[-FRAMES_MAX:])
