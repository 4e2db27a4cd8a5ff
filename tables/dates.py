"""Days that are said: "by Friday", 到周五, 3月20日, tomorrow, 下周三: resolved against the turn's own time and zone.

A day is the last millisecond of that day in the turn's zone; a month or a year named alone ends with its last day.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_DAY_MS = 86_400_000
_TEXT_MAX = 300  # characters looked at: longer text is no statement of a day


@dataclass(frozen=True, slots=True)
class Said:
    """A day said in a text: its span, the day it ends on, whether it bounds ("until", 之前), and its exact form.

    `exact` is "2026-03-20" for a day, "2026-03" for a month alone.
    """

    span: tuple[int, int]
    day: date
    bounds: bool
    exact: str

    def end_ms(self, zone_minutes: int) -> int:
        """The last millisecond of the day, UTC epoch, in a zone of that offset."""
        return end_of_day(self.day, zone_minutes)


def end_of_day(day: date, zone_minutes: int) -> int:
    return (day.toordinal() - date(1970, 1, 1).toordinal() + 1) * _DAY_MS - zone_minutes * 60_000 - 1


def local_day(at: int, zone_minutes: int) -> date:
    """The day on which the epoch millisecond `at` lies in a zone of that offset."""
    return datetime.fromtimestamp((at + zone_minutes * 60_000) // 1000, UTC).date()


_NUMBERS = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "〇": 0}
_N = r"[0-9]{1,3}|[一二两三四五六七八九十]{1,3}"
_WEEKDAYS_EN = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS_EN = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_EN = r"mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_MONTH_EN = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)

_ZH = re.compile(
    r"(?P<until>直?到|截止到?|至)?"
    rf"(?:(?:(?P<year>20[0-9]{{2}}|今|明|后)年)?(?P<month>[0-9]{{1,2}}|[一二三四五六七八九十]{{1,3}})月份?"
    rf"(?:(?P<day>[0-9]{{1,2}}|[一二三四五六七八九十]{{1,3}})[日号]|(?P<part>底|末|初|中旬?))?"
    rf"|(?P<iso>20[0-9]{{2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}})"
    rf"|(?P<week>下下|下|这|本|上)?个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天1-6末])"
    rf"|(?P<rel>今天|今晚|明天|明晚|明早|后天|大后天|(?:下下|这|本|下)周(?!期)|(?:这个|本|下个|下)月[底末]?"
    rf"|月底|今年底?|年底|明年)"
    rf"|(?P<count>{_N})(?P<unit>天|日|周|个?星期|个?礼拜|个?月|年)(?:之内|以内|内|之?后|以后)"
    rf"|(?P<dom>[0-9]{{1,2}})[号日])"
    r"(?P<before>之前|以前|前)?"
)
_EN = re.compile(
    r"(?:\b(?P<until>until|till|til|by|before|through|no later than|not before)\s+(?:the\s+)?(?:end\s+of\s+)?)?"
    r"(?:(?P<iso>\b20[0-9]{2}-[0-9]{1,2}-[0-9]{1,2})"
    rf"|\b(?P<d1>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_MONTH_EN})\b(?:,?\s+(?P<y1>20[0-9]{{2}}))?"
    rf"|\b(?P<m2>{_MONTH_EN})\.?\s+(?P<d2>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9:])(?:,?\s+(?P<y2>20[0-9]{{2}}))?"
    rf"|\b(?:(?P<which>next|this|coming)\s+)?(?P<weekday>{_DAY_EN})\b"
    rf"|\b(?(until)|(?:in|next|this|of|early|late|mid)\s+)(?P<m3>{_MONTH_EN})\b(?:\s+(?P<y3>20[0-9]{{2}}))?"
    r"|\b(?P<rel>today|tonight|tomorrow|tmrw|day after tomorrow|(?:the end of )?(?:this|next) (?:week(?:end)?|month"
    r"|year)"
    r"|end of (?:the )?(?:week|month|year))\b"
    r"|\b(?:in|within)\s+(?P<count>[0-9]{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten)\s+"
    r"(?P<unit>day|week|month|year)s?\b"
    r"|\bthe\s+(?P<dom>[0-9]{1,2})(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_WORDS_EN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS_EN = (
    {"a": 1, "an": 1}
    | {word: number for number, word in enumerate(_WORDS_EN, 1)}
    | {
        "a": 1,
        "an": 1,
    }
)


def days_said(text: str, at: int, zone_minutes: int) -> list[Said]:
    """Every day that `text` names, in order. A day that does not exist (30 February) is not said."""
    today = local_day(at, zone_minutes)
    head = text[:_TEXT_MAX]
    said: list[Said] = []
    pattern, read = (_EN, _read_en) if head.isascii() else (_ZH, _read_zh)
    for match in pattern.finditer(head):
        try:
            day, exact = read(match, today)
        except (ValueError, OverflowError):
            continue
        bounds = bool(match["until"]) or (pattern is _ZH and bool(match["before"]))
        said.append(Said(match.span(), day, bounds, exact))
    if pattern is _ZH and not said and re.search("[A-Za-z]", head):
        return days_said("".join(c if c.isascii() else " " for c in head), at, zone_minutes)
    return said


def _read_zh(match: re.Match[str], today: date) -> tuple[date, str]:
    if match["iso"]:
        return _exact(date(*(int(n) for n in re.split(r"[-/.]", match["iso"]))))
    if match["month"]:
        return _month_zh(match, today)
    if match["weekday"]:
        if match["weekday"] == "末" and not match["week"]:
            raise ValueError("any weekend")
        return _exact(_weekday(today, "一二三四五六日天123456末".index(match["weekday"]), match["week"] or ""))
    if match["dom"]:
        return _exact(_day_of_month(today, int(match["dom"])))
    if match["count"]:
        return _exact(_after(today, _whole(match["count"]), match["unit"].lstrip("个")[0]))
    return _relative(today, _REL_ZH[match["rel"]])


def _month_zh(match: re.Match[str], today: date) -> tuple[date, str]:
    month = _whole(match["month"])
    year = _year(match["year"], today, month, _whole(match["day"]) if match["day"] else 31)
    if match["day"]:
        return _exact(date(year, month, _whole(match["day"])))
    day = {"初": 10, "中": 20}.get((match["part"] or "底")[0], 0)
    return (date(year, month, day) if day else _month_end(year, month)), f"{year:04}-{month:02}"


def _year(said: str | None, today: date, month: int, day: int) -> int:
    """The year said, else the one that puts the day at or after today (a month of grace for the past)."""
    if said and said.isdigit():
        return int(said)
    if said:
        return today.year + "今明后".index(said)
    if not 1 <= month <= 12:
        raise ValueError("no such month")
    end = date(today.year, month, min(day, monthrange(today.year, month)[1]))
    return today.year + 1 if (today - end).days > 31 else today.year


def _read_en(match: re.Match[str], today: date) -> tuple[date, str]:
    if match["iso"]:
        return _exact(date(*(int(n) for n in match["iso"].split("-"))))
    for d, m, y in (("d1", "m1", "y1"), ("d2", "m2", "y2")):
        if match[m]:
            month, day = _month(match[m]), int(match[d])
            return _exact(date(_year(match[y], today, month, day), month, day))
    if match["m3"]:
        month = _month(match["m3"])
        year = _year(match["y3"], today, month, 31)
        return _month_end(year, month), f"{year:04}-{month:02}"
    if match["weekday"]:
        if match["weekday"] in ("sat", "sun", "mon", "wed") and not _leads(match):
            raise ValueError("a word, not a day")
        week = "下" if (match["which"] or "").lower() == "next" else ""
        return _exact(_weekday(today, _WEEKDAYS_EN.index(match["weekday"][:3].lower()), week))
    if match["dom"]:
        return _exact(_day_of_month(today, int(match["dom"])))
    if match["count"]:
        count = match["count"].lower()
        number = int(count) if count.isdigit() else _COUNTS_EN[count]
        return _exact(_after(today, number, {"d": "天", "w": "周", "m": "月", "y": "年"}[match["unit"][0].lower()]))
    return _relative(today, _REL_EN[re.sub(r"^the |end of (?:the )?", "", match["rel"].lower()).strip()])


_REL_ZH = {
    "今天": "d0", "今晚": "d0", "明天": "d1", "明晚": "d1", "明早": "d1", "后天": "d2", "大后天": "d3",
    "这周": "w0", "本周": "w0",
    "下周": "w1", "下下周": "w2", "这个月": "m0", "本月": "m0", "下个月": "m1", "下月": "m1",
    "这个月底": "e0", "本月底": "e0",
    "这个月末": "e0", "本月末": "e0", "下个月底": "e1", "下月底": "e1", "下个月末": "e1",
    "下月末": "e1", "月底": "e0",
    "今年": "y0", "今年底": "y0", "年底": "y0", "明年": "y1",
}  # fmt: skip
_REL_EN = {
    "today": "d0", "tonight": "d0", "tomorrow": "d1", "tmrw": "d1", "day after tomorrow": "d2", "this week": "w0",
    "this weekend": "w0", "week": "w0", "next week": "w1", "next weekend": "w1", "month": "m0", "this month": "m0",
    "next month": "m1", "this year": "y0", "year": "y0", "next year": "y1",
}  # fmt: skip


def _relative(today: date, code: str) -> tuple[date, str]:
    number = int(code[1])
    match code[0]:
        case "d":
            return _exact(today + timedelta(days=number))
        case "w":
            return _exact(today + timedelta(days=6 - today.weekday() + 7 * number))
        case "y":
            return date(today.year + number, 12, 31), f"{today.year + number:04}"
        case _:
            year, month = divmod(today.year * 12 + today.month - 1 + number, 12)
            return _month_end(year, month + 1), f"{year:04}-{month + 1:02}"


def _weekday(today: date, index: int, week: str) -> date:
    """The weekday of the week said; with none said the next such day, today included."""
    index = 6 if index in (7, 14) else index - 8 if index > 7 else index
    monday = today - timedelta(days=today.weekday())
    if week:
        return monday + timedelta(days=index + 7 * {"下下": 2, "下": 1, "上": -1}.get(week, 0))
    ahead = (index - today.weekday()) % 7
    return today + timedelta(days=ahead)


def _day_of_month(today: date, day: int) -> date:
    if day >= today.day:
        return date(today.year, today.month, day)
    year, month = divmod(today.year * 12 + today.month, 12)
    return date(year, month + 1, day)


def _after(today: date, count: int, unit: str) -> date:
    if unit in "天日":
        return today + timedelta(days=count)
    if unit in "周星礼":
        return today + timedelta(weeks=count)
    months = count * (12 if unit == "年" else 1)
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def _whole(text: str) -> int:
    """A number in digits or Han numerals up to 99. Raises ValueError."""
    if text.isascii():
        return int(text)
    tens, ten, ones = text.partition("十")
    if ten:
        return (_NUMBERS[tens] if tens else 1) * 10 + (_NUMBERS[ones] if ones else 0)
    if len(text) != 1:
        raise ValueError("not a number")
    return _NUMBERS[text]


def _leads(match: re.Match[str]) -> bool:
    """Whether a preposition shows that a short lower-case word is a day: "on sat", "by mon"."""
    before = match.string[max(0, match.start() - 3) : match.start()].lower()
    return bool(match["until"] or match["which"]) or before == "on "


def _month(name: str) -> int:
    return _MONTHS_EN.index(name[:3].lower()) + 1


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _exact(day: date) -> tuple[date, str]:
    return day, day.isoformat()
