"""Memory of a language model that only answers: weights, the cache of keys and values, and the pass at work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.catalog.records import TransformerSpec
from planner.errors import InputError
from planner.performance.constants import Constants
from planner.performance.memory.need import MemoryNeed
from planner.performance.memory.setup import WEIGHT_BITS, embedding_parameters
from planner.performance.memory.states import HALF_BYTES, quantised_bytes
from planner.units import BYTES_PER_GB
from planner.workload.transformer import key_value_width, mlp_matrices, query_width

PASS_TOKENS = 2048  # of prompts that servers take in one pass; longer ones are cut
LOGIT_BYTES = 4.0  # of the token to be drawn, in fp32


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceSetup:
    """A model that serves `sequences` at a time, each of up to `context` tokens, its layers split over `gpus`."""

    spec: TransformerSpec
    parameters: float
    context: int
    sequences: float = 1
    weight_bits: int = 16
    double_quantised: bool = False
    cache_bytes: float = 2.0  # of a key or value
    gpus: int = 1

    def __post_init__(self) -> None:
        if self.weight_bits not in WEIGHT_BITS:
            expected = ", ".join(map(str, WEIGHT_BITS))
            raise InputError("unknown_choice", field="weight_bits", value=self.weight_bits, expected=expected)
        for field in ("parameters", "context", "gpus"):
            if not getattr(self, field) >= 1:
                expected = "a whole number from 1"
                raise InputError("not_at_least_one", field=field, value=getattr(self, field), expected=expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceMemory:
    """Parts of one GPU's memory."""

    weights_bytes: float
    cache_bytes: float
    activations_bytes: float
    reserve_bytes: float

    @property
    def reserved_bytes(self) -> float:
        """What the card reports as taken. [bytes]"""
        return self.weights_bytes + self.cache_bytes + self.activations_bytes + self.reserve_bytes


def cache_bytes_per_token(spec: TransformerSpec, element_bytes: float = 2.0) -> float:
    """Keys and values of one token in all layers. [bytes]

    Examples
    --------
    >>> llama_7b = TransformerSpec(layers=32, d_model=4096, heads=32, kv_heads=32, d_ff=11008, gated_mlp=True,
    ...     vocab=32000, seq_len=2048, encoder=False, tied_embeddings=False)
    >>> cache_bytes_per_token(llama_7b)
    524288.0
    """
    return 2 * spec.layers * key_value_width(spec) * element_bytes


def inference_memory(setup: InferenceSetup, constants: Constants) -> InferenceMemory:
    """Memory of each GPU that serves a model.

    Quantised models keep their embeddings in 16 bit. The reserve is the share for fragmentation and the context.
    """
    spec, gpus = setup.spec, setup.gpus
    weight_bytes = quantised_bytes(setup.weight_bits, double_quantised=setup.double_quantised)
    tables = embedding_parameters(spec) if setup.weight_bits < 16 else 0.0
    weights = (weight_bytes * (setup.parameters - tables) + HALF_BYTES * tables) / gpus
    cache = setup.sequences * setup.context * cache_bytes_per_token(spec, setup.cache_bytes) / gpus
    activations = _pass_bytes(setup)
    reserve = constants.memory_overhead_share * (weights + cache + activations)
    return InferenceMemory(
        weights_bytes=weights,
        cache_bytes=cache,
        activations_bytes=activations,
        reserve_bytes=reserve + constants.memory_reserve_gb * BYTES_PER_GB,
    )


def _pass_bytes(setup: InferenceSetup) -> float:
    """Values at work in one layer of a pass over prompts, and the scores of the tokens to be drawn. [bytes]"""
    spec = setup.spec
    attention = query_width(spec) + 2 * key_value_width(spec) + spec.d_model
    widest = max(attention, mlp_matrices(spec) * spec.d_ff) / setup.gpus
    tokens = min(PASS_TOKENS, setup.context)
    return HALF_BYTES * tokens * (2 * spec.d_model + widest) + LOGIT_BYTES * spec.vocab * setup.sequences


def inference_need(setup: InferenceSetup, constants: Constants) -> MemoryNeed:
    """Memory of each GPU as a line in the sequences served at a time.

    The weights stand under `state_bytes` with the GPUs of the setup already divided out, so solve it with one shard.
    """
    without = inference_memory(replace(setup, sequences=0.0), constants)
    one = inference_memory(replace(setup, sequences=1.0), constants)
    state = (1 + constants.memory_overhead_share) * without.weights_bytes
    return MemoryNeed(
        state_bytes=state,
        fixed_bytes=without.reserved_bytes - state,
        per_sample_bytes=one.reserved_bytes - without.reserved_bytes,
    )
