"""Spread of attempts on spot instances against courses played event by event."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.spot import hazard_per_s, spot_run
from planner.cost.spot_spread import spot_courses, spot_spread
from tests.unit.cost.test_spot import LOAD_S, REACQUIRE_S, STARTUP_S, simulated


@pytest.mark.parametrize(("share", "nodes", "segments", "busy_s"), [(0.25, 64, 20, 400_000.0), (0.9, 4, 2, 800_000.0)])
def test_drawn_courses_are_spread_like_those_played_event_by_event(
    share: float, nodes: int, segments: int, busy_s: float
) -> None:
    hazard = float(hazard_per_s(share, nodes))
    paid_s, total_s = simulated(busy_s, segments, hazard, 4_000)
    spread = spot_spread(STARTUP_S, busy_s, segments, hazard, LOAD_S, REACQUIRE_S)
    for drawn, played in ((spread.paid_s, paid_s), (spread.total_s, total_s)):
        assert [drawn.p10, drawn.p50, drawn.p90] == pytest.approx(np.quantile(played, [0.1, 0.5, 0.9]), rel=0.05)
    assert spread.paid_s.p90 > 1.02 * spread.paid_s.p10
    month = spot_spread(STARTUP_S, busy_s, segments, hazard, LOAD_S, REACQUIRE_S, attempts=8)
    together = paid_s.reshape(-1, 8).sum(axis=1)
    assert [month.paid_s.p10, month.paid_s.p90] == pytest.approx(np.quantile(together, [0.1, 0.9]), rel=0.05)


@pytest.mark.parametrize("attempts", [1, 40])
@pytest.mark.parametrize(
    ("share", "nodes", "segments", "busy_s"),
    [(0.175, 32, 10, 75_920.0), (0.9, 4, 3, 50_000.0), (0.99, 256, 200, 200_000.0), (0.9, 4, 1, 1_500_000.0)],
)
def test_their_mean_is_what_is_expected(share: float, nodes: int, segments: int, busy_s: float, attempts: int) -> None:
    hazard = float(hazard_per_s(share, nodes))
    run = spot_run(STARTUP_S, busy_s, segments, hazard, LOAD_S, REACQUIRE_S)
    rng = np.random.default_rng(7)
    courses = spot_courses(
        rng, STARTUP_S, busy_s, segments, hazard, LOAD_S, REACQUIRE_S, attempts=attempts, samples=8_000
    )
    assert courses.paid_s.mean() / attempts == pytest.approx(run.paid_s, rel=0.03)
    assert courses.waiting_s.mean() / attempts == pytest.approx(run.waiting_s, rel=0.06)


def test_without_interruptions_all_courses_are_alike() -> None:
    spread = spot_spread(STARTUP_S, 75_920.0, 10, 0.0, LOAD_S, REACQUIRE_S, attempts=3, limit_s=80_000.0 * 3)
    assert spread.paid_s.p10 == spread.paid_s.p90 == pytest.approx(3 * (STARTUP_S + 75_920.0))
    assert spread.total_s == spread.paid_s
    assert spread.late_probability == 0.0


def test_nearly_certain_interruptions_stay_finite() -> None:
    spread = spot_spread(STARTUP_S, 1e8, 1, float(hazard_per_s(1.0, 10)), LOAD_S, REACQUIRE_S)
    assert np.isfinite(spread.total_s.p90)
    assert spread.total_s.p90 > 1e10


def test_refused_requests_make_late_as_often_as_their_chance_says() -> None:
    limit_s = STARTUP_S + 7_200.0 + 3 * REACQUIRE_S
    late = spot_spread(
        STARTUP_S, 7_200.0, 1, 0.0, LOAD_S, REACQUIRE_S, limit_s=limit_s, available_share=0.3, retry_s=REACQUIRE_S
    )
    assert late.late_probability == pytest.approx(0.7**4, abs=0.03)


def test_more_attempts_than_can_be_counted_have_hardly_any_spread() -> None:
    hazard = float(hazard_per_s(0.1, 8))
    spread = spot_spread(STARTUP_S, 7200.0, 4, hazard, LOAD_S, REACQUIRE_S, attempts=10**20)
    expected = 1e20 * float(spot_run(STARTUP_S, 7200.0, 4, hazard, LOAD_S, REACQUIRE_S).paid_s)
    assert spread.paid_s.p10 == pytest.approx(expected, rel=1e-4)
    assert spread.paid_s.p90 == pytest.approx(expected, rel=1e-4)
