"""Machines that fail, simulated, against closed forms.

Availability MTBF / (MTBF + MTTR): R. E. Barlow and F. Proschan, "Mathematical Theory of Reliability," 1965. A single
machine that fails whether it has work or not, work going on after the repair: B. Avi-Itzhak and P. Naor, "Some Queuing
Problems with the Service Station Subject to Breakdown," Operations Research 11(3), 1963; its busy periods are those of
a queue with two priorities, in which repairs go first. Work lost back to the last checkpoint: J. T. Daly, FGCS 22(3),
2006, eq. 13.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.performance.uptime import uptime_share
from planner.strategy.queueing.breakdowns import Breakdowns, Failing
from planner.strategy.queueing.simulate import Pool, carry_out, simulate
from planner.strategy.queueing.streams import Stream, Submissions
from planner.units import H_PER_MONTH, H_PER_YEAR

MONTHS = 84


def test_one_machine_that_fails_and_goes_on_where_it_was() -> None:
    load, mtbf_h, repair_h, duration_h = 0.5, 30.0, 4.0, 1.0
    per_h = load / duration_h
    stream = Stream(
        id="job", runs_per_month=(per_h * H_PER_MONTH,) * MONTHS, duration_h=duration_h, variation=1.0, segments=1e6
    )
    pool = Pool(machines=1, gpus=1, failing=Failing(per_h=1 / mtbf_h, repair_h=repair_h))
    submitted, _, ended = simulate(pool, [stream], seed=5).whole(0)
    available = mtbf_h / (mtbf_h + repair_h)
    second_moment_h2 = 2 * duration_h**2
    residual = per_h * second_moment_h2 + available**3 * repair_h**2 / mtbf_h
    expected_h = duration_h / available + residual / (2 * available * (available - load))
    assert (ended - submitted).mean() == pytest.approx(expected_h, rel=0.04)


@pytest.mark.parametrize(("segments", "restart_h"), [(1, 0.0), (4, 0.5)])
def test_work_is_lost_back_to_the_last_checkpoint(segments: int, restart_h: float) -> None:
    """Runs so far apart that none waits for another: the hours they hold a machine, and the repairs they wait for."""
    mtbf_h, repair_h, duration_h, runs = 40.0, 6.0, 30.0, 2_500
    stream = Stream(
        id="job", runs_per_month=(1.0,), duration_h=duration_h, segments=float(segments), restart_h=restart_h
    )
    apart = Submissions(
        submitted_h=500.0 * np.arange(runs),
        first_attempt=np.arange(runs + 1),
        duration_h=np.full(runs, duration_h),
    )
    up_h = Failing(per_h=1 / mtbf_h, repair_h=repair_h).up_h(np.random.default_rng(8))
    course = carry_out(Pool(machines=1, gpus=1), [stream], [apart], Breakdowns(up_h=up_h, repair_h=repair_h))
    submitted, wait, ended = course.whole(0)
    held_h = (ended - submitted - wait).mean()
    expected_h = segments * mtbf_h * math.exp(restart_h / mtbf_h) * math.expm1(duration_h / segments / mtbf_h)
    assert held_h == pytest.approx(expected_h, rel=0.03)
    away_at_first_h = repair_h / (mtbf_h + repair_h) * repair_h / 2
    assert wait.mean() == pytest.approx(away_at_first_h + expected_h / mtbf_h * repair_h, rel=0.05)


def test_a_busy_machine_does_as_much_as_its_uptime_allows() -> None:
    """More work than hours: the machine works whenever it isn't away."""
    stream = Stream(id="job", runs_per_month=(800.0,) * 20, duration_h=1.0, segments=1e6)
    pool = Pool(machines=1, gpus=1, failing=Failing(per_h=240 / H_PER_YEAR, repair_h=10.0))
    _, _, ended = simulate(pool, [stream], seed=5).whole(0)
    share = len(ended) / ended.max()
    assert share == pytest.approx(uptime_share(240.0, 10.0, H_PER_MONTH), rel=0.02)
    assert uptime_share(240.0, 10.0, H_PER_MONTH) == pytest.approx(36.5 / (36.5 + 10.0))
