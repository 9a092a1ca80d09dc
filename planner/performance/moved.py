"""Moves a prediction by what the user's own rows say of the same software on the same GPU."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

from planner.catalog.source_ids import MEASUREMENTS
from planner.performance.constants import Constants
from planner.performance.evidence import Evidence
from planner.performance.own_offset import MOST_SOURCES, OwnOffset
from planner.performance.prediction import Prediction
from planner.performance.request import Request, Warning_


def moved_by_own_rows(cold: Prediction, request: Request, evidence: Evidence, constants: Constants) -> Prediction:
    """A prediction moved by what the user's own rows say of the same software on the same GPU."""
    own = _offset_for(request, evidence)
    if own is None or cold.layout.sharding == "optimizer":
        return cold
    half_width = math.log(cold.throughput_high / cold.throughput)
    if request.setup.workload.id in own.models:  # of other models the rows show no error
        half_width = own.half_width(half_width, constants.half_width_same_stack)
    factor = math.exp(own.offset)
    throughput = cold.throughput * factor
    code, params = own.words(request.setup.gpu.name)
    return replace(
        cold,
        throughput=throughput,
        throughput_low=throughput * math.exp(-half_width),
        throughput_high=throughput * math.exp(half_width),
        breakdown_s=MappingProxyType({part: seconds / factor for part, seconds in cold.breakdown_s.items()}),
        sources=(*(f"{MEASUREMENTS}{id}" for id in own.ids[:MOST_SOURCES]), *cold.sources),
        warnings=(*cold.warnings, Warning_(code=code, params=params)),
    )


def _offset_for(request: Request, evidence: Evidence) -> OwnOffset | None:
    """Of several software on the GPU that in which the model was measured, else the one with the most rows."""
    setup = request.setup
    if not evidence.offsets or not request.usual_training or setup.software not in (None, setup.workload.software):
        return None
    kind = "vision" if setup.workload.transformer is None else "transformer"
    there = [own for own in evidence.offsets if own.gpu == setup.gpu.id and own.kind == kind]
    return max(there, key=lambda own: (setup.workload.id in own.models, own.rows), default=None)
