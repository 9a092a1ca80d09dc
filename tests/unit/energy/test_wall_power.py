"""Wall power of whole machines from the shipped data, against what was measured."""

from __future__ import annotations

import pytest

from planner.catalog.records import Figure, Gpu
from planner.energy.power import partly_loaded_w
from planner.strategy.resolve.figures import Figures
from planner.strategy.resolve.power import machine_power
from tests.planning import catalog, shipped_catalog

MEASURED_8X_H100_W = 7100.0  # MLPerf Training v4.1, power of 8x H100 nodes while training


def shipped() -> Figures:
    return Figures(shipped_catalog())


def h100_node() -> tuple[Figure, Figure]:
    gpu = shipped_catalog().gpus["h100-sxm5-80gb"]
    return machine_power(gpu, 8, shipped_catalog().hosts["server-8-sxm"], shipped())


def rtx_4090() -> Gpu:
    return shipped_catalog().gpus["rtx-4090"]


def test_8x_h100_at_training_load() -> None:
    assert h100_node()[0].value == pytest.approx(MEASURED_8X_H100_W, rel=0.1)


def test_8x_h100_at_half_load_and_idle() -> None:
    load, idle = (figure.value for figure in h100_node())
    half = partly_loaded_w(idle, load, 0.5)
    assert idle == pytest.approx(2500, rel=0.1)
    assert idle < half < load
    assert half == pytest.approx((load + idle) / 2)


def test_without_a_host_a_node_is_taken_as_a_server() -> None:
    load, idle = machine_power(shipped_catalog().gpus["h100-sxm5-80gb"], 8, None, shipped())
    assert load.value == pytest.approx(MEASURED_8X_H100_W, rel=0.1)
    assert 0 < idle.value < load.value


def test_4090_workstation_between_idle_and_rated_draw() -> None:
    host = shipped_catalog().hosts["workstation-1"]
    assert host.load_w is not None
    assert host.psu_w is not None
    load, idle = (figure.value for figure in machine_power(rtx_4090(), 1, host, shipped()))
    rated = rtx_4090().tdp_w.value / shipped().assumed("psu_efficiency").value + host.load_w.value
    assert 0 < idle < 150 < load < rated < host.psu_w


def test_pc_by_hand() -> None:
    """Frozen data: 120 W of the host and 450 W x 0.9 of the card through a supply of 0.92; idle 70 W and 20 W."""
    figures = Figures(catalog())
    load, idle = machine_power(catalog().gpus["rtx-4090"], 1, catalog().hosts["workstation-1"], figures)
    assert load.value == pytest.approx(120 + 450 * 0.9 / 0.92)
    assert idle.value == pytest.approx(70 + 20 / 0.92)


def test_server_by_hand() -> None:
    figures = Figures(catalog())
    load, idle = machine_power(catalog().gpus["h100-sxm5-80gb"], 8, catalog().hosts["server-8-sxm"], figures)
    assert load.value == pytest.approx(1.25 * 5600)
    assert idle.value == pytest.approx(0.3 * 1.25 * 5600)
    assert (load.low, load.high) == (pytest.approx(1.2 * 5600), pytest.approx(1.3 * 5600))
