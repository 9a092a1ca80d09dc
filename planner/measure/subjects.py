"""What is trained: how a model is built for a configuration, and which configurations it has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Precision
from planner.measure.devices import Device
from planner.measure.results import Shape
from planner.workload.settings import Checkpointing


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """How a model is trained."""

    precision: Precision
    amp: bool
    checkpointing: Checkpointing
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A model on its device: what computes the loss of the batch it was made for, and what is trained."""

    loss: Callable[[], Any]
    model: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A model that can be trained; `build` makes it with random weights and one random batch."""

    shape: Shape
    framework: str
    optimizer: str  # adamw or sgd
    checkpointings: tuple[Checkpointing, ...]
    build: Callable[[Any, Device, Configuration], Built]


def training_step(torch: Any, device: Device, subject: Subject, configuration: Configuration) -> Callable[[], None]:
    """A function that does one whole step: forward, loss, backward, optimizer.

    Automatic mixed precision is `torch.autocast`, with a scaled loss for fp16. Without it tf32 means that matmuls may
    round to it; weights are in fp32 either way.
    """
    tf32 = configuration.precision == "tf32"
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = tf32
    built = subject.build(torch, device, configuration)
    parameters = [parameter for parameter in built.model.parameters() if parameter.requires_grad]
    if subject.optimizer == "adamw":
        optimizer = torch.optim.AdamW(parameters, lr=1e-5, fused=not device.is_cpu)
    else:
        optimizer = torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    kind = "cpu" if device.is_cpu else "cuda"
    scaled = configuration.amp and configuration.precision == "fp16"
    scaler = torch.amp.GradScaler(kind, enabled=scaled)
    numbers = {"fp16": torch.float16, "bf16": torch.bfloat16}

    def mixed() -> AbstractContextManager[Any]:
        if not configuration.amp:
            return nullcontext()
        return torch.autocast(kind, dtype=numbers[configuration.precision])  # type: ignore[no-any-return]

    def step() -> None:
        with mixed():
            loss = built.loss()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step


def random_tokens(torch: Any, device: Device, batch: int, length: int, vocab: int) -> Any:
    """A batch of random token ids."""
    return torch.randint(0, vocab, (batch, length), device=device.torch_name)
