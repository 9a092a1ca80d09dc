"""The peak of one GPU in training, part by part, and as a line in the micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from planner.performance.constants import Constants
from planner.performance.memory.activations import kept_bytes_per_token, live_bytes_per_token
from planner.performance.memory.logits import cached_logit_bytes_per_token, head_calls, logit_bytes_per_token
from planner.performance.memory.need import MemoryNeed
from planner.performance.memory.setup import MemorySetup, layer_parameters
from planner.performance.memory.states import HALF_BYTES, states_of
from planner.units import BYTES_PER_GB
from planner.workload.transformer import key_value_width, query_width

UNSHARDED_LAYERS = 3.0  # gathered ahead, in use, and being freed
DEQUANTISED_COPIES = 2.0  # of the weight in use: as it comes out, and in the type of the activations

MemoryKind = Literal["allocated", "allocator", "reserved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMemory:
    """Parts of one GPU's memory at the fullest moment, and the line in the micro-batch that they lie on."""

    weights_bytes: float
    gradients_bytes: float
    optimizer_bytes: float
    activations_bytes: float
    logits_bytes: float
    transient_bytes: float  # gathered layers, dequantised or cast weights
    fragmentation_bytes: float  # held by the allocator without being used
    context_bytes: float  # of the driver and the libraries
    need: MemoryNeed  # of `reserved_bytes`

    @property
    def allocated_bytes(self) -> float:
        """What is in use: `torch.cuda.max_memory_allocated`. [bytes]"""
        states = self.weights_bytes + self.gradients_bytes + self.optimizer_bytes
        return states + self.activations_bytes + self.logits_bytes + self.transient_bytes

    @property
    def allocator_bytes(self) -> float:
        """What the allocator has taken: `torch.cuda.max_memory_reserved`. [bytes]"""
        return self.allocated_bytes + self.fragmentation_bytes

    @property
    def reserve_bytes(self) -> float:
        """What isn't in use. [bytes]"""
        return self.fragmentation_bytes + self.context_bytes

    @property
    def reserved_bytes(self) -> float:
        """What the card reports as taken, as in `nvidia-smi`: to be compared with its capacity. [bytes]"""
        return self.allocated_bytes + self.reserve_bytes

    def shown_bytes(self, kind: MemoryKind) -> float:
        """The peak as a tool shows it. [bytes]"""
        return float(getattr(self, f"{kind}_bytes"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBytes:
    """Bytes of one token on the fullest GPU at the fullest moment."""

    activations: float
    logits: float
    cached: float


def token_bytes(setup: MemorySetup, constants: Constants) -> TokenBytes:
    """Bytes of one token at the fullest moment: at the loss, or when the last layer is recomputed just after it.

    Tensor parallelism divides all of it (with sequence parallelism). The first stage of a pipeline keeps as many
    micro-batches as there are stages, so as much as the whole model of one, and more when interleaved; the last stage
    has one and the logits.

    References
    ----------
    .. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models," 2022, sec. 4.2.3,
       arXiv:2205.05198.
    .. [2] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM,"
       2021, sec. 2.2, arXiv:2104.04473.
    """
    kept, live = kept_bytes_per_token(setup, constants), live_bytes_per_token(setup, constants)
    logits, cached = logit_bytes_per_token(setup, constants), cached_logit_bytes_per_token(setup, constants)
    stages = setup.pipeline
    moments = [(kept / stages, logits, cached), (kept / stages + live, 0.0, 0.0)]
    if stages > 1:
        moments.append((kept * (1 + (stages - 1) / (stages * setup.chunks)) + live, 0.0, 0.0))
    fullest = max(moments, key=sum)
    return TokenBytes(
        activations=fullest[0] / setup.tensor, logits=fullest[1] / setup.tensor, cached=fullest[2] / setup.tensor
    )


def transient_bytes(setup: MemorySetup) -> float:
    """Weights that are there in another form for the moment. [bytes]

    Sharded: three layers and the head, gathered in 16 bit. Quantised: the largest matrix, dequantised. Frozen in fp32
    beside 16-bit activations: a 16-bit copy of each weight, since only copies of trained weights are shared, and so of
    the head one for each chunk of the loss.
    """
    spec = setup.spec
    head = 0.0 if spec.encoder else float(spec.d_model * spec.vocab)
    found = 0.0
    if setup.sharding == "sharded":
        found += HALF_BYTES * (UNSHARDED_LAYERS * layer_parameters(setup) + spec.d_model * spec.vocab)
    if setup.quantised:
        widest = max(spec.d_ff, query_width(spec) + 2 * key_value_width(spec)) * spec.d_model
        found += DEQUANTISED_COPIES * HALF_BYTES * max(float(widest), 0.0 if spec.tied_embeddings else head)
    elif setup.method != "full" and setup.frozen_bits > 8 * setup.element_bytes:
        layers = spec.layers / setup.pipeline * layer_parameters(setup)
        found += setup.element_bytes * (layers + head_calls(setup) * head)
    return found / setup.tensor


def memory_need(setup: MemorySetup, constants: Constants) -> MemoryNeed:
    """What the card reports, as a line in the micro-batch; its shards divide what the setup's sharding names."""
    overhead = 1 + constants.memory_overhead_share
    states = states_of(setup)
    token = token_bytes(setup, constants)
    kept = states.kept_bytes(setup.sharding) + transient_bytes(setup)
    return MemoryNeed(
        state_bytes=overhead * states.divided_bytes(setup.sharding),
        fixed_bytes=overhead * kept + constants.memory_reserve_gb * BYTES_PER_GB,
        per_sample_bytes=setup.tokens * (overhead * (token.activations + token.logits) + token.cached),
    )


def peak_memory(setup: MemorySetup, constants: Constants) -> PeakMemory:
    """Peak memory of the fullest GPU of a training run, part by part.

    Parameters
    ----------
    setup : MemorySetup
        The run.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    PeakMemory
        In bytes: what is in use, what the allocator has taken for it, and what the card reports.

    References
    ----------
    .. [1] S. Rajbhandari et al., "ZeRO," 2020, sec. 3.1, arXiv:1910.02054.
    """
    states = states_of(setup).over(setup.sharding, setup.shards)
    token = token_bytes(setup, constants)
    tokens = setup.micro_batch * setup.tokens
    used = PeakMemory(
        weights_bytes=states.weights_bytes,
        gradients_bytes=states.gradients_bytes,
        optimizer_bytes=states.optimizer_bytes,
        activations_bytes=tokens * token.activations,
        logits_bytes=tokens * token.logits,
        transient_bytes=transient_bytes(setup),
        fragmentation_bytes=0.0,
        context_bytes=constants.memory_reserve_gb * BYTES_PER_GB,
        need=memory_need(setup, constants),
    )
    fragmentation = constants.memory_overhead_share * used.allocated_bytes + tokens * token.cached
    return replace(used, fragmentation_bytes=fragmentation)
