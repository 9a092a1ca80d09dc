"""Energy by NVML, and every reason why there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.measure.power import open_meter
from tests.unit.measure.fakes import CPU, H100


class NVMLError(Exception):
    pass


def nvml(**changed: Any) -> Any:
    usual: dict[str, Any] = {
        "NVMLError": NVMLError,
        "nvmlInit": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: b"590.48",
        "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetTotalEnergyConsumption": lambda card: 5000 if card == "GPU-1234" else 0,
    }
    return SimpleNamespace(**(usual | changed))


def denied(*_: Any) -> Any:
    raise NVMLError("Insufficient Permissions")


def missing() -> Any:
    raise ModuleNotFoundError("No module named 'pynvml'")


def test_energy_is_read_of_the_card_that_torch_uses() -> None:
    meter = open_meter(H100, nvml)
    assert meter.driver == "590.48"
    assert meter.read_j is not None
    assert meter.read_j() == 5.0


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (missing, "pip install nvidia-ml-py"),
        (lambda: nvml(nvmlInit=denied), "no NVML: Insufficient Permissions"),
        (lambda: nvml(nvmlDeviceGetTotalEnergyConsumption=denied), "energy counter can't be read (Insufficient"),
        (lambda: nvml(nvmlDeviceGetHandleByUUID=denied), "can't be read"),
    ],
)
def test_without_nvml_the_reason_is_said(load: Any, words: str) -> None:
    meter = open_meter(H100, load)
    assert meter.read_j is None
    assert words in meter.said


def test_a_cpu_has_no_meter() -> None:
    assert open_meter(CPU, missing).said == "not measured: NVML knows no CPUs"
