"""Days that are said, resolved against the turn's own time: Sunday 1 March 2026, 17:00 +08:00."""

from __future__ import annotations

from datetime import date

import pytest

from tables.dates import days_said, end_of_day

AT = 1_772_355_600_000
ZONE = 480


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("until Friday", "2026-03-06"),
        ("到周五", "2026-03-06"),
        ("周五之前", "2026-03-06"),
        ("by 3 May", "2026-05-03"),
        ("on May 3rd", "2026-05-03"),
        ("3月20日", "2026-03-20"),
        ("定在5月8号", "2026-05-08"),
        ("直到11月底", "2026-11-30"),
        ("until the end of March", "2026-03-31"),
        ("tomorrow", "2026-03-02"),
        ("后天", "2026-03-03"),
        ("下周三", "2026-03-04"),
        ("next Friday", "2026-03-06"),
        ("下个月", "2026-04-30"),
        ("in three weeks", "2026-03-22"),
        ("三周之内", "2026-03-22"),
        ("一月二日", "2027-01-02"),  # passed this year: the next one
        ("2027-02-28", "2027-02-28"),
        ("the 5th", "2026-03-05"),
        ("今年", "2026-12-31"),
    ],
)
def test_a_day_is_resolved_against_the_turn(text: str, day: str) -> None:
    (said,) = days_said(text, AT, ZONE)
    assert said.day == date.fromisoformat(day)


@pytest.mark.parametrize(
    "text", ["May I come in", "2月30日", "二单元", "周末没空", "I sat down", "version 3.20", "", "2026-13-45"]
)
def test_what_names_no_day_gives_none(text: str) -> None:
    assert days_said(text, AT, ZONE) == []


@pytest.mark.parametrize(
    ("text", "bounds"),
    [("until Friday", True), ("周五之前", True), ("直到11月底", True), ("on Friday", False), ("周五", False)],
)
def test_only_an_end_bounds(text: str, bounds: bool) -> None:
    assert [said.bounds for said in days_said(text, AT, ZONE)] == [bounds]


def test_a_day_ends_in_the_zone_of_the_turn() -> None:
    # 6 March 2026 24:00 +08:00 = 16:00 UTC; one millisecond before it
    assert end_of_day(date(2026, 3, 6), 480) == 1_772_812_800_000 - 1
    assert end_of_day(date(2026, 3, 6), 480) + 8 * 3_600_000 == end_of_day(date(2026, 3, 6), 0)


def test_the_day_of_a_turn_near_midnight_is_that_of_its_zone() -> None:
    late = 1_772_380_800_000  # 1 March 16:00 UTC: already 2 March at +08:00
    assert days_said("tomorrow", late, 480)[0].day == date(2026, 3, 3)
    assert days_said("tomorrow", late, 0)[0].day == date(2026, 3, 2)


def test_a_month_alone_is_exact_to_the_month() -> None:
    assert days_said("下个月要考试", AT, ZONE)[0].exact == "2026-04"
    assert days_said("in June", AT, ZONE)[0].exact == "2026-06"
