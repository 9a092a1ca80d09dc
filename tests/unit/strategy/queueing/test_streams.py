"""What is submitted: expected numbers, office hours, sweeps, attempts, durations."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.queueing.streams import Stream, after_office_h, draw, office_h_until

MONTHS = 120


def drawn(**changes: object):  # type: ignore[no-untyped-def]
    fields = {"id": "job", "runs_per_month": (100.0,) * MONTHS, "duration_h": 3.0, **changes}
    return draw(Stream(**fields), np.random.default_rng(3))  # type: ignore[arg-type]


def test_as_many_runs_come_as_are_expected_month_by_month() -> None:
    found = drawn(runs_per_month=(0.0,) * 60 + (200.0,) * 60)
    assert found.submitted_h.min() >= 60 * 730
    assert len(found.submitted_h) == pytest.approx(60 * 200, rel=0.03)
    assert (np.diff(found.submitted_h) >= 0).all()


def test_attempts_are_as_many_as_expected_and_at_least_one() -> None:
    found = drawn(attempts_per_run=1.5)
    attempts = np.diff(found.first_attempt)
    assert attempts.min() == 1
    assert attempts.mean() == pytest.approx(1.5, rel=0.03)
    assert np.mean(attempts == 1) == pytest.approx(1 / 1.5, rel=0.03)  # each succeeds alike


def test_runs_of_a_sweep_come_together() -> None:
    found = drawn(together=20)
    moments, counts = np.unique(found.submitted_h, return_counts=True)
    assert set(counts.tolist()) == {20}
    assert len(moments) == pytest.approx(100 * MONTHS / 20, rel=0.15)


def test_durations_vary_as_asked() -> None:
    assert set(drawn().duration_h.tolist()) == {3.0}
    lasting = drawn(variation=0.5).duration_h
    assert lasting.mean() == pytest.approx(3.0, rel=0.02)
    assert lasting.std() / lasting.mean() == pytest.approx(0.5, rel=0.03)


def test_office_hours_are_nine_to_five_on_five_days() -> None:
    assert after_office_h(np.array([0.0, 20.0, 39.99])).tolist() == pytest.approx(
        [9.0, 2 * 24 + 13.0, 4 * 24 + 17], abs=0.01
    )
    moments = [0.0, 9.0, 2 * 24 + 13.0, 4 * 24 + 20.0, 6 * 24.0, 168 + 10.0]
    assert [office_h_until(moment) for moment in moments] == [0.0, 0.0, 20.0, 40.0, 40.0, 41.0]
    found = drawn(arrivals="office_hours").submitted_h
    hour, day = found % 24, found % 168 // 24
    assert hour.min() >= 9
    assert hour.max() < 17
    assert set(day.tolist()) == {0, 1, 2, 3, 4}
    assert (np.diff(found) >= 0).all()


def test_runs_of_a_month_are_submitted_in_it() -> None:
    """Months begin in the middle of weeks: machines that come with a month have nothing to do before."""
    stream = Stream(id="job", runs_per_month=(0.0, 0.0, 5000.0), duration_h=1.0, arrivals="office_hours")
    found = draw(stream, np.random.default_rng(1)).submitted_h
    assert found.min() >= 2 * 730 and found.max() <= 3 * 730
