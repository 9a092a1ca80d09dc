"""A resolved training job as the planner sees any job."""

from __future__ import annotations

from dataclasses import dataclass

from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.units import S_PER_H
from planner.workload.job import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDemand:
    """One job of a problem under one row of parameter values."""

    problem: PlanProblem
    theta: Theta
    index: int

    @property
    def id(self) -> str:
        """Name of the job."""
        return self.problem.jobs[self.index].id

    @property
    def profile(self) -> Profile:
        """Training comes as runs."""
        return "runs"

    @property
    def deadline_h(self) -> float | None:
        """Longest time from the start of an attempt to its end. [h]"""
        return self.problem.jobs[self.index].deadline_h

    def pair(self, resource: str) -> Pair:
        """The candidate pair of the job and a resource.

        Raises
        ------
        KeyError
            When the problem has no such resource.
        """
        for pair in self.problem.pairs:
            if pair.job == self.index and pair.resource == resource:
                return pair
        raise KeyError(resource)

    def min_gpus(self, resource: str) -> int:
        """GPUs that one run takes on a resource."""
        return self.pair(resource).gpus

    def gpu_hours(self, resource: str) -> float:
        """GPU-hours of work in a mean month if all runs, with their attempts, ran on a resource. [h]"""
        pair, job = self.pair(resource), self.problem.jobs[self.index]
        attempts = float(self.theta[0, job.runs_per_month_at] * self.theta[0, job.attempts_per_run_at])
        return pair.work / float(self.theta[0, pair.throughput_at]) / S_PER_H * pair.gpus * attempts * job.mean_factor
