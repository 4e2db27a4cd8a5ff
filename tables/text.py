"""Text as every law sees it: equality of values, language by script, sentences, a token estimate, one keyword analyzer.

Everything here is pure, never raises on a legal text (no lone surrogate, no NUL) and takes time linear in its length.
"""

from __future__ import annotations

import re
import unicodedata

from tables.han import han_tokens

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f々〇"
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d]")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]")
_HAN_CHAR = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z]+)?")
_LETTER = re.compile(r"[^\W\d_]")
_CODE = re.compile(r"```.*?```|`[^`]*`|https?://[^\s\u3000-\u9fff]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", re.DOTALL)
_ZH_WORDS = re.compile("[的了是我你在不吗呢吧和请把给这那有就都要用没会别个]")

_SPACE = re.compile(r"\s+")
_TRAILING = " \t\r\n.,;:!?…~。，、；：！？～·'\"“”‘’()（）[]【】「」『』《》"


def normalised(value: str) -> str:
    """What equality of values compares: width, case, inner white space and outer punctuation folded. Idempotent."""
    folded = value
    for _ in range(4):  # case folding can undo NFKC and the other way round: a fixed point comes after two rounds
        before = folded
        folded = unicodedata.normalize("NFKC", folded).casefold()
        folded = _SPACE.sub(" ", folded).strip(_TRAILING)
        if folded == before:
            break
    return folded


def language(text: str) -> str:
    """ "zh", "en", "ja" or "ko" by script; "other" for other scripts and for text without letters.

    Addresses and code do not count. Mixed Han and Latin is "zh" with a Chinese function word or twice as many
    Han characters as Latin words.
    """
    if text.isascii():
        return "en" if _LATIN_WORD.search(text) else "other"
    plain = _CODE.sub(" ", text) if len(text) < 4096 else text
    if _KANA.search(plain):
        return "ja"
    if _HANGUL.search(plain):
        return "ko"
    han = len(_HAN_CHAR.findall(plain))
    latin = len(_LATIN_WORD.findall(plain))
    if han:
        return "zh" if not latin or han >= 2 * latin or _ZH_WORDS.search(plain) else "en"
    letters = len(_LETTER.findall(plain))
    return "en" if latin and latin * 2 >= len(plain.split()) and letters else "other"


_END = re.compile(
    r"[。！？!?…]+[”’」』\")）\]】]*"  # a full stop that is no part of a number, address or short form
    r"|(?<![A-Z])(?<!\b[Mm]r)(?<!\b[DdMm]r)(?<!\b[Mm]rs)(?<!\b[Ss]t)(?<!\b[AaPp]\.m)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)"
    r"\.+[\"')\]”’]*(?=\s|$)"
    r"|\n+|[；;](?=\s|[^\x00-\x7f]|$)"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences in order, each trimmed and not empty, none overlapping another.

    A line break ends a sentence; the marks that end one belong to it.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        _append_trimmed(spans, text, start, match.end())
        start = match.end()
    _append_trimmed(spans, text, start, len(text))
    return spans


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends; an empty one lies at `end`."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return (end, end) if start >= end else (start, start + len(piece.strip()))


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    start, end = trimmed(text, start, end)
    if start < end and any(c.isalnum() for c in text[start:end]):
        spans.append((start, end))


_TOKEN_PIECE = re.compile(
    f"(?P<han>[{HAN}]+)|(?P<lower>[a-z]+)|(?P<title>[A-Z][a-z]+)|(?P<upper>[A-Z]+)|(?P<digit>[0-9]+)"
    "|(?P<space> +)|(?P<blank>\\s)|(?P<mark>[!-/:-@\\[-`{-~，。、！？：；（）“”《》【】…—·])|(?P<rest>[\\s\\S])"
)


def tokens(text: str) -> int:
    """An estimate of `text`'s tokens that is not below cl100k's or o200k's count for ordinary text. At least 1."""
    if text.isascii():
        return _margin(sum(_token_cost(m.lastgroup, m.end() - m.start(), "\x00") for m in _TOKEN_PIECE.finditer(text)))
    cost = 0.0
    for match in _TOKEN_PIECE.finditer(text):
        group = match.lastgroup
        cost += _token_cost(group, match.end() - match.start(), match[0] if group in ("han", "rest") else "")
    return _margin(cost)


def _margin(cost: float) -> int:
    return int(cost * 1.05) + 1


def _token_cost(group: str | None, size: int, piece: str) -> float:
    match group:
        case "han":
            return han_tokens(piece)
        case "lower":
            return -(-size // 5) if size <= 15 else size / 2
        case "title":
            return -(-size // 4) if size <= 15 else size / 2
        case "upper":
            return -(-size * 2 // 5) if size <= 5 else size * 0.7
        case "space":
            return 0 if size == 1 else 1 + size // 16
        case "rest":
            return _rest_cost(piece)
        case _:  # digits, marks and line breaks
            return size


def _rest_cost(char: str) -> int:
    """UTF-8 bytes bound it: no byte-level tokenizer needs more."""
    code = ord(char)
    return 2 if code < 0x800 or 0x3000 <= code < 0x3100 else 3 if code < 0x10000 else 4


_TERM = re.compile(
    f"[{HAN}]+|[\u3041-\u30ff\uac00-\ud7a3]+"
    r"|[0-9]+(?:[.,:][0-9]+)*[a-z%]*"
    r"|[^\W_]+(?:[_.+#@'’-]+[^\W_]+)*\+*#?"
)
_PART = re.compile(f"[^\\W_{HAN}]+")
_IDEOGRAPHIC = re.compile(f"[{HAN}\u3041-\u30ff\uac00-\ud7a3]")


def terms(text: str) -> list[str]:
    """The keyword terms of `text`, for index and query alike.

    Latin words folded, a plural `s` dropped, identifiers whole and in parts; numbers as they are but for their
    thousands marks; Han, kana and hangul as single characters and pairs. No stop words: a negation is a term too.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for match in _TERM.finditer(folded):
        for piece in _by_script(match[0]):
            if _IDEOGRAPHIC.match(piece):
                found.extend(piece)
                found.extend(piece[i : i + 2] for i in range(len(piece) - 1))
            elif piece[0].isdigit():
                found.extend(_number_terms(piece))
            else:
                found.extend(_word_terms(piece))
    return found


_SCRIPT_RUN = re.compile(f"[{HAN}\u3041-\u30ff\uac00-\ud7a3]+|[^{HAN}\u3041-\u30ff\uac00-\ud7a3]+")


def _by_script(piece: str) -> list[str]:
    """ "abc中文" is two terms: letters and Han never share one."""
    return [piece] if piece.isascii() else _SCRIPT_RUN.findall(piece)


_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
_NUMBER_UNIT = re.compile(r"([0-9][0-9.,:]*)([a-z%]*)")


def _number_terms(piece: str) -> list[str]:
    if _THOUSANDS.match(piece):
        piece = piece.replace(",", "")
    parts = _NUMBER_UNIT.fullmatch(piece)
    return [piece, parts[1]] if parts and parts[2] else [piece]


def _word_terms(piece: str) -> list[str]:
    whole = piece.strip("_.+-@'’") if not piece.endswith(("+", "#")) else piece
    if whole.endswith(("'s", "’s")):
        whole = whole[:-2]
    parts = _PART.findall(whole)
    if len(parts) <= 1:
        return [_stem(whole)] if whole else []
    return [whole, *(_stem(part) for part in parts if len(part) > 1 or part.isdigit())]


def _stem(word: str) -> str:
    """A plural's singular, roughly: the same rule on both sides is all that matching needs."""
    if len(word) < 4 or not word.isascii() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") else word
