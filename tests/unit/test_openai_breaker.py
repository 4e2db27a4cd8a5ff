"""The breaker: open after failures in a row, one try after the pause, longer each time, closed by one success."""

from __future__ import annotations

from connectors.model.openai_breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock, failures: int = 3) -> Breaker:
    return Breaker(failures=failures, open_seconds=2.0, open_seconds_max=5.0, seconds=clock)


def fail(one: Breaker, times: int) -> None:
    for _ in range(times):
        one.failed()


def test_it_opens_after_failures_in_a_row_only() -> None:
    one = breaker(Clock())
    fail(one, 2)
    one.succeeded()
    fail(one, 2)
    assert one.admit() == 0
    one.failed()
    assert one.admit() == 2


def test_a_final_failure_opens_it_at_once() -> None:
    one = breaker(Clock())
    one.failed(final=True)
    assert one.admit() == 2


def test_after_the_pause_one_tries_and_the_others_wait() -> None:
    clock = Clock()
    one = breaker(clock)
    fail(one, 3)
    clock.now += 2
    assert one.admit() == 0
    assert one.admit() > 0
    one.succeeded()
    assert one.admit() == 0


def test_a_try_that_fails_opens_it_for_longer_up_to_a_bound() -> None:
    clock = Clock()
    one = breaker(clock)
    fail(one, 3)
    waits = []
    for _ in range(3):
        clock.now += one.admit()
        assert one.admit() == 0  # the try
        one.failed()
        waits.append(one.admit())
    assert waits == [4, 5, 5]


def test_a_success_makes_the_next_pause_short_again() -> None:
    clock = Clock()
    one = breaker(clock)
    one.failed(final=True)
    clock.now += 2
    one.admit()
    one.failed()
    clock.now += 4
    one.admit()
    one.succeeded()
    one.failed(final=True)
    assert one.admit() == 2
