"""Energy of a card by NVML, NVIDIA's library for watching its cards, where it is there and permitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.measure.devices import Device

J_PER_MJ = 1e-3  # NVML counts millijoules
LEAST_S = 1.0  # the counter moves in steps of about 0.1 s, so shorter times say little


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """Reads a card's energy counter; `said` is how, or why it can't be read."""

    said: str
    driver: str | None = None
    read_j: Callable[[], float] | None = None


def load_nvml() -> Any:
    """The module pynvml of the package nvidia-ml-py; ImportError without it."""
    import pynvml

    return pynvml


def open_meter(device: Device, load: Callable[[], Any] = load_nvml) -> Meter:
    """The meter of a device. Nothing about power is ever an error: it is measured or the reason is said."""
    if device.is_cpu:
        return Meter(said="not measured: NVML knows no CPUs")
    try:
        nvml = load()
    except ImportError:
        return Meter(said="no NVML: it needs the package nvidia-ml-py (pip install nvidia-ml-py)")
    try:
        nvml.nvmlInit()
        driver = _text(nvml.nvmlSystemGetDriverVersion())
    except nvml.NVMLError as error:
        return Meter(said=f"no NVML: {error}")
    try:
        card = _handle(nvml, device)
        nvml.nvmlDeviceGetTotalEnergyConsumption(card)
    except nvml.NVMLError as error:  # not permitted, or a card older than Volta
        return Meter(said=f"no NVML: the energy counter can't be read ({error})", driver=driver)
    return Meter(
        said="NVML, energy counter of the board",
        driver=driver,
        read_j=lambda: float(nvml.nvmlDeviceGetTotalEnergyConsumption(card)) * J_PER_MJ,
    )


def _handle(nvml: Any, device: Device) -> Any:
    """By UUID: torch and NVML number cards differently where some are hidden."""
    if device.uuid is not None:
        uuid = device.uuid if device.uuid.startswith(("GPU-", "MIG-")) else f"GPU-{device.uuid}"
        return nvml.nvmlDeviceGetHandleByUUID(uuid)
    return nvml.nvmlDeviceGetHandleByIndex(int(device.torch_name.partition(":")[2] or 0))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
