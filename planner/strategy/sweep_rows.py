"""Rows of a sweep: what each strategy comes to under many rows of parameter values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cost.course import Array
from planner.messages import render
from planner.strategy.allocate import AllocatedRows, allocate_rows, choice_problems, choice_within
from planner.strategy.candidates import KINDS, Candidates, Kind
from planner.strategy.compare import recommend
from planner.strategy.kernel import Choice, kernel
from planner.strategy.meanwhile import taken
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.sessions import turnaround_h
from planner.strategy.start_options import OwnedOption, WayTotal, cheapest

Kept = Mapping[Kind, Choice | tuple[Issue, ...]]
"""Choices that are kept at all points, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowestPlace:
    """Where attempts of a job take longest: how long without waiting for machines, and how fast they run there."""

    turnaround_h: float
    throughput_per_s: float  # tokens or samples


@dataclass(frozen=True, slots=True, kw_only=True)
class WayPoint:
    """A strategy at a point; figures are None, and mappings empty, where some job can't run at all."""

    id: Kind
    feasible: bool
    problem: str  # the first of its problems; empty where it is feasible
    present_value_usd: float
    tco_usd: float
    capex_usd: float | None
    kwh: float | None
    kg_co2e: float | None
    machine_count: Mapping[str, int]
    slowest: Mapping[str, SlowestPlace]

    @property
    def planned(self) -> bool:
        """Whether there are figures."""
        return self.capex_usd is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """A point of a sweep; `ways` are empty, and `problem` says why, where the inputs contradict each other."""

    values: tuple[float, ...]
    ways: tuple[WayPoint, ...]
    recommended: str | None
    problem: str


def point_of(values: tuple[float, ...], options: Sequence[tuple[WayPoint, ...]]) -> SweepPoint:
    """A point from its strategies under each option at the start, of which the cheapest is taken."""
    ways = options[cheapest_option(options)]
    return SweepPoint(values=values, ways=ways, recommended=recommend(ways).strategy, problem="")


def cheapest_option(options: Sequence[tuple[WayPoint, ...]]) -> int:
    """Index of the option at the start that a plan takes."""
    if len(options) == 1:
        return 0
    return cheapest(
        [
            OwnedOption(
                machines={},
                ways=tuple(
                    WayTotal(
                        id=way.id, feasible=way.feasible, tco_usd=way.tco_usd, present_value_usd=way.present_value_usd
                    )
                    for way in ways
                ),
                chosen=False,
            )
            for ways in options
        ]
    )


def ways_of_rows(problem: PlanProblem, theta: Theta, kept: Kept | None) -> list[tuple[WayPoint, ...]]:
    """Every strategy under each row, chosen anew as a plan does or as kept.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [rows, parameters]
        Parameter values.
    kept : mapping or None
        Choices that stay as they are.

    Returns
    -------
    list of tuple of WayPoint
        By row, in the order of the strategies.
    """
    candidates = Candidates(problem, theta) if kept is None else None
    by_kind = []
    for kind in KINDS:
        if candidates is not None:
            allocated = allocate_rows(problem, theta, kind, candidates)
        else:
            assert kept is not None
            allocated = _kept_rows(problem, theta, kept[kind])
        by_kind.append(_way_of_rows(problem, theta, kind, allocated))
    return list(zip(*by_kind, strict=True))


def _kept_rows(problem: PlanProblem, theta: Theta, choice: Choice | tuple[Issue, ...]) -> AllocatedRows:
    everywhere = np.arange(len(theta))
    if not isinstance(choice, Choice):
        return AllocatedRows(rows=everywhere[:0], choice=None, undoable=dict.fromkeys(everywhere.tolist(), choice))
    repeated = taken(problem, choice, np.zeros(len(theta), dtype=np.int64))
    return AllocatedRows(rows=everywhere, choice=repeated, undoable={})


def _way_of_rows(problem: PlanProblem, theta: Theta, kind: Kind, allocated: AllocatedRows) -> list[WayPoint]:
    found = {row: _unplanned(kind, issues) for row, issues in allocated.undoable.items()}
    if allocated.choice is not None:
        points = _planned(problem, theta[allocated.rows], kind, allocated.choice)
        found.update(zip(allocated.rows.tolist(), points, strict=True))
    return [found[row] for row in range(len(theta))]


def _unplanned(kind: Kind, issues: Sequence[Issue]) -> WayPoint:
    return WayPoint(
        id=kind, feasible=False, problem=_sentence(issues), present_value_usd=np.inf, tco_usd=np.inf, capex_usd=None,
        kwh=None, kg_co2e=None, machine_count={}, slowest={},
    )  # fmt: skip


def _planned(problem: PlanProblem, theta: Theta, kind: Kind, choice: Choice) -> list[WayPoint]:
    evaluation = kernel(problem, theta, choice)
    problems = _problems(problem, theta, choice)
    hours, rates = _slowest(problem, theta, choice.routing)
    counts = choice.machine_count.astype(int).tolist()
    return [
        WayPoint(
            id=kind,
            feasible=not problems[row],
            problem=problems[row],
            present_value_usd=float(evaluation.present_value_usd[row]),
            tco_usd=float(evaluation.tco_usd[row]),
            capex_usd=float(evaluation.capex_usd[row]),
            kwh=float(evaluation.kwh[row]),
            kg_co2e=float(evaluation.kg_co2e[row]),
            machine_count={machine.id: counts[row][at] for at, machine in enumerate(problem.machines)},
            slowest={
                job.id: SlowestPlace(turnaround_h=float(hours[row, at]), throughput_per_s=float(rates[row, at]))
                for at, job in enumerate(problem.jobs)
            },
        )
        for row in range(len(theta))
    ]


def _problems(problem: PlanProblem, theta: Theta, choice: Choice) -> list[str]:
    """The first problem of each row's choice; empty where there is none."""
    within = choice_within(problem, theta, choice)
    unfit = [
        pair.problems for index, pair in enumerate(problem.pairs) if pair.problems and choice.routing[:, index].any()
    ]
    found = []
    for row in range(len(theta)):
        if within[row] and not unfit:
            found.append("")
            continue
        one = slice(row, row + 1)
        issues = choice_problems(problem, theta[one], taken(problem, choice, np.array([row])))
        found.append(_sentence([*(issue for issues in unfit for issue in issues), *issues]))
    return found


def _sentence(issues: Sequence[Issue]) -> str:
    issue = issues[0]
    return render(issue.code, field=issue.field, **issue.params)


def _slowest(problem: PlanProblem, theta: Theta, routing: Array) -> tuple[Array, Array]:
    """Longest time of an attempt of each job at a place in use, and the speed there. [rows, jobs]"""
    hours = np.zeros((len(theta), len(problem.jobs)))
    rates = np.zeros_like(hours)
    for index, pair in enumerate(problem.pairs):
        used = routing[:, index] > 0
        if not used.any():
            continue
        mine = turnaround_h(problem, pair, theta)
        slower = used & (mine > hours[:, pair.job])
        hours[slower, pair.job] = mine[slower]
        rates[slower, pair.job] = theta[slower, pair.throughput_at]
    return hours, rates
