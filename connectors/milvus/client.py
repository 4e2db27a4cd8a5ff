"""Milvus's client without pandas, which it imports for data frames alone: a second and 70 MB of every process.

Nothing here hands data frames to the client. What it would ask pandas about plain values is still asked of pandas
itself, at that moment. Import this module before any other that imports `pymilvus`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

_STAND_INS: Final = ("pandas", "pandas.api", "pandas.api.types")


class _Asks(ModuleType):
    """A stand-in for `pandas.api.types`: each function is pandas's own, imported when it is called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith(("is_", "infer_")):
            raise AttributeError(name)

        def ask(*arguments: Any, **named: Any) -> Any:
            return getattr(importlib.import_module("pandas.api.types"), name)(*arguments, **named)

        return ask


def _load() -> None:
    if "pandas" in sys.modules or "pymilvus" in sys.modules:
        importlib.import_module("pymilvus")
        return
    pandas, api, types = ModuleType("pandas"), ModuleType("pandas.api"), _Asks("pandas.api.types")
    pandas.DataFrame = type("DataFrame", (), {})  # type: ignore[attr-defined]  # nothing is ever one
    pandas.api, api.types = api, types  # type: ignore[attr-defined]  # as packages have their modules
    sys.modules.update(zip(_STAND_INS, (pandas, api, types), strict=True))
    try:
        importlib.import_module("pymilvus")
    finally:
        for name in _STAND_INS:
            del sys.modules[name]


_load()

from pymilvus import DataType, MilvusClient  # noqa: E402  # after the stand-ins
from pymilvus.exceptions import MilvusException  # noqa: E402

__all__ = ["DataType", "MilvusClient", "MilvusException"]
