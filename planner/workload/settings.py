"""Choices of a training recipe that several layers of the engine name."""

from __future__ import annotations

from typing import Literal

Checkpointing = Literal["none", "selective", "full"]
Sharding = Literal["replicated", "sharded"]
Software = Literal["eager", "compiled", "fused"]
"""What a decoder's training code keeps in memory, flash attention given: eager kernels and a plain loss; compiled
blocks and a plain loss; or fused kernels and a loss that works in place."""

SOFTWARE: tuple[Software, ...] = ("eager", "compiled", "fused")
CHECKPOINTINGS: tuple[Checkpointing, ...] = ("none", "selective", "full")  # ever less memory, ever more time
