"""How much of the machines' hours may be booked: what waiting allows, found by simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.strategy.kernel import Choice, Evaluation
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.start_waits import OFTEN_LATE
from planner.strategy.waiting import machine_waiting

TIGHTER = 0.85
"""What is left of a load at which jobs were often late, for the next round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeLoad:
    """The most of a type's hours that may be booked: more machines take turns better, so they may be fuller."""

    target: float
    crowded: tuple[tuple[int, float], ...] = ()  # of up to so many machines only so much

    def of(self, count: float) -> float:
        """For so many machines."""
        return min([self.target, *(load for most, load in self.crowded if count <= most)])

    @property
    def steps(self) -> tuple[int, ...]:
        """Numbers of machines, one more than which may be fuller."""
        return tuple(sorted({most for most, _ in self.crowded if self.of(most) < self.of(most + 1)}))

    def below(self, count: int, load: float) -> SafeLoad:
        """The next to try, where so many machines were too full at a load."""
        return replace(self, crowded=(*self.crowded, (count, min(self.of(count), load) * TIGHTER)))


def targets(problem: PlanProblem, theta: Theta) -> dict[int, SafeLoad]:
    """Loads to begin with: the target utilisation of each type."""
    return {
        at: SafeLoad(target=float(theta[0, machine.target_utilisation_at]))
        for at, machine in enumerate(problem.machines)
    }


def late_machines(problem: PlanProblem, theta: Theta, choice: Choice) -> list[int]:
    """Types of machines on which waiting makes more than a tenth of a job's attempts late.

    Only those with a job that has a limit are simulated. Machines that are too many to simulate aren't late.
    """
    limited = {
        pair.machine
        for index, pair in enumerate(problem.pairs)
        if pair.machine is not None and choice.routing[0, index] > 0 and problem.jobs[pair.job].deadline_h is not None
    }
    if not limited:
        return []
    found = machine_waiting(problem, theta, choice, only=limited)
    names = {machine.id: at for at, machine in enumerate(problem.machines)}
    return [
        names[entry.machine]
        for entry in found
        if any((job.late_share or 0.0) > OFTEN_LATE for job in entry.waiting.jobs)
    ]


def tightened(loads: dict[int, SafeLoad], evaluation: Evaluation, late: list[int]) -> dict[int, SafeLoad]:
    """Loads for the next round: a step below what was late, for that number of machines and fewer."""
    return {
        at: load.below(round(float(evaluation.machine_count[0, at])), float(np.max(evaluation.load[0, at])))
        if at in late
        else load
        for at, load in loads.items()
    }
