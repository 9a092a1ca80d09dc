"""What a search for the best mix answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.strategy.kernel import Choice, Evaluation
from planner.strategy.limits import Limit
from planner.strategy.problem import Issue


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingLimit:
    """A limit without which the plan would be cheaper, or a quota that is used up."""

    limit: str  # kind of the limit, or `quota.` and its id
    field: str
    value: float
    of: float
    usd_less: float | None  # present value, without it; None: not looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A type of machine or an offer that the best mix doesn't use, and why."""

    option: str
    kind: Literal["machine", "offer"]
    reason: Issue
    usd_more: float | None  # present value, where it would only be dearer


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One solution that was looked at: its cost, and what the simulation said of it."""

    present_value_usd: float
    deviation: float  # of the kernel's cost from the programme's, over the former
    loads: Mapping[str, float]  # most that could be booked, by type of machine
    late: tuple[str, ...]  # types of machines on which waiting often makes a job late


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """How far one limit alone would have to give way for there to be a plan."""

    limit: Limit
    needed: float  # the least that would do, in the unit of the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The best mix that was found; without a choice there is none, and `problems` say why."""

    choice: Choice | None
    evaluation: Evaluation | None
    gap: float | None  # no plan is cheaper by more than this share, as far as the programme describes plans
    binding: tuple[BindingLimit, ...]
    rejected: tuple[Rejected, ...]
    rounds: tuple[Round, ...]
    timed_out: bool
    same_as: str | None  # the named way that is the same plan
    problems: tuple[Issue, ...]
    relaxations: tuple[Relaxation, ...]
    pruned: int  # candidates left out because another at the same provider is never dearer

    @property
    def present_value_usd(self) -> float:
        """Of the best mix; infinite where there is none."""
        return float("inf") if self.evaluation is None else float(self.evaluation.present_value_usd[0])
