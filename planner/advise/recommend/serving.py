"""How many requests GPUs answer: inference follows from the speed of training, the only one the estimator has."""

from __future__ import annotations

from planner.advise.recommend.capacity import need_gb
from planner.advise.recommend.uses import UsesFile
from planner.advise.recommend.work import Work
from planner.catalog.records import Catalog, Gpu
from planner.errors import InputError
from planner.performance.constants import constants_of
from planner.performance.device import usable_bytes
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import Evidence
from planner.units import BYTES_PER_GB


def serving_rate(work: Work, gpu: Gpu, gpus: int, uses: UsesFile, catalog: Catalog, evidence: Evidence) -> float:
    """Peak of requests that GPUs answer with time in hand, in the workload's unit; 0 where the model doesn't fit.

    A forward pass is about a third of a training step. Generation also reads all weights for every token of a batch,
    so the bandwidth bounds it.

    Returns
    -------
    float
        Samples or tokens a second. [1/s]
    """
    group = _gpus_of_a_copy(work, gpu, gpus, uses, catalog)
    if group is None:
        return 0.0
    try:
        training = estimate(Setup(workload=work.workload, gpu=gpu, gpus=1, gpus_per_node=1), catalog, evidence)
    except InputError:
        return 0.0
    inference = uses.inference
    copies = gpus // group
    rate = gpus * inference.speed_over_training.value * training.throughput
    if work.workload.unit == "tokens":
        weights_bytes = inference.bytes_per_parameter.value * work.workload.parameters.value
        bandwidth = gpu.memory_bandwidth_gb_per_s.value * BYTES_PER_GB * inference.decode_bandwidth_share.value * group
        rate = min(rate, copies * inference.decode_batch.value * bandwidth / weights_bytes)
    return rate * inference.load_at_peak.value


def _gpus_of_a_copy(work: Work, gpu: Gpu, gpus: int, uses: UsesFile, catalog: Catalog) -> int | None:
    """Fewest GPUs, a power of two, that hold the model once; None where all of them don't."""
    constants = constants_of(catalog.assumptions)
    capacity_gb = usable_bytes(gpu, constants) / BYTES_PER_GB
    if work.workload.transformer is None:
        return 1
    group = 1
    while group <= gpus:
        if need_gb(work.workload, "inference", gpu, group, constants, uses) <= capacity_gb:
            return group
        group *= 2
    return None
