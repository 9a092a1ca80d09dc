"""Training runs of transformers as columns of numbers, which the step model computes on all at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.catalog.records import TransformerSpec
from planner.performance.device import Device
from planner.performance.scaling import Link
from planner.workload.settings import Checkpointing, Method, Sharding, Software
from planner.workload.transformer import (
    attention_matmul_parameters,
    attention_output_width,
    key_value_width,
    mlp_matrices,
    query_width,
)

Vector = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ADAPTER_RANK = 8  # of LoRA on its usual targets, queries and values


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """How the global batch is cut: `micro_steps` forward and backward passes of `micro_batch` sequences on each GPU."""

    seq_len: int
    micro_batch: float
    micro_steps: float
    checkpointing: Checkpointing
    sharding: Sharding
    fused_attention: bool  # flash attention; else plain matmuls and score matrices
    fused_elementwise: bool  # fused or compiled elementwise kernels; else one eager kernel each
    software: Software = "eager"
    method: Method = "full"
    trainable_parameters: float | None = None  # of adapters; by rule where not said
    shards: int | None = None  # GPUs that share the state; all of the run where not said
    tensor: int = 1
    pipeline: int = 1
    chunks: int = 1  # interleaved in each stage of a pipeline
    context: int = 1  # GPUs that share one sequence
    expert: int = 1  # GPUs over which the experts lie
    head_share: float | None = None  # of the positions that go through the head; None: all, of an encoder none
    generator: bool = False  # a smaller model is trained beside this one (ELECTRA)
    overlapped_tensor: bool = False  # tensor-parallel transfers run beside the matmuls, as in the vendors' code
    unpadded: bool = False  # the software drops the padding that the throughput counts


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInputs:
    """One number a run in each field, all of shape (n,)."""

    # model; widths are those of a token in one layer
    layers: Vector
    d_model: Vector
    heads: Vector
    query: Vector
    key_value: Vector
    attention_output: Vector
    attention_parameters: Vector
    dense_width: Vector  # feed-forward width of the layers without experts and of shared experts, mean of all layers
    routed_width: Vector  # of the experts that a token passes
    routed_stored: Vector  # of all experts
    experts_per_token: Vector
    matrices: Vector  # of a feed-forward block: 2, or 3 when gated
    vocab: Vector
    causal: Mask
    parameters: Vector
    expert_parameters: Vector
    # plan
    seq_len: Vector
    micro_batch: Vector
    micro_steps: Vector
    tensor: Vector
    pipeline: Vector
    chunks: Vector
    context: Vector
    expert: Vector
    replicas: Vector
    shards: Vector
    sharded: Mask
    optimizer_sharded: Mask
    full_recompute: Mask
    selective_recompute: Mask
    fused_attention: Mask
    fused_elementwise: Mask
    compiled: Mask
    vendor: Mask
    overlapped_tensor: Mask
    adapters: Mask
    quantized: Mask
    trainable_parameters: Vector
    head_share: Vector
    generator: Mask
    unpadded: Mask
    # GPU, see Device
    matmul_flop_per_s: Vector
    linear_flop_per_s: Vector
    head_flop_per_s: Vector
    attention_flop_per_s: Vector
    vendor_attention_flop_per_s: Vector
    bandwidth_bytes_per_s: Vector
    element_bytes: Vector
    cache_bytes: Vector
    fp8: Mask
    blackwell: Mask
    volta: Mask
    tensor_cores: Mask
    modern: Mask  # Hopper and later
    # links, see Link
    gpus: Vector
    gpus_per_node: Vector
    nodes: Vector
    switched: Mask
    nvlink_bytes_per_s: Vector
    bus_bytes_per_s: Vector
    fabric_bytes_per_s: Vector
    all_reduce_bytes_per_s: Vector
    latency_s: Vector
    node_latency_s: Vector

    def __len__(self) -> int:
        return len(self.layers)

    def take(self, rows: npt.NDArray[np.int64]) -> StepInputs:
        """The same for some of the runs."""
        return StepInputs(**{name: getattr(self, name)[rows] for name in _NAMES})


_NAMES = tuple(field.name for field in dataclasses.fields(StepInputs))
_MASKS = frozenset(field.name for field in dataclasses.fields(StepInputs) if field.type == "Mask")


def stacked(runs: Sequence[Mapping[str, float]]) -> StepInputs:
    """Columns of runs that `numbers_of` describes."""
    return StepInputs(
        **{name: np.array([run[name] for run in runs], bool if name in _MASKS else float) for name in _NAMES}
    )


def numbers_of(spec: TransformerSpec, parameters: float, plan: StepPlan, device: Device, link: Link) -> dict[str, Any]:
    """One run as numbers."""
    of_replica = plan.tensor * plan.pipeline * plan.context
    replicas = max(1, link.gpus // of_replica)
    shards = plan.shards or (replicas if plan.sharding in ("sharded", "optimizer") else 1)
    return {
        **_model_numbers(spec, parameters),
        **_plan_numbers(spec, plan),
        "replicas": replicas,
        "shards": shards,
        "matmul_flop_per_s": device.head_flop_per_s,
        "linear_flop_per_s": device.matmul_flop_per_s,
        "head_flop_per_s": device.head_flop_per_s,
        "attention_flop_per_s": device.attention_flop_per_s,
        "vendor_attention_flop_per_s": device.vendor_attention_flop_per_s,
        "bandwidth_bytes_per_s": device.bandwidth_bytes_per_s,
        "element_bytes": device.element_bytes,
        "cache_bytes": device.cache_bytes,
        "fp8": device.linear_fp8,
        "blackwell": device.generation == "Blackwell" and device.datacenter,
        "volta": device.generation == "Volta",
        "tensor_cores": device.tensor_cores,
        "modern": device.generation in ("Hopper", "Blackwell"),
        "gpus": link.gpus,
        "gpus_per_node": link.gpus_per_node,
        "nodes": link.nodes,
        "switched": link.overlaps,
        "nvlink_bytes_per_s": link.nvlink_bytes_per_s,
        "bus_bytes_per_s": link.bus_bytes_per_s,
        "fabric_bytes_per_s": link.fabric_bytes_per_s,
        "all_reduce_bytes_per_s": link.node_all_reduce_bytes_per_s,
        "latency_s": link.latency_s,
        "node_latency_s": link.node_latency_s,
    }


def _model_numbers(spec: TransformerSpec, parameters: float) -> dict[str, float]:
    with_experts = (spec.layers - spec.dense_layers) / spec.layers if spec.experts else 0.0
    expert_width = spec.d_ff if spec.expert_d_ff is None else spec.expert_d_ff
    dense = (1 - with_experts) * spec.d_ff + with_experts * spec.shared_d_ff
    stored = with_experts * spec.experts * expert_width
    return {
        "layers": spec.layers,
        "d_model": spec.d_model,
        "heads": spec.heads,
        "query": query_width(spec),
        "key_value": key_value_width(spec),
        "attention_output": attention_output_width(spec),
        "attention_parameters": attention_matmul_parameters(spec),
        "dense_width": dense,
        "routed_width": with_experts * spec.experts_per_token * expert_width,
        "routed_stored": stored,
        "experts_per_token": with_experts * spec.experts_per_token,
        "matrices": mlp_matrices(spec),
        "vocab": spec.vocab,
        "causal": not spec.encoder,
        "parameters": parameters,
        "expert_parameters": min(parameters, spec.layers * mlp_matrices(spec) * spec.d_model * stored),
    }


def _plan_numbers(spec: TransformerSpec, plan: StepPlan) -> dict[str, float]:
    trainable = plan.trainable_parameters
    if trainable is None:
        widths = 2 * spec.d_model + query_width(spec) + key_value_width(spec)
        trainable = float(spec.layers * ADAPTER_RANK * widths)
    return {
        "seq_len": plan.seq_len,
        "micro_batch": plan.micro_batch,
        "micro_steps": plan.micro_steps,
        "tensor": plan.tensor,
        "pipeline": plan.pipeline,
        "chunks": plan.chunks,
        "context": plan.context,
        "expert": plan.expert,
        "sharded": plan.sharding == "sharded",
        "optimizer_sharded": plan.sharding == "optimizer",
        "full_recompute": plan.checkpointing == "full",
        "selective_recompute": plan.checkpointing == "selective",
        "fused_attention": plan.fused_attention,
        "fused_elementwise": plan.fused_elementwise,
        "compiled": plan.software == "compiled",
        "vendor": plan.software == "vendor",
        "overlapped_tensor": plan.overlapped_tensor or plan.software == "vendor",
        "adapters": plan.method != "full",
        "quantized": plan.method == "qlora",
        "trainable_parameters": trainable,
        "head_share": (0.0 if spec.encoder else 1.0) if plan.head_share is None else plan.head_share,
        "generator": plan.generator,
        "unpadded": plan.unpadded,
    }
