"""Runs added for a look at a rare job: the course stays as it is, and they wait as runs of long courses do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.strategy.queueing.hours import Powered
from planner.strategy.queueing.probes import Probed, simulate_with_probes
from planner.strategy.queueing.simulate import Pool, simulate
from planner.strategy.queueing.streams import Stream
from planner.strategy.queueing.summary import simulate_waiting

OFTEN = Stream(id="often", runs_per_month=(500.0,) * 4, duration_h=1.0, attempts_per_run=1.1)
RARE = Stream(id="rare", runs_per_month=(0.5,) * 4, duration_h=1.0)
GANG = Stream(id="gang", runs_per_month=(4.0,) * 2, duration_h=20.0, attempts_per_run=1.5, gpus=4, together=2)
SMALL = Stream(id="small", runs_per_month=(700.0,) * 2, duration_h=2.0, arrivals="office_hours")


def waits_of(found: list[Probed]) -> np.ndarray:
    return np.concatenate([each.started_h - each.submitted_h for each in found])


def test_the_course_is_that_without_added_runs() -> None:
    pool = Pool(machines=1, gpus=4)
    plain = simulate(pool, [SMALL, GANG], 5)
    course, found = simulate_with_probes(pool, [SMALL, GANG], 5, {1: 30.0}, 1e9)
    for name in ("stream", "run", "submitted_h", "started_h", "ended_h"):
        assert np.array_equal(getattr(plain, name), getattr(course, name)), name
    assert len(found[1]) > 5


def test_added_runs_wait_as_by_the_formula() -> None:
    """One machine, attempts of 1 h at a load of 0.7546: M/D/1 waits rho / (2 (1 - rho)), which a rare job sees too."""
    load = (500 * 1.1 + 0.5) / 730
    waits = []
    for seed in range(3):
        _, found = simulate_with_probes(Pool(machines=1, gpus=1), [OFTEN, RARE], seed, {1: 400.0}, 1e9)
        waits.append(waits_of(found[1]))
    every = np.concatenate(waits)
    expected = load / (2 * (1 - load))  # failed attempts come back at once, which Poisson ones don't: a little more
    assert every.mean() == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("h_per_month", [730.0, 365.0])
def test_added_gangs_wait_and_take_as_those_of_many_courses_do(h_per_month: float) -> None:
    pool = Pool(machines=2, gpus=4, powered=Powered(h_per_month=h_per_month))
    streams = [SMALL, GANG] if h_per_month == 730 else [SMALL, replace(GANG, duration_h=8.0)]
    courses = [simulate(pool, streams, 100 + seed) for seed in range(24)]
    many = np.array([course.whole(1)[1].mean() for course in courses])
    taken = np.array([course.turnaround_h(1).mean() for course in courses])
    looks, done = [], []
    for seed in range(10):
        _, found = simulate_with_probes(pool, streams, seed, {1: 30.0}, 1e9)
        looks.append(waits_of(found[1]).mean())
        done.append(np.concatenate([each.turnaround_h for each in found[1]]).mean())
    for natural, added in ((many, np.array(looks)), (taken, np.array(done))):
        error = np.hypot(natural.std(ddof=1) / len(natural) ** 0.5, added.std(ddof=1) / len(added) ** 0.5)
        assert abs(natural.mean() - added.mean()) < 3.5 * error
        assert error < 0.25 * natural.mean()


def test_looks_that_take_too_long_are_left_out_altogether() -> None:
    _, found = simulate_with_probes(Pool(machines=1, gpus=1), [OFTEN, RARE], 1, {1: 50.0}, 5)
    assert found == {}


def test_a_rare_job_rests_on_thirty_runs_and_says_how_sure_its_wait_is() -> None:
    often = Stream(id="often", runs_per_month=(20_000.0,) * 3, duration_h=0.02)
    rare = Stream(id="rare", runs_per_month=(0.3,) * 3, duration_h=5.0, gpus=4)
    found = {job.job: job for job in simulate_waiting(Pool(machines=1, gpus=4), [often, rare], [None, 5.01]).jobs}
    assert found["rare"].runs >= 30
    assert found["rare"].wait_error_h is not None
    assert 0 < found["rare"].wait_error_h < found["rare"].wait.mean_h
    assert found["often"].wait_error_h is not None
    assert found["rare"].late_share is not None
