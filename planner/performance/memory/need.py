"""Memory of one GPU as a line in the micro-batch, which can be solved for what fits."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from planner.units import Numeric


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNeed:
    """Bytes of one GPU as `fixed + per_sample x micro-batch`, the part of `fixed` that sharding divides apart."""

    state_bytes: float  # weights, gradients, optimizer: divided by the shards
    fixed_bytes: float
    per_sample_bytes: float

    def peak_bytes(self, micro_batch: Numeric, shards: Numeric) -> Numeric:
        """Peak of one GPU. [bytes]"""
        return self.state_bytes / shards + self.fixed_bytes + self.per_sample_bytes * micro_batch

    def largest_micro_batch(self, capacity_bytes: float, shards: int) -> float:
        """Largest micro-batch that fits, below 1 when none does. [samples, not rounded]"""
        return (capacity_bytes - self.state_bytes / shards - self.fixed_bytes) / self.per_sample_bytes

    def smallest_shard_count(self, capacity_bytes: float, micro_batch: float) -> int | None:
        """Fewest GPUs over which the state must be sharded; None when the rest alone is too large."""
        room = capacity_bytes - self.fixed_bytes - self.per_sample_bytes * micro_batch
        return ceil(self.state_bytes / room) if room > 0 else None
