"""Devices and modules that are not there: a torch with the GPUs one wants, an NVML that says what one wants."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from planner.measure.devices import Device
from planner.measure.results import Report, Shape, TrainingStep
from planner.measure.timing import Timing

CPU = Device(
    torch_name="cpu", name="Some CPU", gpu="cpu Some CPU", in_catalog=False, memory_gb=None, capability=None, uuid=None,
    torch_version="2.13.0", cuda_version=None,
)  # fmt: skip
H100 = replace(
    CPU, torch_name="cuda:0", name="NVIDIA H100 80GB HBM3", gpu="h100-sxm5-80gb", in_catalog=True, memory_gb=85.0,
    capability=(9, 0), uuid="1234", cuda_version="13.0",
)  # fmt: skip
TIMING = Timing(median_s=0.1, spread=0.02, samples=10, total_s=1.2, runs=12, counted=None)
GPT = Shape(
    workload="gpt", model="gpt2-small", parameters=124_439_808, unit="tokens", input="seq1024", seq_len=1024, layers=12,
    d_model=768, heads=12, d_ff=3072, vocab=50257,
)  # fmt: skip
BERT = Shape(
    workload="bert-large", model="BERT-large-SQuAD-finetune", parameters=334_094_338, unit="samples", input="seq384",
    seq_len=384, gmacs=123.2,
)  # fmt: skip


def real_torch() -> Any:
    """The torch that is installed, on one thread: on a busy machine, two wait for each other. Skips without one."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch


def torch_with(*names: str, version: str = "2.13.0", cuda: str | None = "13.0") -> Any:
    """A torch that sees GPUs of these names."""
    properties = SimpleNamespace(total_memory=80e9, major=9, minor=0, uuid="1234")
    return SimpleNamespace(
        __version__=version,
        version=SimpleNamespace(cuda=cuda),
        cuda=SimpleNamespace(
            is_available=lambda: bool(names),
            device_count=lambda: len(names),
            get_device_name=lambda index: names[index],
            get_device_properties=lambda index: properties,
        ),
    )


def step(shape: Shape = GPT, **changed: Any) -> TrainingStep:
    """A training step as it might have been measured."""
    usual: dict[str, Any] = {
        "shape": shape, "framework": "planner measure", "optimizer": "adamw", "precision": "bf16", "amp": True,
        "checkpointing": "none", "batch": 8, "per_s": 81920.0, "timing": TIMING,
    }  # fmt: skip
    return TrainingStep(**(usual | changed))


def report(*results: Any, device: Device = H100) -> Report:
    """A report with these results."""
    return Report(
        device=device, driver="590.1", power="not measured", quick=False, date="2026-11-30", results=list(results)
    )
