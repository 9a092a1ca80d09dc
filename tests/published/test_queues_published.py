"""The simulation of shared machines against closed forms of queueing theory.

L. Kleinrock, "Queueing Systems, Volume 1: Theory," 1975: M/M/1 (3.2), M/M/c by Erlang's C formula (3.5), M/D/1 by
Pollaczek and Khinchine (5.6). Mixed durations on several machines: A. M. Lee and P. A. Longton, "Queueing Processes
Associated with Airline Passenger Check-in," 1959, the M/M/c wait times (1 + variation^2) / 2. Attempts that leave after
a fixed wait: D. Y. Barrer, "Queuing with Impatient Customers and Ordered Service," Operations Research 5(5), 1957.
"""

from __future__ import annotations

import math

import pytest

from planner.strategy.queueing.simulate import Pool, simulate
from planner.strategy.queueing.streams import Overflow, Stream
from planner.units import H_PER_MONTH

DURATION_H = 2.0


def waits_h(machines: int, load: float, variation: float, runs: int) -> tuple[float, float]:
    """Mean wait as simulated, and of M/M/c at the load that happened to come: most of the noise is the load's. [h]"""
    per_month = load * machines * H_PER_MONTH / DURATION_H
    months = math.ceil(runs / per_month)
    stream = Stream(id="job", runs_per_month=(per_month,) * months, duration_h=DURATION_H, variation=variation)
    course = simulate(Pool(machines=machines, gpus=1), [stream], seed=11)
    busy_h = (course.ended_h - course.started_h).sum()
    mean_h = busy_h / len(course.run)
    return float(course.wait_h.mean()), erlang_wait_h(machines, busy_h / (machines * months * H_PER_MONTH), mean_h)


def erlang_wait_h(machines: int, load: float, duration_h: float) -> float:
    """Mean wait of M/M/c. [h]"""
    offered = load * machines
    waiting = offered**machines / math.factorial(machines) / (1 - load)
    probability = waiting / (sum(offered**k / math.factorial(k) for k in range(machines)) + waiting)
    return probability * duration_h / (machines * (1 - load))


@pytest.mark.slow
@pytest.mark.parametrize(("machines", "load"), [(1, 0.4), (2, 0.5)])
def test_exponential_durations(machines: int, load: float) -> None:
    simulated_h, formula_h = waits_h(machines, load, 1.0, 300_000)
    assert simulated_h == pytest.approx(formula_h, rel=0.02)


def test_equal_durations_wait_half_as_long() -> None:
    simulated_h, formula_h = waits_h(1, 0.6, 0.0, 60_000)
    assert simulated_h == pytest.approx(formula_h / 2, rel=0.02)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
@pytest.mark.parametrize(("machines", "variation"), [(2, 0.5), (8, 1.5)])
def test_mixed_durations_on_several_machines(machines: int, load: float, variation: float) -> None:
    simulated_h, exponential_h = waits_h(machines, load, variation, 40_000)
    formula_h = exponential_h * (1 + variation**2) / 2
    assert abs(simulated_h - formula_h) <= max(0.1 * formula_h, 0.02 * DURATION_H)


@pytest.mark.parametrize(("load", "patience_h"), [(0.7, 3.0), (1.2, 5.0)])
def test_attempts_that_leave_after_a_fixed_wait(load: float, patience_h: float) -> None:
    """Work in the queue has the density load P0 exp(-(1 - load) x / duration) up to the longest wait, as M/M/1 has."""
    months, rented_h = 100, 100.0
    stream = Stream(
        id="job",
        runs_per_month=(load * H_PER_MONTH / DURATION_H,) * months,
        duration_h=DURATION_H,
        variation=1.0,
        overflow=Overflow(limit_h=rented_h + patience_h, rented_h=rented_h),
    )
    course = simulate(Pool(machines=1, gpus=1), [stream], seed=11)
    left = math.exp(-(1 - load) * patience_h / DURATION_H)
    idle = 1 / (1 + load * (1 - left) / (1 - load) + load * left)
    assert (course.machine < 0).mean() == pytest.approx(idle * load * left, rel=0.04)
    assert course.wait_h.max() == pytest.approx(patience_h)
