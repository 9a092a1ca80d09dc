"""How far off the prediction of a row may be: the half-width of its 80 % interval, by what was measured before."""

from __future__ import annotations

import math
from typing import Literal

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.performance.rows.predict import SpeedPrediction
from planner.performance.stacks import Stack
from planner.performance.uncertainty import REGIME_SHARE

Novelty = Literal["same-stack", "new-gpu", "new-stack", "new-stack-and-gpu"]
_OPEN = ("parallelism by rule", "usual shape")


class Widths:
    """What is known of stacks and GPUs, and the widths that follow.

    Parameters
    ----------
    catalog : Catalog
        For the generations of GPUs.
    stacks : tuple of Stack
        Those with GPUs were measured on these.
    constants : Constants
        The half-widths.
    """

    def __init__(self, catalog: Catalog, stacks: tuple[Stack, ...], constants: Constants) -> None:
        self._constants = constants
        self._gpus = {gpu for stack in stacks for gpu in stack.by_gpu}
        known = [catalog.gpus.get(gpu) or catalog.partial_gpus.get(gpu) for gpu in self._gpus]
        self._generations = {generation_of(gpu) for gpu in known if gpu is not None}
        self._vendors = {gpu.vendor for gpu in known if gpu is not None}

    def novelty(self, prediction: SpeedPrediction) -> Novelty:
        """What of a row's stack and GPU was measured before."""
        subject = prediction.run.subject
        stack = bool(subject.stack.rows)
        if stack and subject.gpu.id in subject.stack.by_gpu:
            return "same-stack"
        if stack:
            return "new-gpu"
        return "new-stack" if subject.gpu.id in self._gpus else "new-stack-and-gpu"

    def half_width(self, prediction: SpeedPrediction) -> float:
        """Half-width on the log of speed: wider for what is new, for guessed settings, links, launches, experts."""
        c, subject = self._constants, prediction.run.subject
        width = {
            "same-stack": c.half_width_same_stack,
            "new-gpu": c.half_width_same_stack_new_gpu,
            "new-stack": c.half_width_known_gpu,
            "new-stack-and-gpu": c.half_width_new_gpu,
        }[self.novelty(prediction)]
        if subject.gpu.vendor not in self._vendors:
            width = c.half_width_new_vendor
        elif generation_of(subject.gpu) not in self._generations:
            width = c.half_width_new_architecture
        if prediction.shares["launch"] + prediction.shares["communication"] > REGIME_SHARE:
            width = math.hypot(width, c.half_width_regime)
        if subject.spec.experts:
            width = math.hypot(width, c.half_width_experts)
        if any(choice.startswith(_OPEN) for choice in subject.choices):
            width = math.hypot(width, c.half_width_open)
        return width
