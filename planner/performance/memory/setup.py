"""What decides the memory of a training run: the model, the method, the precision, the software and the layout."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from planner.catalog.records import TransformerSpec
from planner.errors import InputError
from planner.workload.settings import AdapterTargets, Method, Optimizer, Software
from planner.workload.transformer import key_value_width, layer_matmul_parameters, mlp_matrices, query_width

StateSharding = Literal["replicated", "optimizer", "gradients", "sharded"]
"""What the replicas divide among them: nothing, the optimizer (ZeRO-1), also gradients (ZeRO-2), or all (ZeRO-3)."""
Recomputation = Literal["none", "selective", "selective-per-op", "full"]
"""What is recomputed instead of kept; `selective-per-op` is another name of `selective`."""
LossKind = Literal["plain", "fused", "chunked"]

WEIGHT_BITS = (4, 8, 16, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySetup:
    """A training run of a transformer, as far as one GPU's memory depends on it.

    `shards` counts the replicas that divide what `sharding` names; it has no effect on what is replicated. Frozen
    weights are in 16 bit, or 4 with QLoRA, where `weight_bits` doesn't say.
    """

    spec: TransformerSpec
    parameters: float  # all of them, also where only some are active or trained
    seq_len: int
    micro_batch: float = 1
    element_bytes: float = 2.0  # of an activation
    method: Method = "full"
    trainable_parameters: float | None = None  # of adapters; None: by rank and targets
    adapter_rank: int = 8
    adapter_targets: AdapterTargets = "q_v"
    weight_bits: int | None = None
    double_quantised: bool = False  # the scales of 4-bit weights are themselves quantised
    optimizer: Optimizer | None = None  # None: adamw-16, in fp32 adamw-fp32
    sharding: StateSharding = "replicated"
    shards: int = 1
    tensor: int = 1
    pipeline: int = 1
    chunks: int = 1  # model chunks of a pipeline stage, when interleaved
    context: int = 1
    expert: int = 1
    expert_parameters: float = 0.0  # of `parameters`, those that expert parallelism divides
    checkpointing: Recomputation = "none"
    software: Software = "eager"
    fused_attention: bool = True
    loss_kind: LossKind | None = None  # None: fused with fused or the vendor's software, else plain

    def __post_init__(self) -> None:
        for field, known in _CHOICES.items():
            choice = getattr(self, field)
            if choice is not None and choice not in known:
                raise InputError("unknown_choice", field=field, value=choice, expected=", ".join(map(str, known)))
        for field in _COUNTS:
            value = getattr(self, field)
            if not value >= 1:
                raise InputError("not_at_least_one", field=field, value=value, expected="a whole number from 1")
        if self.method == "full" and self.weight_bits is not None:
            expected = "nothing: the optimizer's recipe says how trained weights are kept"
            raise InputError("not_applicable", field="weight_bits", value=self.weight_bits, expected=expected)

    @property
    def tokens(self) -> float:
        """Tokens of a sequence that one GPU holds under context parallelism. [tokens]"""
        return self.seq_len / self.context

    @property
    def frozen_bits(self) -> int:
        """Bits of a frozen weight, scales left out."""
        return self.weight_bits or (4 if self.method == "qlora" else 16)

    @property
    def quantised(self) -> bool:
        """Whether the linear layers are kept in fewer than 16 bits."""
        return self.method != "full" and self.frozen_bits < 16

    @property
    def loss(self) -> LossKind:
        """How the loss is computed."""
        return self.loss_kind or ("fused" if self.software in ("fused", "vendor") else "plain")


_CHOICES: dict[str, Collection[object]] = {
    "method": get_args(Method),
    "adapter_targets": get_args(AdapterTargets),
    "weight_bits": WEIGHT_BITS,
    "optimizer": get_args(Optimizer),
    "sharding": get_args(StateSharding),
    "checkpointing": get_args(Recomputation),
    "software": get_args(Software),
    "loss_kind": get_args(LossKind),
}
_COUNTS = ("parameters", "seq_len", "adapter_rank", "shards", "tensor", "pipeline", "chunks", "context", "expert")


def adapter_parameters(setup: MemorySetup) -> float:
    """Trained parameters of low-rank adapters: rank x (inputs + outputs) of each linear layer that has one. [-]"""
    if setup.trainable_parameters is not None:
        return setup.trainable_parameters
    spec = setup.spec
    d, q, kv = spec.d_model, query_width(spec), key_value_width(spec)
    widths = 2 * d + q + kv
    if setup.adapter_targets != "q_v":
        widths += 2 * d + q + kv
    if setup.adapter_targets == "all":
        widths += mlp_matrices(spec) * (d + spec.d_ff)
    return float(setup.adapter_rank * spec.layers * widths)


def embedding_parameters(spec: TransformerSpec) -> float:
    """Token and position tables, which stay in 16 bit when linear layers are quantised. [-]"""
    return float(spec.d_model * (spec.vocab + spec.learned_positions))


def layer_parameters(setup: MemorySetup) -> float:
    """Weights of one layer: of all experts that this GPU holds. [-]"""
    if not setup.expert_parameters:
        return layer_matmul_parameters(setup.spec)
    head = 0.0 if setup.spec.tied_embeddings or setup.spec.encoder else float(setup.spec.d_model * setup.spec.vocab)
    return (held_parameters(setup) - embedding_parameters(setup.spec) - head) / setup.spec.layers


def held_parameters(setup: MemorySetup) -> float:
    """Weights that a GPU would hold without tensor or pipeline parallelism. [-]"""
    return setup.parameters - setup.expert_parameters * (1 - 1 / setup.expert)
