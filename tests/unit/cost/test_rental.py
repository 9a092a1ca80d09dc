"""Billing of sessions and egress."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.rental import billed_egress_gb, billed_session_s


@pytest.mark.parametrize(
    ("startup_s", "work_s", "idle_tail_s", "unit_s", "minimum_s", "billed_s"),
    [
        (90, 4426.2, 0, 1, 0, 4517),  # 4,516.2 s, by the second
        (690, 180_000, 0, 60, 60, 180_720),  # by the minute
        (39.4, 12, 0, 1, 60, 60),  # the minimum
        (0, 3600, 0, 3600, 0, 3600),  # exactly one unit
        (0, 3600.5, 0, 3600, 0, 7200),
        (100, 200, 300, 60, 0, 600),  # the idle tail is paid
        (0, 61, 0, 60, 3600, 3600),  # rounded first, then raised
        (0, 0.1 + 0.2, 0, 0.1, 0, 0.3),  # the last binary digit starts no new unit
    ],
)
def test_session(
    startup_s: float, work_s: float, idle_tail_s: float, unit_s: float, minimum_s: float, billed_s: float
) -> None:
    assert billed_session_s(startup_s, work_s, idle_tail_s, unit_s, minimum_s) == pytest.approx(billed_s, rel=1e-12)


def test_sessions_as_array_equal_single_ones() -> None:
    work_s = np.array([12.0, 4426.2, 180_000.0])
    expected = [float(billed_session_s(39.4, float(work), 5.0, 60.0, 120.0)) for work in work_s]
    assert billed_session_s(39.4, work_s, 5.0, 60.0, 120.0).tolist() == expected


def test_egress_beyond_the_allowance() -> None:
    assert billed_egress_gb(480.0, 100.0) == 380.0
    assert billed_egress_gb(80.0, 100.0) == 0.0
    assert billed_egress_gb(np.array([80.0, 480.0]), 100.0).tolist() == [0.0, 380.0]
