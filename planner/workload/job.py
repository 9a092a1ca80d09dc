"""What the planner needs of a job, whatever it computes, so that other kinds can join."""

from __future__ import annotations

from typing import Literal, Protocol

Profile = Literal["runs"]
"""How the work comes: `runs` start, end and may be repeated. Steady work (serving) is to join here."""

Arrivals = Literal["even", "office_hours"]
"""When runs are submitted: at any hour, or from 9 to 17 on five days a week."""


class PlannedJob(Protocol):
    """A job as strategies see it."""

    @property
    def id(self) -> str:
        """Name of the job."""
        ...

    @property
    def profile(self) -> Profile:
        """How the work comes."""
        ...

    @property
    def deadline_h(self) -> float | None:
        """Longest time from the start of an attempt to its end; None for no limit. [h]"""
        ...

    def min_gpus(self, resource: str) -> int:
        """GPUs that one run takes on a resource, at least."""
        ...

    def gpu_hours(self, resource: str) -> float:
        """GPU-hours of work a month if all of it ran on a resource, without start-up and waiting. [h]"""
        ...
