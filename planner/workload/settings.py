"""Choices of a training recipe that several layers of the engine name."""

from __future__ import annotations

from typing import Literal

Checkpointing = Literal["none", "selective", "full"]
Sharding = Literal["replicated", "sharded"]

CHECKPOINTINGS: tuple[Checkpointing, ...] = ("none", "selective", "full")  # ever less memory, ever more time
