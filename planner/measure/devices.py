"""The device that is measured: finding it, its name in the catalog, its clock and its memory."""

from __future__ import annotations

import gc
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.errors import InputError, PlannerError
from planner.measure.timing import Clock
from planner.units import BYTES_PER_GB

_FORM = re.compile(r"cpu|cuda(?::(\d{1,3}))?")
_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What is measured. `gpu` is what tables of measurements call it: an id of the catalog where its name is known."""

    torch_name: str  # "cpu" or "cuda:0"
    name: str  # as the driver or the operating system gives it
    gpu: str
    in_catalog: bool
    memory_gb: float | None  # 1e9 bytes; None for a CPU
    capability: tuple[int, int] | None  # of CUDA; None for a CPU
    uuid: str | None
    torch_version: str
    cuda_version: str | None  # that torch was built for

    @property
    def is_cpu(self) -> bool:
        """Whether it is the processor."""
        return self.torch_name == "cpu"


def load_torch() -> Any:
    """The torch module.

    Raises
    ------
    InputError
        It isn't installed, or can't be loaded.
    """
    try:
        import torch
    except (ImportError, OSError) as error:  # a library of CUDA that is missing is an OSError
        raise InputError("measure_needs_torch", field="", reason=str(error)) from None
    return torch


def find_device(torch: Any, text: str | None, catalog: Catalog, gpu_name: str | None = None) -> Device:
    """The device that is asked for; without a wish the first GPU, or the CPU where there is none.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    text : str or None
        `cpu`, `cuda` or `cuda:N`.
    catalog : Catalog
        Where the name of a GPU is looked up.
    gpu_name : str, optional
        What to call the device in tables, instead of its own name.

    Raises
    ------
    InputError
        Another text, or a GPU that torch doesn't see.
    """
    cuda = torch.cuda.is_available()
    wanted = text or ("cuda" if cuda else "cpu")
    match = _FORM.fullmatch(wanted.strip().casefold())
    if match is None:
        raise InputError(
            "unknown_choice", field="--device", value=wanted, expected="cpu, cuda or cuda:N, such as cuda:0"
        )
    version, built_for = str(torch.__version__), torch.version.cuda
    if match[0] == "cpu":
        name = cpu_name()
        gpu, known = (gpu_name, False) if gpu_name else (f"cpu {name}", False)
        return Device(
            torch_name="cpu", name=name, gpu=gpu, in_catalog=known, memory_gb=None, capability=None, uuid=None,
            torch_version=version, cuda_version=built_for,
        )  # fmt: skip
    count = torch.cuda.device_count() if cuda else 0
    index = int(match[1] or 0)
    if index >= count:
        found = f"{count} GPUs" if count else f"no GPU that torch {version} can use"
        if not count and built_for is None:
            found += " (it was built without CUDA)"
        raise InputError("measure_no_gpu", field="--device", value=wanted, found=found)
    properties = torch.cuda.get_device_properties(index)
    name = torch.cuda.get_device_name(index)
    gpu, known = catalog_name(gpu_name or name, catalog)
    uuid = getattr(properties, "uuid", None)
    return Device(
        torch_name=f"cuda:{index}",
        name=name,
        gpu=gpu,
        in_catalog=known,
        memory_gb=properties.total_memory / BYTES_PER_GB,
        capability=(properties.major, properties.minor),
        uuid=None if uuid is None else str(uuid),
        torch_version=version,
        cuda_version=built_for,
    )


def catalog_name(name: str, catalog: Catalog) -> tuple[str, bool]:
    """Id of the accelerator with a driver's name and whether the catalog has it; else the name as it is.

    Drivers write "NVIDIA GeForce RTX 4090" or "NVIDIA A100-SXM4-80GB", and of an H100 the memory type too. A name that
    several share, such as "NVIDIA H100", is no name of the catalog.
    """
    plain = re.sub(r"\s+", " ", name).strip()
    shorter = re.sub(r"^(NVIDIA|AMD)\s+", "", plain, flags=re.IGNORECASE)
    without_brand = re.sub(r"^(GeForce|Tesla|Instinct)\s+", "", shorter, flags=re.IGNORECASE)
    without_memory = re.sub(r"\s+HBM\w*$", "", without_brand)
    for spelling in dict.fromkeys((plain, shorter, without_brand, without_memory, _DRIVER_NAMES.get(shorter, ""))):
        try:
            return find_accelerator(catalog, spelling).id, True
        except PlannerError:
            continue
    return plain, False


# Names of drivers in which the form factor stands only between the lines.
_DRIVER_NAMES = {
    "H100 80GB HBM3": "h100-sxm5-80gb",
    "H100 PCIe": "h100-pcie-80gb",
    "H200": "h200-sxm-141gb",
    "A100 80GB PCIe": "a100-pcie-80gb",
    "B200": "b200-sxm-180gb",
}


def cpu_name() -> str:
    """Model of the processor as the operating system gives it."""
    try:
        text = _CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return (match[1].strip() if match else "") or platform.processor() or platform.machine() or "unknown"


def clock_of(torch: Any, device: Device) -> Clock:
    """A clock that waits until the device has done all it was given. [s]"""
    if device.is_cpu:
        return time.perf_counter

    def clock() -> float:
        torch.cuda.synchronize(device.torch_name)
        return time.perf_counter()

    return clock


def release_memory(torch: Any, device: Device) -> None:
    """Give back what isn't used any more, and count the peak anew."""
    gc.collect()
    if not device.is_cpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device.torch_name)


def peak_gb(torch: Any, device: Device) -> tuple[float | None, float | None]:
    """Most memory that tensors took and that torch reserved since `release_memory`; None for a CPU. [1e9 bytes]"""
    if device.is_cpu:
        return None, None
    allocated = torch.cuda.max_memory_allocated(device.torch_name)
    reserved = torch.cuda.max_memory_reserved(device.torch_name)
    return allocated / BYTES_PER_GB, reserved / BYTES_PER_GB


def is_out_of_memory(torch: Any, error: BaseException) -> bool:
    """Whether an error says that memory ran out: each allocator has its own words."""
    no_memory = getattr(torch, "OutOfMemoryError", MemoryError)  # versions before 2.5 have no such class
    if isinstance(error, (MemoryError, no_memory)):
        return True
    words = str(error).casefold()
    return isinstance(error, RuntimeError) and any(
        part in words for part in ("out of memory", "can't allocate memory", "alloc_failed")
    )
