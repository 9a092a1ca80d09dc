"""How far off the prediction of a row may be: the half-width of its 80 % interval, by what was measured before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.performance.rows.predict import SpeedPrediction
from planner.performance.stacks import Stack
from planner.performance.uncertainty import REGIME_SHARE

Novelty = Literal["same-stack", "new-gpu", "new-stack", "new-stack-and-gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthParts:
    """What makes the interval of one row, on the log of speed."""

    base: float  # by what of its training code and GPU was measured
    more: float  # by what else is uncertain, either way
    unknown_code: bool  # whether the base is for a training code that was never measured, on hardware like that known

    def sides(self, *, slower: float, faster: float) -> tuple[float, float]:
        """Logs by which the speed may be lower and higher, with these factors of the base for unknown code.

        Code that nobody measured is rather slower than the formulas, which know the best there is, than faster.
        """
        below, above = (slower, faster) if self.unknown_code else (1.0, 1.0)
        return math.hypot(below * self.base, self.more), math.hypot(above * self.base, self.more)


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

    def half_widths(self, prediction: SpeedPrediction) -> tuple[float, float]:
        """Logs by which the speed may be lower and higher."""
        parts, c = self.parts(prediction), self._constants
        return parts.sides(slower=c.unknown_code_slower, faster=c.unknown_code_faster)

    def parts(self, prediction: SpeedPrediction) -> WidthParts:
        """What makes the interval: wider for what is new, for guessed settings, links, launches, experts."""
        c, subject, novelty = self._constants, prediction.run.subject, self.novelty(prediction)
        base = {
            "same-stack": c.half_width_same_stack,
            "new-gpu": c.half_width_same_stack_new_gpu,
            "new-stack": c.half_width_known_gpu,
            "new-stack-and-gpu": c.half_width_new_gpu,
        }[novelty]
        unknown_code = novelty in ("new-stack", "new-stack-and-gpu")
        if subject.gpu.vendor not in self._vendors:
            base, unknown_code = c.half_width_new_vendor, False
        elif generation_of(subject.gpu) not in self._generations:
            base, unknown_code = c.half_width_new_architecture, False
        more = 0.0
        if prediction.shares["launch"] + prediction.shares["communication"] > REGIME_SHARE:
            more = math.hypot(more, c.half_width_regime)
        if subject.spec.experts:
            more = math.hypot(more, c.half_width_experts)
        if any(choice.startswith(_OPEN) for choice in subject.choices):
            more = math.hypot(more, c.half_width_open)
        return WidthParts(base=base, more=more, unknown_code=unknown_code)
