"""What the hardware reaches outside any model: rates of matrix products and of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from planner.catalog.records import Precision
from planner.measure.devices import Device, clock_of, is_out_of_memory, release_memory
from planner.measure.results import Bandwidth, MatmulRate, Result, Skipped
from planner.measure.timing import Rule, time_runs
from planner.units import BYTES_PER_GB

FLOP_PER_TFLOP = 1e12
_CPU_SIZES, _GPU_SIZES = (512, 1024, 2048), (1024, 2048, 4096, 8192, 16384)
_QUICK_CPU_SIZES, _QUICK_GPU_SIZES = (512, 1024), (4096, 8192)
_ARRAY_BYTES = {"cpu": 256_000_000, "cuda": 2_000_000_000}  # far above any cache
_QUICK_CPU_BYTES = 128_000_000


def matmul_precisions(torch: Any, device: Device) -> tuple[Precision, ...]:
    """Precisions the device multiplies in by itself, not by emulation."""
    if device.capability is None:
        return ("fp32", "bf16")
    found: list[Precision] = ["fp32"]
    if device.capability >= (8, 0):
        found.append("tf32")
    found.append("fp16")
    if device.capability >= (8, 0):
        found.append("bf16")
    if device.capability >= (8, 9) and hasattr(torch, "float8_e4m3fn"):
        found.append("fp8")
    return tuple(found)


def measure_matmuls(torch: Any, device: Device, rule: Rule, *, quick: bool) -> Iterator[Result]:
    """Rate of products of square matrices, by precision and size; 2 n^3 FLOP each."""
    sizes = (
        (_QUICK_CPU_SIZES if quick else _CPU_SIZES) if device.is_cpu else (_QUICK_GPU_SIZES if quick else _GPU_SIZES)
    )
    for precision in matmul_precisions(torch, device):
        for size in sizes:
            try:
                timing = time_runs(_product(torch, device, precision, size), clock_of(torch, device), rule)
            except Exception as error:
                what = f"{precision} at {size}"
                if is_out_of_memory(torch, error):
                    yield Skipped(workload="matmul", what=what, reason="out of memory")
                elif isinstance(error, RuntimeError | TypeError | NotImplementedError):
                    yield Skipped(workload="matmul", what=what, reason=first_line(error))
                else:
                    raise
                break
            finally:
                torch.set_float32_matmul_precision("highest")
                release_memory(torch, device)
            rate = 2.0 * size**3 / timing.median_s / FLOP_PER_TFLOP
            yield MatmulRate(precision=precision, size=size, tflop_per_s=rate, timing=timing)


def first_line(error: BaseException) -> str:
    """What an error says, without the pages that libraries add."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _product(torch: Any, device: Device, precision: Precision, size: int) -> Callable[[], object]:
    place = device.torch_name
    if precision == "fp8":
        kind = torch.float8_e4m3fn
        left = torch.randn(size, size, device=place).to(kind)
        right = torch.randn(size, size, device=place).to(kind).t()  # columns lie together, as the kernel wants them
        one = torch.ones((), device=place)
        return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    kinds = {"fp16": torch.float16, "bf16": torch.bfloat16}
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    a = torch.randn(size, size, device=place, dtype=kinds.get(precision, torch.float32))
    b = torch.randn_like(a)
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=out)


def measure_bandwidth(torch: Any, device: Device, rule: Rule, *, quick: bool) -> Iterator[Result]:
    """Rate of a copy (read one array, write one) and of a triad (read two, write one)."""
    size = _ARRAY_BYTES["cpu" if device.is_cpu else "cuda"]
    if device.is_cpu and quick:
        size = _QUICK_CPU_BYTES
    if device.memory_gb is not None:
        size = min(size, int(device.memory_gb * BYTES_PER_GB / 8))
    kinds: tuple[tuple[Literal["copy", "triad"], int], ...] = (("copy", 2), ("triad", 3))
    for kind, arrays in kinds:
        try:
            timing = time_runs(_movement(torch, device, kind, size // 4), clock_of(torch, device), rule)
        except Exception as error:
            if not is_out_of_memory(torch, error):
                raise
            yield Skipped(workload="bandwidth", what=kind, reason="out of memory")
            continue
        finally:
            release_memory(torch, device)
        rate = arrays * size / timing.median_s / BYTES_PER_GB
        yield Bandwidth(kind=kind, array_gb=size / BYTES_PER_GB, gb_per_s=rate, timing=timing)


def _movement(torch: Any, device: Device, kind: str, count: int) -> Callable[[], object]:
    a = torch.zeros(count, device=device.torch_name)
    b = torch.ones(count, device=device.torch_name)
    if kind == "copy":
        return lambda: a.copy_(b)
    c = torch.ones(count, device=device.torch_name)
    return lambda: torch.add(b, c, alpha=2.0, out=a)
