"""How far off an estimate may be: the half-width of its 80 % interval by what the evidence holds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.catalog.records import Catalog, Gpu, Precision, VisionSpec
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.performance.evidence import Evidence
from planner.performance.layout import Layout
from planner.performance.request import Warning_

REGIME_SHARE = 0.25  # share of the step above which launches or links, the least certain parts, widen the interval


def estimated_half_width(
    unit: str,
    gpu: Gpu,
    precision: Precision,
    layout: Layout,
    shares: Mapping[str, float],
    catalog: Catalog,
    evidence: Evidence,
    constants: Constants,
    vision: VisionSpec | None = None,
) -> tuple[float, tuple[Warning_, ...]]:
    """Half-width on the log of throughput, and what a reader should know about it.

    Parameters
    ----------
    unit : str
        Unit of throughput: models counted in samples and in tokens have evidence of their own.
    gpu : Gpu
        The GPU that is estimated.
    precision : Precision
        The training precision; of 8 bit no run is in the evidence.
    layout : Layout
        How the run is spread.
    shares : mapping
        Parts of the step over the whole step. [-]
    catalog, evidence, constants
        For the GPUs that the constants were fitted on.
    vision : VisionSpec, optional
        The vision model that is trained.

    Returns
    -------
    float, tuple of Warning_
        The wider, the less of unit, GPU, architecture, vendor, precision and layout was ever measured, and the more of
        the step launches and links take. [-]
    """
    warnings: list[Warning_] = []
    if (unit, gpu.id) in evidence.known_gpus:
        width = constants.half_width_known_gpu
    else:
        width = constants.half_width_new_gpu
        measured = [catalog.gpus[id] for _, id in evidence.known_gpus if id in catalog.gpus]
        if all(other.vendor != gpu.vendor for other in measured):
            width = constants.half_width_new_vendor
            warnings.append(Warning_(code="no_training_evidence", params={"gpu": gpu.name, "of": gpu.vendor}))
        elif all(generation_of(other) != generation_of(gpu) for other in measured):
            width = constants.half_width_new_architecture
            warnings.append(Warning_(code="no_training_evidence", params={"gpu": gpu.name, "of": gpu.architecture}))
    if vision is not None:
        width = max(width, vision_half_width(vision, constants))
    if shares["launch"] + shares["communication"] > REGIME_SHARE:
        width = math.hypot(width, constants.half_width_regime)
    if precision not in evidence.known_precisions:
        width = math.hypot(width, constants.half_width_regime)
    if not layout.is_plain:
        width = math.hypot(width, constants.half_width_layout)
    return width, tuple(warnings)


def vision_half_width(spec: VisionSpec, constants: Constants, *, channels_last: bool = False) -> float:
    """The least half-width on the log of a vision model's throughput, by what is known of its blocks. [-]

    With channels last grouped convolutions may be fast or very slow, and nothing here tells which.
    """
    if spec.patches:
        return constants.half_width_vision_patches
    width = constants.half_width_known_gpu if spec.plain else constants.half_width_vision
    return math.hypot(width, constants.half_width_regime) if channels_last else width
