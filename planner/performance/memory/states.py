"""Weights, gradients and optimizer states: bytes a parameter by recipe, and how sharding divides them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType

from planner.performance.memory.setup import (
    MemorySetup,
    StateSharding,
    adapter_parameters,
    embedding_parameters,
    held_parameters,
    layer_parameters,
)
from planner.units import BITS_PER_BYTE
from planner.workload.settings import Optimizer

HALF_BYTES = 2.0  # of a 16-bit number
QUANTISED_BLOCK = 64  # weights that share a scale in 4 bit
SCALE_BYTES = 4.0
DOUBLE_BLOCK = 256  # scales that share a scale of their own, when doubly quantised to a byte


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Bytes kept for each trained parameter."""

    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float  # moments, and fp32 master weights where there are any

    @property
    def total_bytes(self) -> float:
        """Bytes of a parameter with nothing sharded."""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes


RECIPES: Mapping[Optimizer, Recipe] = MappingProxyType(
    {
        # Rajbhandari et al., "ZeRO", sec. 3.1, arXiv:1910.02054; PyTorch FSDP shards the same sum as 4 + 4 + 8
        "adamw-16": Recipe(weight_bytes=2, gradient_bytes=2, optimizer_bytes=12),
        # Megatron-LM, distributed optimizer: fp32 gradients, so 6 bytes kept and 12 shared
        "adamw-18": Recipe(weight_bytes=2, gradient_bytes=4, optimizer_bytes=12),
        # Dettmers et al., "QLoRA", abstract, arXiv:2305.14314: 65B in 16 bit needs 780 GB, so no master weights
        "adamw-12": Recipe(weight_bytes=2, gradient_bytes=2, optimizer_bytes=8),
        "adamw-fp32": Recipe(weight_bytes=4, gradient_bytes=4, optimizer_bytes=8),
        "adamw-pure-16bit": Recipe(weight_bytes=2, gradient_bytes=2, optimizer_bytes=4),
        # Dettmers et al., "8-bit Optimizers via Block-wise Quantization", arXiv:2110.02861, beside fp32 master weights
        "adamw-8bit": Recipe(weight_bytes=2, gradient_bytes=2, optimizer_bytes=6),
        "sgd-momentum": Recipe(weight_bytes=2, gradient_bytes=2, optimizer_bytes=8),
    }
)

_DIVIDED: Mapping[StateSharding, tuple[str, ...]] = MappingProxyType(
    {
        "replicated": (),
        "optimizer": ("optimizer_bytes",),
        "gradients": ("gradients_bytes", "optimizer_bytes"),
        "sharded": ("weights_bytes", "gradients_bytes", "optimizer_bytes"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """State of the fullest GPU before the replicas divide it."""

    weights_bytes: float
    gradients_bytes: float
    optimizer_bytes: float

    def divided_bytes(self, sharding: StateSharding) -> float:
        """The part that the replicas divide. [bytes]"""
        return sum(float(getattr(self, part)) for part in _DIVIDED[sharding])

    def kept_bytes(self, sharding: StateSharding) -> float:
        """The part that every replica holds. [bytes]"""
        return self.weights_bytes + self.gradients_bytes + self.optimizer_bytes - self.divided_bytes(sharding)

    def over(self, sharding: StateSharding, shards: int) -> States:
        """What is left of each part on one of the replicas."""
        left = {
            part: getattr(self, part) / (shards if part in _DIVIDED[sharding] else 1) for part in _DIVIDED["sharded"]
        }
        return States(**left)


def recipe_of(setup: MemorySetup) -> Recipe:
    """Bytes of the optimizer, by default 16-bit mixed precision with Adam."""
    return RECIPES[optimizer_of(setup)]


def optimizer_of(setup: MemorySetup) -> Optimizer:
    """The optimizer's recipe as asked, else by the precision."""
    return setup.optimizer or ("adamw-16" if setup.element_bytes <= HALF_BYTES else "adamw-fp32")


def quantised_bytes(bits: int, *, double_quantised: bool) -> float:
    """Bytes of a weight with its share of the scales.

    Parameters
    ----------
    bits : int
        4 with a fp32 scale for each 64 weights, 8 with a negligible scale for each row, 16 or 32 without. [-]
    double_quantised : bool
        The scales of 4-bit weights are in 8 bit, with a fp32 scale for each 256 of them.

    References
    ----------
    .. [1] T. Dettmers et al., "QLoRA," 2023, sec. 3, arXiv:2305.14314.

    Examples
    --------
    >>> quantised_bytes(4, double_quantised=False), round(8 * quantised_bytes(4, double_quantised=True), 3)
    (0.5625, 4.127)
    """
    weight = bits / BITS_PER_BYTE
    if bits != 4:
        return weight
    if double_quantised:
        return weight + (1 + SCALE_BYTES / DOUBLE_BLOCK) / QUANTISED_BLOCK
    return weight + SCALE_BYTES / QUANTISED_BLOCK


def parameters_of_gpu(setup: MemorySetup) -> float:
    """Weights of the fullest GPU: of a pipeline the stage that also has the embeddings; a slice of each layer. [-]"""
    held = held_parameters(setup)
    if setup.pipeline > 1:
        layers = ceil(setup.spec.layers / setup.pipeline)
        held = min(held, layers * layer_parameters(setup) + setup.spec.d_model * setup.spec.vocab)
    return held / setup.tensor


def states_of(setup: MemorySetup) -> States:
    """State of the fullest GPU before the replicas divide it."""
    recipe = recipe_of(setup)
    held = parameters_of_gpu(setup)
    if setup.method == "full":
        return States(
            weights_bytes=recipe.weight_bytes * held,
            gradients_bytes=recipe.gradient_bytes * held,
            optimizer_bytes=recipe.optimizer_bytes * held,
        )
    trained = adapter_parameters(setup) / (setup.tensor * setup.pipeline)
    return States(
        weights_bytes=_frozen_bytes(setup, held) + recipe.weight_bytes * trained,
        gradients_bytes=recipe.gradient_bytes * trained,
        optimizer_bytes=recipe.optimizer_bytes * trained,
    )


def _frozen_bytes(setup: MemorySetup, held: float) -> float:
    """Frozen weights: the linear layers in their bits, embeddings in no fewer than 16. [bytes]"""
    weight_bytes = quantised_bytes(setup.frozen_bits, double_quantised=setup.double_quantised)
    tables = min(embedding_parameters(setup.spec) / setup.tensor, held)
    return weight_bytes * (held - tables) + max(weight_bytes, HALF_BYTES) * tables
