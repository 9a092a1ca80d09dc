"""The largest language model that GPUs hold: trained in full, with adapters (LoRA), or only run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.advise.recommend.uses import UsesFile
from planner.catalog.records import Catalog, Gpu, Workload
from planner.performance.constants import Constants, constants_of
from planner.performance.device import supports, usable_bytes
from planner.performance.memory import transformer_need
from planner.units import BYTES_PER_GB
from planner.workload.settings import Sharding
from planner.workload.transformer import key_value_width

Mode = Literal["full", "lora", "inference"]
MODES: tuple[Mode, ...] = ("full", "lora", "inference")
SEQ_LEN = 2048
_ELEMENT_BYTES = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Largest:
    """The largest decoder of the catalog that fits, and about how large a model may be; None where none does."""

    workload: Workload | None
    parameters: float | None


def largest_models(gpu: Gpu, gpus: int, catalog: Catalog, uses: UsesFile) -> Mapping[Mode, Largest]:
    """The largest language models that a machine's GPUs hold together, by mode."""
    constants = constants_of(catalog.assumptions)
    decoders = sorted(
        (w for w in catalog.workloads.values() if w.transformer is not None and not w.transformer.encoder),
        key=lambda workload: (workload.parameters.value, workload.id),
    )
    capacity_gb = usable_bytes(gpu, constants) / BYTES_PER_GB
    found: dict[Mode, Largest] = {}
    for mode in MODES:
        needs_gb = [need_gb(workload, mode, gpu, gpus, constants, uses) for workload in decoders]
        fitting = [at for at, need in enumerate(needs_gb) if need <= capacity_gb]
        if not fitting:
            found[mode] = Largest(workload=None, parameters=None)
            continue
        at = fitting[-1]
        parameters = decoders[at].parameters.value
        if at + 1 < len(decoders) and needs_gb[at + 1] > needs_gb[at]:
            share = (capacity_gb - needs_gb[at]) / (needs_gb[at + 1] - needs_gb[at])
            parameters += share * (decoders[at + 1].parameters.value - parameters)
        found[mode] = Largest(workload=decoders[at], parameters=float(f"{parameters:.2g}"))
    return found


def need_gb(workload: Workload, mode: Mode, gpu: Gpu, gpus: int, constants: Constants, uses: UsesFile) -> float:
    """Peak memory of one GPU with the model spread over all of them, one sequence at a time. [GB]

    Full training keeps 16 bytes a parameter; with adapters the weights are frozen in 16 bits and only the adapters'
    share is trained; running keeps the weights and the keys and values of one sequence.
    """
    spec = workload.transformer
    assert spec is not None
    parameters, seq_len = workload.parameters.value, min(SEQ_LEN, spec.seq_len)
    weights = uses.inference.bytes_per_parameter.value
    if mode == "inference":
        cache = 2 * spec.layers * key_value_width(spec) * _ELEMENT_BYTES * seq_len
        shared = (1 + constants.memory_overhead_share) * (weights * parameters + cache) / gpus
        return shared / BYTES_PER_GB + constants.memory_reserve_gb
    if mode == "lora":
        trained = uses.inference.adapter_share.value * constants.state_bytes_per_parameter
        constants = dataclasses.replace(constants, state_bytes_per_parameter=weights + trained)
    sharding: Sharding = "sharded" if gpus > 1 else "replicated"
    need = transformer_need(
        spec,
        parameters,
        seq_len,
        "full",
        sharding,
        _ELEMENT_BYTES if supports(gpu, "bf16") or supports(gpu, "fp16") else 2 * _ELEMENT_BYTES,
        fused_attention=not spec.encoder,
        fused_elementwise=not spec.encoder,
        constants=constants,
    )
    return float(need.peak_bytes(1, gpus)) / BYTES_PER_GB
