"""Which device is measured, and what it is called."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import InputError
from planner.measure.devices import (
    catalog_name,
    clock_of,
    cpu_name,
    find_device,
    is_out_of_memory,
    peak_gb,
    release_memory,
)
from tests.planning import shipped_catalog
from tests.unit.measure.fakes import CPU, H100, real_torch, torch_with

CATALOG = shipped_catalog()


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("NVIDIA H100 PCIe", "h100-pcie-80gb"),
        ("NVIDIA H200", "h200-sxm-141gb"),
        ("NVIDIA L40S", "l40s"),
        ("Tesla T4", "t4"),
        ("NVIDIA RTX A6000", "rtx-a6000"),
    ],
)
def test_names_of_drivers_are_found_in_the_catalog(name: str, gpu: str) -> None:
    assert catalog_name(name, CATALOG) == (gpu, True)


def test_a_name_the_catalog_lacks_stays_as_it_is() -> None:
    assert catalog_name("NVIDIA  Something 9", CATALOG) == ("NVIDIA Something 9", False)


def test_without_a_wish_the_first_gpu_else_the_cpu() -> None:
    found = find_device(torch_with("NVIDIA GeForce RTX 4090", "NVIDIA L40S"), None, CATALOG)
    assert (found.torch_name, found.gpu, found.capability) == ("cuda:0", "rtx-4090", (9, 0))
    found = find_device(torch_with(), None, CATALOG)
    assert (found.torch_name, found.name, found.gpu) == ("cpu", cpu_name(), f"cpu {cpu_name()}")
    assert find_device(torch_with("NVIDIA L40S"), "cpu", CATALOG, "my-cpu").gpu == "my-cpu"
    assert find_device(torch_with("NVIDIA L40S", "NVIDIA L40S"), "cuda:1", CATALOG).torch_name == "cuda:1"
    assert find_device(torch_with("NVIDIA X"), "cuda", CATALOG, "RTX 4090").gpu == "rtx-4090"


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("gpu", ("NVIDIA L40S",), "found gpu, expected cpu, cuda or cuda:N"),
        ("cuda:1", ("NVIDIA L40S",), "found 'cuda:1', and 1 GPUs"),
        ("cuda", (), "no GPU that torch 2.13.0 can use"),
    ],
)
def test_a_device_that_is_not_there_is_an_error(text: str, names: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError) as caught:
        find_device(torch_with(*names), text, CATALOG)
    assert caught.value.field == "--device"
    assert words in str(caught.value)


def test_a_torch_without_cuda_is_named_as_the_reason() -> None:
    with pytest.raises(InputError, match="built without CUDA"):
        find_device(torch_with(cuda=None), "cuda", CATALOG)


def test_every_allocators_words_for_no_memory_are_understood() -> None:
    torch = real_torch()
    for error in (
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        MemoryError(),
    ):
        assert is_out_of_memory(torch, error), error
    assert not is_out_of_memory(torch, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(torch, KeyboardInterrupt())


class Cuda:
    """The part of torch that knows a card: what was asked of it, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def answer(*_: Any) -> float:
            self.asked.append(name)
            return {"max_memory_allocated": 7e9, "max_memory_reserved": 8e9}.get(name, 0.0)

        return answer


def test_the_clock_of_a_card_waits_for_it_and_that_of_a_cpu_needs_not() -> None:
    torch = SimpleNamespace(cuda=Cuda())
    assert clock_of(torch, CPU)() <= clock_of(torch, CPU)()
    assert torch.cuda.asked == []
    clock = clock_of(torch, H100)
    clock()
    assert torch.cuda.asked == ["synchronize"]


def test_the_peak_is_that_since_memory_was_given_back() -> None:
    torch = SimpleNamespace(cuda=Cuda())
    release_memory(torch, H100)
    assert torch.cuda.asked == ["empty_cache", "reset_peak_memory_stats"]
    assert peak_gb(torch, H100) == (7.0, 8.0)
    release_memory(torch, CPU)
    assert peak_gb(torch, CPU) == (None, None)
    assert len(torch.cuda.asked) == 4
