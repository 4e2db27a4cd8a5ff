"""Traditional Chinese to Simplified, so that one set of rules reads both; the words kept are always the user's own."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from opencc import OpenCC

_HAN: Final = re.compile("[\u3400-\u9fff]")


@cache
def _converter() -> Any:
    return OpenCC("t2s")


def simplified(text: str) -> str:
    """`text` in Simplified script, character for character; as it is where the conversion would change its length."""
    if not _HAN.search(text):
        return text
    folded = str(_converter().convert(text))
    return folded if len(folded) == len(text) else text
