"""What takes the memory of one GPU in a run that was estimated, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from planner.performance.constants import Constants
from planner.performance.estimate import Prediction, Setup
from planner.performance.fitting import layout_need, memory_setup
from planner.performance.memory import peak_memory
from planner.performance.request import resolve_request
from planner.units import BYTES_PER_GB

Part = Literal["weights", "gradients", "optimizer", "states", "activations", "logits", "gathered", "runtime"]
"""`states` are weights, gradients and momentum together, of image models; `gathered` are weights kept in another form
for the moment; `runtime` is what driver, libraries and allocator hold."""
PARTS: tuple[Part, ...] = get_args(Part)


def memory_parts(setup: Setup, prediction: Prediction, constants: Constants) -> Mapping[Part, float]:
    """Peak memory of the fullest GPU by part.

    Parameters
    ----------
    setup, prediction : Setup, Prediction
        What was asked, and what the estimator says.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    mapping of str to float
        Parts that are not nothing, in the order in which they are stacked; their sum is the memory of the prediction.
        Where a run is known to have fitted into less than the formulas say, all parts are smaller by the same factor.
        [GB]
    """
    request = resolve_request(setup)
    if setup.workload.transformer is None:
        need = layout_need(request, prediction.checkpointing, prediction.layout, constants)
        found: dict[Part, float] = {
            "states": need.state_bytes / prediction.layout.shards,
            "activations": need.per_sample_bytes * prediction.micro_batch,
            "runtime": need.fixed_bytes,
        }
    else:
        peak = peak_memory(
            memory_setup(request, prediction.checkpointing, prediction.layout, prediction.micro_batch), constants
        )
        found = {
            "weights": peak.weights_bytes,
            "gradients": peak.gradients_bytes,
            "optimizer": peak.optimizer_bytes,
            "activations": peak.activations_bytes,
            "logits": peak.logits_bytes,
            "gathered": peak.transient_bytes,
            "runtime": peak.reserve_bytes,
        }
    scale = prediction.memory_gb * BYTES_PER_GB / sum(found.values())
    return MappingProxyType({part: size / BYTES_PER_GB * scale for part, size in found.items() if size > 0})
