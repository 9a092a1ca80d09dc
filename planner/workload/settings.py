"""Choices of a training recipe that several layers of the engine name."""

from __future__ import annotations

from typing import Literal, get_args

Checkpointing = Literal["none", "selective", "full"]
Sharding = Literal["replicated", "sharded", "optimizer"]
"""Whether every GPU holds the whole training state, a shard of all of it, or weights and gradients whole and a shard
of the optimizer."""
Software = Literal["eager", "compiled", "fused", "vendor"]
"""A decoder's training code, flash attention given: eager kernels and a plain loss; compiled blocks and a plain loss;
fused kernels and a loss that works in place; or the GPU vendor's own, such as Megatron-LM with Transformer Engine."""

Method = Literal["full", "lora", "qlora"]
"""All weights are trained; or low-rank adapters beside frozen weights; or beside frozen weights in few bits."""
Optimizer = Literal["adamw-16", "adamw-18", "adamw-12", "adamw-fp32", "adamw-pure-16bit", "adamw-8bit", "sgd-momentum"]
"""Recipe of what is kept for a trained parameter; its bytes stand in `planner/performance/memory/states.py`."""
AdapterTargets = Literal["q_v", "attention", "all"]
"""Linear layers that have an adapter: queries and values, all of the attention, or those of both blocks."""

SOFTWARE: tuple[Software, ...] = ("eager", "compiled", "fused", "vendor")
CHECKPOINTINGS: tuple[Checkpointing, ...] = ("none", "selective", "full")  # ever less memory, ever more time
METHODS: tuple[Method, ...] = ("full", "lora", "qlora")
OPTIMIZERS: tuple[Optimizer, ...] = get_args(Optimizer)
ADAPTER_TARGETS: tuple[AdapterTargets, ...] = ("q_v", "attention", "all")
