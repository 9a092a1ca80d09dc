"""The settings that fit in memory: micro-batch, recomputation and sharding, and the fewest GPUs that hold a model."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import Precision, Workload
from planner.performance.constants import Constants
from planner.performance.device import usable_bytes
from planner.performance.memory import MemoryNeed, transformer_need, vision_need
from planner.performance.request import Request
from planner.workload.settings import CHECKPOINTINGS, Checkpointing, Sharding

MOST_SHARDS = 4096
FILLING_DIGITS = 3  # ..., 24, 28, 32, 40, 48, ...: as close as published runs come to a full memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Settings of a run, its peak memory, and the smallest count of the GPU on which the model fits."""

    micro_batch: int
    checkpointing: Checkpointing
    sharding: Sharding
    memory_bytes: float
    capacity_bytes: float
    min_gpus: int | None

    @property
    def fits(self) -> bool:
        """Whether the peak stays within what the card reports."""
        return self.memory_bytes <= self.capacity_bytes


def is_fused(workload: Workload) -> bool:
    """Whether the usual code of a model has flash attention and fused kernels.

    Decoders are trained with them; the published fine-tuning code of BERT has plain attention and eager kernels.
    """
    return workload.transformer is not None and not workload.transformer.encoder


def element_bytes_of(precision: Precision) -> float:
    """Bytes of an activation. [bytes]"""
    return 4.0 if precision in ("fp32", "tf32") else 2.0


def memory_need(request: Request, checkpointing: Checkpointing, sharding: Sharding, constants: Constants) -> MemoryNeed:
    """Memory of the request's workload under a recomputation and sharding."""
    workload = request.setup.workload
    parameters = workload.parameters.value
    element_bytes = element_bytes_of(request.precision)
    if workload.transformer is not None and request.seq_len is not None:
        fused = is_fused(workload)
        return transformer_need(
            workload.transformer,
            parameters,
            request.seq_len,
            checkpointing,
            sharding,
            element_bytes,
            fused_attention=fused,
            fused_elementwise=fused,
            constants=constants,
        )
    assert workload.vision is not None
    return vision_need(workload.vision, parameters, element_bytes, constants)


def fitting_choices(request: Request, constants: Constants) -> tuple[Choice, ...]:
    """Recomputations and shardings with which the request fits, the plainest first; else the cheapest, not fitting.

    Recomputation as asked, or the recipe's and then ever more of it, up to the first that fits replicated: more of it
    would only cost time. The micro-batch as asked, or the largest power of two that fits and is no larger than the
    batch of one GPU; where memory alone sets the batch, the largest with three significant binary digits.
    """
    setup = request.setup
    capacity = usable_bytes(setup.gpu, constants)
    transformer = setup.workload.transformer is not None
    recomputations = _recomputations(request)
    shardings: tuple[Sharding, ...] = ("replicated", "sharded") if transformer and setup.gpus > 1 else ("replicated",)
    smallest = _min_gpus(request, constants)
    digits = FILLING_DIGITS if request.batch_filled_by_memory else 1
    choices = []
    for checkpointing in recomputations:
        for sharding in shardings:
            need = memory_need(request, checkpointing, sharding, constants)
            shards = setup.gpus if sharding == "sharded" else 1
            room = need.largest_micro_batch(capacity, shards)
            micro = setup.micro_batch or _round_batch(min(room, request.batch_per_gpu_limit), digits)
            choice = Choice(
                micro_batch=micro,
                checkpointing=checkpointing,
                sharding=sharding,
                memory_bytes=float(need.peak_bytes(micro, shards)),
                capacity_bytes=capacity,
                min_gpus=smallest,
            )
            choices.append(choice)
            if choice.fits and sharding == "replicated":
                return tuple(choice for choice in choices if choice.fits)
    fitting = tuple(choice for choice in choices if choice.fits)
    return fitting or (min(choices, key=lambda choice: choice.memory_bytes),)


def _recomputations(request: Request) -> tuple[Checkpointing, ...]:
    setup = request.setup
    if setup.checkpointing is not None:
        return (setup.checkpointing,)
    if setup.workload.transformer is None:
        return ("none",)
    return CHECKPOINTINGS[CHECKPOINTINGS.index(setup.workload.checkpointing) :]


def _round_batch(limit: float, digits: int) -> int:
    """Largest number up to a limit with so many significant binary digits, at least 1; one digit: a power of two."""
    whole = max(1, int(limit))
    step = 1 << max(0, whole.bit_length() - digits)
    return whole // step * step


def _min_gpus(request: Request, constants: Constants) -> int | None:
    """Fewest GPUs on which the model fits with the cheapest open settings; None when no count up to the limit does."""
    setup = request.setup
    capacity = usable_bytes(setup.gpu, constants)
    micro = setup.micro_batch or 1
    cheapest = _recomputations(request)[-1]
    if memory_need(request, cheapest, "replicated", constants).peak_bytes(micro, 1) <= capacity:
        return 1
    if setup.workload.transformer is None:
        return None
    shards = memory_need(request, cheapest, "sharded", constants).smallest_shard_count(capacity, micro)
    return shards if shards is not None and shards <= MOST_SHARDS else None
