"""Peak memory of one GPU: training in full or with adapters, vision models, and inference."""

from planner.performance.memory.inference import InferenceMemory, InferenceSetup, inference_memory, inference_need
from planner.performance.memory.need import MemoryNeed
from planner.performance.memory.peak import PeakMemory, memory_need, peak_memory
from planner.performance.memory.setup import MemorySetup
from planner.performance.memory.usual import activation_bytes_per_token, split_need, transformer_need, vision_need

__all__ = [
    "InferenceMemory",
    "InferenceSetup",
    "MemoryNeed",
    "MemorySetup",
    "PeakMemory",
    "activation_bytes_per_token",
    "inference_memory",
    "inference_need",
    "memory_need",
    "peak_memory",
    "split_need",
    "transformer_need",
    "vision_need",
]
