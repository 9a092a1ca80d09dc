"""Timing with a clock of our own: no test waits, and the same jitter comes every time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from planner.measure.timing import SPREAD_LIMIT, Rule, Timing, spread_of, time_runs

Jitter = Callable[[random.Random, int], float]


class Machine:
    """Runs that take as long as they are told, and a clock that shows it."""

    def __init__(self, jitter: Jitter, seed: int = 0) -> None:
        self.now = 0.0
        self.runs = 0
        self._jitter, self._random = jitter, random.Random(seed)

    def run(self) -> None:
        self.runs += 1
        self.now += self._jitter(self._random, self.runs)

    def clock(self) -> float:
        return self.now


def timed(jitter: Jitter, seed: int = 0, rule: Rule | None = None) -> Timing:
    machine = Machine(jitter, seed)
    return time_runs(machine.run, machine.clock, rule or Rule())


def noisy(sigma: float) -> Jitter:
    return lambda random, _: 0.1 * math.exp(random.gauss(0, sigma))


JITTERS: dict[str, Jitter] = {
    **{f"noise of {sigma:.0%}": noisy(sigma) for sigma in (0.0, 0.01, 0.02, 0.05, 0.1, 0.3, 0.8)},
    "one run in five takes 60 % longer": lambda random, _: 0.1 * (1.6 if random.random() < 0.2 else 1),
    "slows down as it heats up": lambda _, run: 0.1 * (1 + 0.004 * run),
    "bursts of other work": lambda _, run: 0.1 * (1.5 if run // 15 % 2 else 1),
    "starts cold": lambda _, run: 2.0 if run == 1 else 0.1,
}


@pytest.mark.parametrize("name", JITTERS)
def test_two_measurements_agree_or_the_spread_says_that_they_need_not(name: str) -> None:
    for seed in range(0, 80, 2):
        first, second = (timed(JITTERS[name], seed + which) for which in (0, 1))
        if first.settled and second.settled:
            assert abs(first.median_s / second.median_s - 1) < 0.1, (name, seed)
    if name in ("noise of 0%", "noise of 1%", "starts cold"):
        assert first.settled
        assert second.settled
    if name in ("noise of 30%", "bursts of other work"):
        assert not first.settled


def test_a_quiet_machine_is_done_after_the_least_samples_and_a_restless_one_goes_on() -> None:
    quiet, restless = timed(noisy(0.0)), timed(noisy(0.3))
    assert (quiet.samples, quiet.median_s) == (10, pytest.approx(0.1))
    assert quiet.spread == pytest.approx(0, abs=1e-9)
    assert restless.samples == Rule().most_samples
    assert restless.spread > SPREAD_LIMIT


def test_the_time_limit_ends_it_with_three_samples_at_least() -> None:
    limited = timed(noisy(0.3), rule=Rule(limit_s=2.0))
    assert 3 <= limited.samples <= 25
    slow = timed(lambda *_: 30.0, rule=Rule(limit_s=2.0))
    assert (slow.samples, slow.median_s) == (3, 30.0)


def test_the_first_runs_are_not_timed() -> None:
    assert timed(JITTERS["starts cold"], rule=Rule(warm_up_s=0, warm_up_runs=1)).median_s == pytest.approx(0.1)
    machine = Machine(noisy(0.0))
    found = time_runs(machine.run, machine.clock, Rule(warm_up_s=1.0, warm_up_runs=3))
    assert machine.runs - found.runs in (10, 11)  # a second of warm-up, at 0.1 s a run


def test_short_runs_are_timed_several_at_once() -> None:
    found = timed(lambda *_: 0.001, rule=Rule(least_sample_s=0.05))
    assert found.runs == pytest.approx(50 * found.samples, abs=found.samples)
    assert found.median_s == pytest.approx(0.001)


def test_drift_counts_as_spread() -> None:
    assert spread_of([1.0] * 10) == 0
    assert spread_of([1.0] * 5 + [1.2] * 5) == pytest.approx(0.2 / 1.1)
    assert spread_of([1.0, 1.0, 1.0, 9.0]) == pytest.approx(4.0)  # of a short list even one outlier is drift
    assert spread_of([0.0, 0.0]) == math.inf


def test_a_gauge_is_read_around_the_samples_only() -> None:
    machine = Machine(noisy(0.0))
    found = time_runs(machine.run, machine.clock, Rule(), gauge=lambda: 300 * machine.now)
    assert found.counted == pytest.approx(300 * found.total_s)
    assert timed(noisy(0.0)).counted is None
