"""Choices of a training recipe that several layers of the engine name."""

from __future__ import annotations

from typing import Literal

Checkpointing = Literal["none", "selective", "full"]
Sharding = Literal["replicated", "sharded", "optimizer"]
"""Whether every GPU holds the whole training state, a shard of all of it, or weights and gradients whole and a shard
of the optimizer."""
Software = Literal["eager", "compiled", "fused", "vendor"]
"""A decoder's training code, flash attention given: eager kernels and a plain loss; compiled blocks and a plain loss;
fused kernels and a loss that works in place; or the GPU vendor's own, such as Megatron-LM with Transformer Engine."""

Method = Literal["full", "lora", "qlora"]
"""Whether all weights are trained, or adapters beside frozen ones in 16 or in 4 bit."""

SOFTWARE: tuple[Software, ...] = ("eager", "compiled", "fused", "vendor")
CHECKPOINTINGS: tuple[Checkpointing, ...] = ("none", "selective", "full")  # ever less memory, ever more time
