"""Power at the wall and energy at the meter."""

from __future__ import annotations

import numpy as np
import pytest

from planner.energy.facility import metered_kwh
from planner.energy.power import partly_loaded_w, pc_wall_w, server_wall_w


def test_pc_adds_its_cards_through_the_power_supply() -> None:
    assert pc_wall_w(120.0, 2, 450.0, 0.9) == 1120.0
    assert pc_wall_w(120.0, 0, 450.0, 0.9) == 120.0


def test_server_factor_holds_the_host_already() -> None:
    assert server_wall_w(8, 700.0, 1.27) == pytest.approx(7112.0)
    assert server_wall_w(8, 400.0, 1.27) == pytest.approx(4064.0)


def test_partly_busy_node_is_linear_between_idle_and_load() -> None:
    assert partly_loaded_w(1200.0, 4064.0, 1 / 8) == 1558.0
    assert partly_loaded_w(1200.0, 4064.0, 0.0) == 1200.0
    assert partly_loaded_w(1200.0, 4064.0, 1.0) == 4064.0
    assert partly_loaded_w(1200.0, 4064.0, np.array([0.0, 0.5])).tolist() == [1200.0, 2632.0]


def test_meter_counts_the_facility_once() -> None:
    assert metered_kwh(7112.0, 500.0, 1.5) == pytest.approx(5334.0)
    assert metered_kwh(1000.0, np.array([1.0, 2.0]), 1.2).tolist() == [1.2, 2.4]
