"""Time of one optimizer step of a single transformer run, by part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.catalog.records import TransformerSpec
from planner.performance.constants import Constants
from planner.performance.device import Device
from planner.performance.scaling import Link
from planner.performance.step import step_times
from planner.performance.step_inputs import StepPlan, numbers_of, stacked

__all__ = ["StepPlan", "StepTime", "transformer_step", "transformer_steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Seconds of one optimizer step, by part; `launch_bound` when the host, not the GPU, sets the pace."""

    parts_s: Mapping[str, float]
    launch_bound: bool

    @property
    def total_s(self) -> float:
        """The whole step. [s]"""
        return sum(self.parts_s.values())

    def faster(self, log_offset: float) -> StepTime:
        """The same step with every part shorter by a factor, given as its log."""
        factor = math.exp(-log_offset)
        parts = {name: factor * seconds for name, seconds in self.parts_s.items()}
        return StepTime(parts_s=parts, launch_bound=self.launch_bound)


def transformer_steps(
    spec: TransformerSpec,
    parameters: float,
    plans: Sequence[StepPlan],
    device: Device,
    link: Link,
    constants: Constants,
) -> list[StepTime]:
    """Time of one optimizer step on every GPU of a run under each of several plans.

    Parameters
    ----------
    spec : TransformerSpec
        Shape of the model.
    parameters : float
        Weights of the model, for the optimizer and the gradients. [-]
    plans : sequence of StepPlan
        Batches, layout, recomputation and software.
    device : Device
        Rates of the GPU in the training precision.
    link : Link
        Link of one GPU to the others.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    list of StepTime
        Seconds by part: matmul, attention, elementwise, head, recompute, launch, communication, optimizer, waiting.
    """
    times = step_times(stacked([numbers_of(spec, parameters, plan, device, link) for plan in plans]), constants)
    return [
        StepTime(
            parts_s={name: float(seconds[at]) for name, seconds in times.parts_s.items()},
            launch_bound=bool(times.launch_bound[at]),
        )
        for at in range(len(plans))
    ]


def transformer_step(
    spec: TransformerSpec, parameters: float, plan: StepPlan, device: Device, link: Link, constants: Constants
) -> StepTime:
    """The same for one plan."""
    return transformer_steps(spec, parameters, [plan], device, link, constants)[0]
