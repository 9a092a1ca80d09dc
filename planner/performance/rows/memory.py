"""Whether a measured row's run fits in memory, for the rules that fill in what the row doesn't say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.performance.constants import Constants
from planner.performance.device import usable_bytes
from planner.performance.memory import MemoryNeed, split_need, transformer_need
from planner.performance.rows.subject import Subject
from planner.workload.settings import Checkpointing

if TYPE_CHECKING:
    from planner.performance.rows.layout import Spread

ADAPTER_WEIGHT_BYTES = {"lora": 2.0, "qlora": 0.6}
ROOM_FOR_WEIGHTS = 0.8  # of the memory, when frozen weights alone decide over a split
MOST_SPLIT = 512


class RowMemory:
    """Memory of one row's run under different settings."""

    most_recompute: Checkpointing = "full"

    def __init__(self, subject: Subject, constants: Constants) -> None:
        self._subject = subject
        self._constants = constants
        self._capacity = usable_bytes(subject.gpu, constants)
        self._element_bytes = 4.0 if subject.precision in ("fp32", "tf32") else 2.0

    def fits(self, spread: Spread, micro_batch: float, checkpointing: Checkpointing) -> bool:
        """Whether the peak of one GPU stays within what the card reports."""
        need = self._need(spread, checkpointing)
        micro = micro_batch / spread.context
        return float(need.peak_bytes(micro, spread.shards)) <= self._capacity

    def largest_micro_batch(self, spread: Spread, checkpointing: Checkpointing, most: float) -> int:
        """Largest power of two that fits and isn't above the local batch; at least 1."""
        need = self._need(spread, checkpointing)
        room = need.largest_micro_batch(self._capacity, spread.shards) * spread.context
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

    def _need(self, spread: Spread, checkpointing: Checkpointing) -> MemoryNeed:
        subject = self._subject
        if spread.tensor * spread.pipeline > 1:
            return split_need(
                subject.spec,
                subject.parameters,
                subject.seq_len,
                checkpointing,
                spread.tensor,
                spread.pipeline,
                spread.chunks,
                self._element_bytes,
                constants=self._constants,
            )
        return transformer_need(
            subject.spec,
            subject.parameters,
            subject.seq_len,
            checkpointing,
            "sharded" if spread.sharding == "sharded" else "replicated",
            self._element_bytes,
            fused_attention=subject.fused_attention,
            fused_elementwise=subject.fused_elementwise,
            fused_loss=subject.stack.elementwise == "fused",
            constants=self._constants,
        )
