"""The settings that fit in memory: micro-batch, recomputation and layout, and the fewest GPUs that hold a model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from planner.catalog.records import Precision, Workload
from planner.performance.constants import Constants
from planner.performance.device import usable_bytes
from planner.performance.layout import MOST_TENSOR, Layout, hybrid_layouts, plain_layouts, split_layouts
from planner.performance.memory import MemoryNeed, MemorySetup, split_need, transformer_need, vision_need
from planner.performance.memory import memory_need as training_need
from planner.performance.request import Request
from planner.performance.step_inputs import ADAPTER_RANK
from planner.workload.settings import CHECKPOINTINGS, Checkpointing, Sharding, Software

MOST_SHARDS = 4096
FILLING_DIGITS = 3  # ..., 24, 28, 32, 40, 48, ...: as close as published runs come to a full memory
FITTING_LAYOUTS = 2  # of a kind: longer pipelines and larger groups only add waiting once the model fits
STEPS_OF_EPOCH = 10  # at least, where memory alone sets the batch: small models would take a whole data set at once
PASSES_PER_STAGE = 4  # that keep a pipeline busy; larger micro-batches would leave fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Settings of a run, its peak memory, and the smallest count of the GPU on which the model fits."""

    micro_batch: int
    checkpointing: Checkpointing
    layout: Layout
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


def memory_setup(request: Request, checkpointing: Checkpointing, layout: Layout, micro_batch: float = 1) -> MemorySetup:
    """The training run of a transformer as its memory sees it."""
    setup, workload = request.setup, request.setup.workload
    assert workload.transformer is not None and request.seq_len is not None
    split = layout.sharding == "optimizer"
    software: Software = "compiled" if is_fused(workload) and request.software != "eager" else "eager"
    return MemorySetup(
        spec=workload.transformer,
        parameters=workload.parameters.value,
        seq_len=request.seq_len,
        micro_batch=micro_batch,
        element_bytes=element_bytes_of(request.precision),
        method=setup.method,
        adapter_rank=setup.adapter_rank or ADAPTER_RANK,
        adapter_targets=setup.adapter_targets or "q_v",
        optimizer=setup.optimizer or ("adamw-18" if split else None),
        sharding=layout.sharding,
        shards=layout.shards,
        tensor=layout.tensor,
        pipeline=layout.pipeline,
        chunks=layout.chunks,
        checkpointing=checkpointing,
        software="vendor" if split else software,
        fused_attention=is_fused(workload),
        loss_kind="fused" if split or request.software == "fused" else "plain",
    )


def memory_need(request: Request, checkpointing: Checkpointing, sharding: Sharding, constants: Constants) -> MemoryNeed:
    """Memory of the request's workload under a recomputation, replicated or sharded."""
    workload = request.setup.workload
    if not request.usual_training:
        layout = Layout(sharding=sharding, gpus=request.setup.gpus)
        return training_need(memory_setup(request, checkpointing, layout), constants)
    parameters = workload.parameters.value
    element_bytes = element_bytes_of(request.precision)
    if workload.transformer is not None and request.seq_len is not None:
        return transformer_need(
            workload.transformer,
            parameters,
            request.seq_len,
            checkpointing,
            sharding,
            element_bytes,
            fused_attention=is_fused(workload),
            fused_elementwise=is_fused(workload) and request.software != "eager",
            fused_loss=request.software == "fused",
            constants=constants,
        )
    assert workload.vision is not None
    return vision_need(workload.vision, parameters, element_bytes, constants)


def layout_need(request: Request, checkpointing: Checkpointing, layout: Layout, constants: Constants) -> MemoryNeed:
    """Memory of the request's workload under a recomputation and a layout."""
    if layout.sharding != "optimizer":
        return memory_need(request, checkpointing, layout.sharding, constants)
    if not request.usual_training:
        return training_need(memory_setup(request, checkpointing, layout), constants)
    workload = request.setup.workload
    assert workload.transformer is not None and request.seq_len is not None
    return split_need(
        workload.transformer,
        workload.parameters.value,
        request.seq_len,
        checkpointing,
        layout.tensor,
        layout.pipeline,
        layout.chunks,
        element_bytes_of(request.precision),
        constants=constants,
    )


def software_of(request: Request, layout: Layout) -> Software:
    """Training code of a decoder: the vendor's where the model is split, which no other does; else the request's."""
    return "vendor" if layout.sharding == "optimizer" else request.software


def fitting_choices(request: Request, constants: Constants) -> tuple[Choice, ...]:
    """Recomputations and layouts with which the request fits, the plainest first; else the cheapest, not fitting.

    Adapters are replicated wherever the frozen weights fit on one GPU, as everybody trains them, and sharded elsewhere.
    Recomputation as asked, or the recipe's and then ever more of it, up to the first that fits replicated: more of it
    would only cost time. The micro-batch as asked, or what one GPU has to take in a step, or else the largest power of
    two that fits; where memory alone sets the batch, the largest with three significant binary digits.
    """
    setup = request.setup
    transformer = setup.workload.transformer is not None
    least = _Chooser(request, constants)
    choices = []
    for checkpointing in least.recomputations:
        for layout in plain_layouts(setup.gpus, transformer=transformer):
            if request.adapters and least.min_gpus == 1 and layout.sharding == "sharded":
                continue
            choice = least.choice(checkpointing, layout)
            choices.append(choice)
            if choice.fits and layout.sharding == "replicated":
                return tuple(choice for choice in choices if choice.fits)
    choices += least.spread_out()
    fitting = tuple(choice for choice in choices if choice.fits)
    return fitting or (min(choices, key=lambda choice: choice.memory_bytes),)


class _Chooser:
    """Finds the settings of one request, whose limits it works out once."""

    def __init__(self, request: Request, constants: Constants) -> None:
        self.request = request
        self.constants = constants
        self.capacity = usable_bytes(request.setup.gpu, constants)
        self.recomputations = _recomputations(request)
        self.min_gpus = _min_gpus(request, constants)

    def choice(self, checkpointing: Checkpointing, layout: Layout) -> Choice:
        """The micro-batch and memory of a recomputation and a layout, whether it fits or not."""
        need = layout_need(self.request, checkpointing, layout, self.constants)
        room = need.largest_micro_batch(self.capacity, layout.shards)
        micro = self.request.setup.micro_batch or self._micro_batch(room, layout)
        memory = float(need.peak_bytes(micro, layout.shards))
        smallest = self.min_gpus
        if memory <= self.capacity:
            smallest = min(smallest or layout.gpus, layout.gpus)
        return Choice(
            micro_batch=micro,
            checkpointing=checkpointing,
            layout=layout,
            memory_bytes=memory,
            capacity_bytes=self.capacity,
            min_gpus=smallest,
        )

    def _micro_batch(self, room: float, layout: Layout) -> int:
        if self.request.batch_filled_by_memory:
            return self._filling_batch(room, layout)
        limit = self.request.batch_limit(layout.ranks)
        if layout.pipeline > 1:
            limit = max(1, limit // (PASSES_PER_STAGE * layout.pipeline))
        elif room >= limit:
            return int(limit)
        return _round_batch(min(room, limit), 1)

    def _filling_batch(self, room: float, layout: Layout) -> int:
        """What fills the memory; on several GPUs that can't take the recipe's batch at once, an equal part of it.

        So cards with unlike memory exchange their gradients equally often.
        """
        samples = self.request.setup.workload.samples
        if samples is not None:
            room = min(room, samples.value / (STEPS_OF_EPOCH * layout.ranks))
        micro = _round_batch(room, FILLING_DIGITS)
        per_gpu = self.request.setup.workload.global_batch / layout.ranks
        if layout.ranks == 1 or micro >= per_gpu:
            return micro
        return _round_batch(per_gpu / math.ceil(per_gpu / micro), FILLING_DIGITS)

    def spread_out(self) -> Iterator[Choice]:
        """Layouts of runs on several nodes, each with the least recomputation that fits."""
        setup = self.request.setup
        spec = setup.workload.transformer
        if spec is None or setup.gpus <= setup.gpus_per_node:
            return
        families = [hybrid_layouts(setup.gpus, setup.gpus_per_node)]
        if self._needs_splitting():
            tensor = 1
            while tensor <= MOST_TENSOR:
                families.append(split_layouts(spec, setup.gpu, setup.gpus, setup.gpus_per_node, tensor))
                tensor *= 2
        for layouts in families:
            fitting = 0
            for layout in layouts:
                found = next(filter(_fits, (self.choice(c, layout) for c in self.recomputations)), None)
                if found is not None:
                    yield found
                    fitting += 1
                if fitting == FITTING_LAYOUTS:
                    break

    def _needs_splitting(self) -> bool:
        """Whether a model is too large for one node, and the software open or such that it can split the model.

        Smaller models are trained with shards alone, on any number of nodes.
        """
        setup = self.request.setup
        if setup.software not in (None, "vendor") or self.request.adapters:
            return False
        node = Layout(sharding="sharded", gpus=setup.gpus_per_node, shards=setup.gpus_per_node)
        need = layout_need(self.request, self.recomputations[-1], node, self.constants)
        return float(need.peak_bytes(setup.micro_batch or 1, node.shards)) > self.capacity


def _fits(choice: Choice) -> bool:
    return choice.fits


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
