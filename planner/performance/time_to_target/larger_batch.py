"""Workloads whose target was published: how many more samples a larger batch needs to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from planner.performance.time_to_target.targets import load_targets

TARGET_OF: Mapping[str, str] = MappingProxyType({"resnet50-imagenet": "resnet"})
"""Benchmarks by workloads of the same model, data and training. That of BERT is pretraining, of LoRA other data."""


def samples_factor(workload_id: str, batch: float) -> float:
    """How many times the fewest samples a batch needs to the same quality; 1 where it isn't known to need more. [-]

    Parameters
    ----------
    workload_id : str
        A workload of the catalog.
    batch : float
        Samples of a step of all GPUs together. [-]

    Notes
    -----
    The batch law of the benchmark, from the batch on at which it is least; smaller ones are taken to need no more.
    """
    benchmark = TARGET_OF.get(workload_id)
    if benchmark is None:
        return 1.0
    law = load_targets()[benchmark].law
    least = -law.slope / (2 * law.curvature)
    x = math.log(batch / law.reference_batch)
    return math.exp(law.curvature * max(x - least, 0.0) ** 2)
