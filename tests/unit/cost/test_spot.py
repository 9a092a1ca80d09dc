"""Expected course of runs on spot instances: an independent simulation, and the ends of its range."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.spot import hazard_per_s, on_demand_wins_at_per_h, spot_run
from planner.units import H_PER_MONTH, S_PER_H

STARTUP_S, LOAD_S, REACQUIRE_S = 39.4, 300.0, 1800.0


def simulated(busy_s: float, segments: int, hazard: float, courses: int) -> tuple[np.ndarray, np.ndarray]:
    """Paid and total times by playing runs through event by event. [s]"""
    rng = np.random.default_rng(5)
    paid, total = [], []
    for _ in range(courses):
        now = spent = 0.0
        saved = 0
        next_stop = rng.exponential(1 / hazard)
        while saved < segments:
            for part in (STARTUP_S, *([LOAD_S] if spent else []), *[busy_s / segments] * (segments - saved)):
                if next_stop < part:  # taken away within this part: what it held is lost, and one waits
                    spent += next_stop
                    now += next_stop + REACQUIRE_S
                    next_stop = rng.exponential(1 / hazard)
                    break
                next_stop -= part
                spent += part
                now += part
                if part == busy_s / segments:
                    saved += 1
        paid.append(spent)
        total.append(now)
    return np.array(paid), np.array(total)


@pytest.mark.parametrize(
    ("share", "nodes", "segments", "busy_s"),
    [(0.175, 32, 10, 75_920.0), (0.175, 32, 1, 75_092.0), (0.25, 64, 20, 400_000.0), (0.9, 4, 3, 50_000.0)],
)
def test_expected_times_are_those_of_a_simulation(share: float, nodes: int, segments: int, busy_s: float) -> None:
    hazard = float(hazard_per_s(share, nodes))
    run = spot_run(STARTUP_S, busy_s, segments, hazard, LOAD_S, REACQUIRE_S)
    paid_s, total_s = simulated(busy_s, segments, hazard, 6_000)
    assert run.paid_s == pytest.approx(paid_s.mean(), rel=0.03)
    assert run.total_s == pytest.approx(total_s.mean(), rel=0.03)
    assert float(run.paid_s) > float(run.uninterrupted_s) * 1.005  # interruptions are felt at all


def test_worked_examples() -> None:
    """Printed to the millisecond: a gang of 32 nodes with 17.5 % a month, saved ten times and at the end only."""
    hazard = hazard_per_s(0.175, 32)
    assert hazard * S_PER_H == pytest.approx(0.00843274, abs=5e-9)
    ten = spot_run(STARTUP_S, 75_920.0, 10, hazard, LOAD_S, REACQUIRE_S)
    assert (ten.paid_s, ten.interruptions, ten.total_s) == pytest.approx((76_699.413, 0.179663, 77_022.806), abs=5e-4)
    one = spot_run(STARTUP_S, 75_092.0, 1, hazard, LOAD_S, REACQUIRE_S)
    assert (one.paid_s, one.interruptions, one.total_s) == pytest.approx((82_205.820, 0.192561, 82_552.430), abs=5e-4)
    assert one.uninterrupted_s == pytest.approx(75_131.4, abs=0.0501)
    node = spot_run(STARTUP_S, 75_920.0, 10, hazard_per_s(0.075, 1), LOAD_S, REACQUIRE_S)
    assert (node.paid_s, node.uninterrupted_s) == pytest.approx((75_968.7, 75_959.4), abs=0.0501)


def test_without_interruptions_nothing_is_lost() -> None:
    run = spot_run(STARTUP_S, 75_920.0, 10, hazard_per_s(0.0, 8), LOAD_S, REACQUIRE_S)
    assert run.paid_s == pytest.approx(run.uninterrupted_s, rel=1e-9)
    assert run.waiting_s == pytest.approx(0.0, abs=1e-5)
    assert run.interrupted_probability == pytest.approx(0.0, abs=1e-9)


def test_more_interruptions_or_fewer_checkpoints_never_help() -> None:
    shares = np.linspace(0.0, 0.99, 12)
    paid = spot_run(STARTUP_S, 75_920.0, 10, hazard_per_s(shares, 8), LOAD_S, REACQUIRE_S).paid_s
    assert (np.diff(np.asarray(paid)) > 0).all()
    by_segments = spot_run(STARTUP_S, 75_920.0, np.array([1, 2, 5, 50]), hazard_per_s(0.5, 8), LOAD_S, REACQUIRE_S)
    assert (np.diff(np.asarray(by_segments.paid_s)) < 0).all()


def test_nearly_certain_interruptions_stay_finite() -> None:
    run = spot_run(STARTUP_S, 1e9, 1, hazard_per_s(1.0, 1000), LOAD_S, REACQUIRE_S)
    assert np.isfinite(run.paid_s)
    assert float(run.paid_s) > 1e12


def test_the_rate_from_which_on_demand_wins_makes_both_cost_the_same() -> None:
    rate = on_demand_wins_at_per_h(STARTUP_S, 75_920.0, 10, LOAD_S, billed_s=75_960.0, price_ratio=21.957642 / 9.90)
    assert rate == pytest.approx(0.630492, abs=5e-7)
    run = spot_run(STARTUP_S, 75_920.0, 10, rate / S_PER_H, LOAD_S, REACQUIRE_S)
    spot_usd = 9.90 * (75_960.0 + float(run.paid_s - run.uninterrupted_s))
    assert spot_usd == pytest.approx(21.957642 * 75_960.0, rel=1e-9)
    dearer = on_demand_wins_at_per_h(STARTUP_S, 75_920.0, 10, LOAD_S, billed_s=75_960.0, price_ratio=0.9)
    assert dearer == 0.0


def test_a_share_is_a_rate_over_a_month() -> None:
    assert hazard_per_s(1 - np.exp(-1.0), 1) == pytest.approx(1 / (H_PER_MONTH * S_PER_H))
    assert hazard_per_s(0.1, 4) == pytest.approx(4 * hazard_per_s(0.1, 1))
