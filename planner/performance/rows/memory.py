"""Whether a measured row's run fits in memory, for the rules that fill in what the row doesn't say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.performance.constants import Constants
from planner.performance.device import usable_bytes
from planner.performance.memory import MemoryNeed, MemorySetup, memory_need
from planner.performance.rows.subject import Subject
from planner.workload.settings import Checkpointing

if TYPE_CHECKING:
    from planner.performance.rows.layout import Spread

ROOM_FOR_WEIGHTS = 0.8  # of the memory, when frozen weights alone decide over a split
MOST_SPLIT = 512


class RowMemory:
    """Memory of one row's run under different settings."""

    most_recompute: Checkpointing = "full"

    def __init__(self, subject: Subject, constants: Constants) -> None:
        self._subject = subject
        self._constants = constants
        self._capacity = usable_bytes(subject.gpu, constants)

    def fits(self, spread: Spread, micro_batch: float, checkpointing: Checkpointing) -> bool:
        """Whether the peak of one GPU stays within what the card reports."""
        need = self.need(spread, checkpointing)
        return float(need.peak_bytes(micro_batch, spread.shards)) <= self._capacity

    def largest_micro_batch(self, spread: Spread, checkpointing: Checkpointing, most: float) -> int:
        """Largest power of two that fits and isn't above the local batch; at least 1."""
        need = self.need(spread, checkpointing)
        room = need.largest_micro_batch(self._capacity, spread.shards)
        found = 1
        while 2 * found <= min(room, most):
            found *= 2
        return found

    def least_split(self, gpus: int) -> int:
        """Fewest GPUs over which the weights, their gradients and the sharded optimizer fit with some activations."""
        split = 1
        while split < min(gpus, MOST_SPLIT):
            replicas = max(1, gpus // split)
            state = self._subject.parameters / split * (6.0 + 12.0 / replicas)
            if state <= ROOM_FOR_WEIGHTS * self._capacity and gpus % split == 0:
                break
            split *= 2
        return split

    def least_adapter_split(self, gpus: int) -> int:
        """Smallest power of two of GPUs that hold the frozen 16-bit weights."""
        split = 1
        while split < gpus and 2.0 * self._subject.parameters / split > ROOM_FOR_WEIGHTS * self._capacity:
            split *= 2
        return min(split, gpus)

    def need(self, spread: Spread, checkpointing: Checkpointing) -> MemoryNeed:
        """Memory of one GPU under a layout, as a line in the micro-batch."""
        subject = self._subject
        setup = MemorySetup(
            spec=subject.spec,
            parameters=subject.parameters,
            seq_len=subject.seq_len,
            element_bytes=subject.element_bytes,
            method=subject.method,
            sharding=spread.sharding,
            shards=spread.shards,
            tensor=spread.tensor,
            pipeline=spread.pipeline,
            chunks=spread.chunks,
            context=spread.context,
            expert=spread.expert,
            checkpointing=checkpointing,
            software="fused" if subject.fused_elementwise and subject.software == "eager" else subject.software,
            fused_attention=subject.fused_attention,
        )
        return memory_need(setup, self._constants)
