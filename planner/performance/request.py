"""A request for an estimate: what was asked, what the recipe says, and what cannot be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Gpu, Precision, Workload
from planner.errors import InputError
from planner.performance.device import supports
from planner.workload.settings import (
    ADAPTER_TARGETS,
    CHECKPOINTINGS,
    METHODS,
    OPTIMIZERS,
    SOFTWARE,
    AdapterTargets,
    Checkpointing,
    Method,
    Optimizer,
    Software,
)

# A recipe in one 16-bit format runs in the other where the GPU lacks it; a format that was asked for is never replaced.
_REPLACEMENTS: Mapping[Precision, tuple[Precision, ...]] = {
    "bf16": ("fp16", "fp32"),
    "fp16": ("bf16", "fp32"),
    "fp8": ("bf16", "fp16"),
    "tf32": ("fp32",),
    "fp32": (),
}
MOST_GPUS = 4096 * 8
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "checkpointing": CHECKPOINTINGS,
    "software": SOFTWARE,
    "method": METHODS,
    "optimizer": OPTIMIZERS,
    "adapter_targets": ADAPTER_TARGETS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What to estimate. None leaves a setting to the workload's recipe, to memory, or to an assumption."""

    workload: Workload
    gpu: Gpu
    gpus: int
    gpus_per_node: int
    precision: Precision | None = None
    seq_len: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    checkpointing: Checkpointing | None = None
    network_gbit_per_s: float | None = None
    software: Software | None = None
    method: Method = "full"
    optimizer: Optimizer | None = None
    adapter_rank: int | None = None
    adapter_targets: AdapterTargets | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warning_:
    """Something a reader of an estimate should know; the code's sentence stands in `planner/messages.yaml`."""

    code: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A setup with precision and sequence length settled, and what is asked of the batches found possible."""

    setup: Setup
    precision: Precision
    seq_len: int | None
    warnings: tuple[Warning_, ...]

    @property
    def batch_filled_by_memory(self) -> bool:
        """Whether the batch is whatever fills the memory, as in the published runs, and not the recipe's.

        So it is for models counted in samples when no batch is asked for: a GPU that was measured is then compared
        with one that was not on equal terms.
        """
        setup = self.setup
        return setup.workload.unit == "samples" and setup.micro_batch is None and setup.global_batch is None

    @property
    def software(self) -> Software:
        """Training code of a decoder, where the model isn't split: as asked, else as in the recipe."""
        return self.setup.software or self.setup.workload.software

    @property
    def adapters(self) -> bool:
        """Whether adapters are trained beside frozen weights."""
        return self.setup.method != "full"

    @property
    def usual_training(self) -> bool:
        """Whether all weights are trained with the usual optimizer, as in the published measurements."""
        return not self.adapters and self.setup.optimizer is None

    def batch_limit(self, ranks: int) -> float:
        """Most samples that each of `ranks` replicas can take in one pass. [-]"""
        if self.batch_filled_by_memory:
            return math.inf
        return math.ceil((self.setup.global_batch or self.setup.workload.global_batch) / ranks)

    def global_batch(self, micro_batch: int, ranks: int | None = None) -> int:
        """Samples of a step: as asked, or the recipe's in the nearest whole number of passes of all replicas.

        Where both batches are left to the recipe, it is only rounded up to a multiple of the replicas, which are as
        many as the GPUs where not said.
        """
        setup = self.setup
        ranks = ranks or setup.gpus
        if setup.global_batch is not None:
            return setup.global_batch
        recipe = setup.workload.global_batch
        if self.batch_filled_by_memory or setup.micro_batch is not None:
            one_pass = micro_batch * ranks
            return one_pass * max(1, round(recipe / one_pass))
        return -(-recipe // ranks) * ranks


def resolve_request(setup: Setup) -> Request:
    """Settle what the setup leaves open and refuse what cannot be.

    Raises
    ------
    InputError
        Numbers below one, a precision the GPU lacks, or batches that do not divide; `field` names the input.
    """
    for field in ("gpus", "gpus_per_node", "seq_len", "micro_batch", "global_batch", "adapter_rank"):
        value = getattr(setup, field)
        if value is not None and not value >= 1:
            raise InputError("not_at_least_one", field=field, value=value, expected="a whole number from 1")
    if setup.gpus > MOST_GPUS:
        raise InputError("too_many_gpus_to_estimate", field="gpus", value=setup.gpus, expected=f"at most {MOST_GPUS:,}")
    network = setup.network_gbit_per_s
    if network is not None and not (network > 0 and math.isfinite(network)):
        raise InputError("not_positive", field="network_gbit_per_s", value=network, expected="more than 0 Gbit/s")
    for field, known in _CHOICES.items():
        choice = getattr(setup, field)
        if choice is not None and choice not in known:
            raise InputError("unknown_choice", field=field, value=choice, expected=", ".join(known))
    if setup.software is not None and (setup.workload.transformer is None or setup.workload.transformer.encoder):
        expected = f"nothing: only decoders are estimated with a choice of software, and {setup.workload.name} is none"
        raise InputError("not_applicable", field="software", value=setup.software, expected=expected)
    if setup.workload.transformer is None:
        _refuse_transformer_settings(setup)
    _check_adapters(setup)
    warnings: list[Warning_] = []
    precision = _precision(setup, warnings)
    _check_batches(setup)
    spec = setup.workload.transformer
    seq_len = None if spec is None else setup.seq_len or spec.seq_len
    if spec is not None and spec.encoder and spec.learned_positions and (seq_len or 0) > spec.learned_positions:
        expected = f"at most {spec.learned_positions}, the positions the model has"
        raise InputError("seq_len_too_long", field="seq_len", value=seq_len, expected=expected)
    return Request(setup=setup, precision=precision, seq_len=seq_len, warnings=tuple(warnings))


def _refuse_transformer_settings(setup: Setup) -> None:
    name = setup.workload.name
    if setup.seq_len is not None:
        expected = f"nothing: {name} has no sequence"
        raise InputError("not_applicable", field="seq_len", value=setup.seq_len, expected=expected)
    if setup.checkpointing not in (None, "none"):
        expected = f"none: recomputation of {name} is not estimated"
        raise InputError("not_applicable", field="checkpointing", value=setup.checkpointing, expected=expected)
    if setup.method != "full":
        expected = f"full: adapters are estimated for language models, and {name} is none"
        raise InputError("not_applicable", field="method", value=setup.method, expected=expected)
    if setup.optimizer is not None:
        expected = f"nothing: the memory of {name} is estimated with its usual optimizer"
        raise InputError("not_applicable", field="optimizer", value=setup.optimizer, expected=expected)


def _check_adapters(setup: Setup) -> None:
    """Refuse settings of adapters without adapters, and a rank that saves nothing over the weights beside them."""
    for field in ("adapter_rank", "adapter_targets"):
        value = getattr(setup, field)
        if value is not None and setup.method == "full":
            expected = "nothing: full training has no adapters; or the method lora or qlora"
            raise InputError("not_applicable", field=field, value=value, expected=expected)
    spec = setup.workload.transformer
    if spec is not None and setup.adapter_rank is not None and setup.adapter_rank > spec.d_model:
        expected = f"at most {spec.d_model}, the width of {setup.workload.name}"
        raise InputError("not_applicable", field="adapter_rank", value=setup.adapter_rank, expected=expected)


def _precision(setup: Setup, warnings: list[Warning_]) -> Precision:
    asked = setup.precision or setup.workload.precision
    if supports(setup.gpu, asked):
        return asked
    if setup.precision is None:
        for other in _REPLACEMENTS[asked]:
            if supports(setup.gpu, other):
                params = {"gpu": setup.gpu.name, "asked": asked, "used": other}
                warnings.append(Warning_(code="precision_replaced", params=params))
                return other
    expected = "one of " + ", ".join(setup.gpu.dense_tflop_per_s)
    raise InputError("precision_not_supported", field="precision", value=asked, expected=expected, gpu=setup.gpu.name)


def _check_batches(setup: Setup) -> None:
    """Refuse a batch with fewer samples than GPUs, and one that GPUs and micro-batch do not divide."""
    gpus, micro = setup.gpus, setup.micro_batch
    recipe = setup.workload.global_batch
    batch = setup.global_batch
    if batch is None:
        if micro is None and recipe < gpus:
            expected = f"at most {recipe}, the samples of a step of {setup.workload.name}; or a larger global batch"
            raise InputError("batch_below_gpus", field="gpus", value=gpus, expected=expected)
        return
    if batch < gpus:
        expected = f"at least {gpus}, one for each GPU"
        raise InputError("batch_below_gpus", field="global_batch", value=batch, expected=expected)
    one_pass = gpus * (micro or 1)
    if batch % one_pass:
        expected = f"a multiple of {one_pass} ({gpus} GPUs x micro-batch {micro or 1})"
        raise InputError("batch_not_divisible", field="global_batch", value=batch, expected=expected)
