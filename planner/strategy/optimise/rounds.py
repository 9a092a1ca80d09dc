"""A search for the best mix: its programme solved, costed and simulated in rounds until waits and quotas hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from planner.strategy.allocate import choice_problems
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.limits import Limit
from planner.strategy.measures import COST
from planner.strategy.optimise.by_periods import solve_by_periods
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.optimise.limit_rows import with_limits
from planner.strategy.optimise.loads import SafeLoad, late_machines, targets, tightened
from planner.strategy.optimise.mix import Mix
from planner.strategy.optimise.model import build
from planner.strategy.optimise.options import only
from planner.strategy.optimise.periods import periods
from planner.strategy.optimise.programme import Solved
from planner.strategy.optimise.records import Round
from planner.strategy.optimise.split import Split, credit_split
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.progress import tell
from planner.strategy.quotas import limits as under_quota
from planner.strategy.quotas import quota_uses, run_gpus

AGREED: Final = 1e-3
"""Share of the cost by which programme and kernel may differ. [-]"""
_ROUNDS: Final = 8


@dataclass(slots=True)
class Search:
    """What a search knows: fixed parts, and what rounds have learnt."""

    problem: PlanProblem
    theta: Theta
    found: Coefficients
    limits: tuple[Limit, ...]
    gap: float
    time_limit_s: float
    loads: dict[int, SafeLoad]
    quota_gpus: dict[int, int]
    split: Split = field(default_factory=dict)
    extra: Callable[[Mix], None] | None = None  # rows beyond the limits
    rounds: list[Round] = field(default_factory=list)

    def mix(self) -> Mix:
        """The programme as far as it is known, without limits."""
        when = periods(self.problem)
        return build(
            self.problem, self.theta, self.found, when, loads=self.loads, quota_gpus=self.quota_gpus, split=self.split
        )

    def solved(
        self, limits: tuple[Limit, ...], forced: tuple[int, int] | None = None, *, time_limit_s: float | None = None
    ) -> tuple[Mix, Solved]:
        """The cheapest plan under some limits; of a type of machine at least so many where it is forced."""
        limit_s = self.time_limit_s if time_limit_s is None else min(time_limit_s, self.time_limit_s)
        mix = self.mix()
        with_limits(mix, limits)
        if self.extra is not None:
            self.extra(mix)
        if forced is not None:
            mix.programme.row([mix.number[forced[0]]], [1.0], float(forced[1]), np.inf)
        return mix, solve_by_periods(mix.programme, gap=self.gap, time_limit_s=limit_s)

    @property
    def base_usd(self) -> float:
        """Present value of what every plan has."""
        return float(self.found.base[COST] @ self.found.discount)


def begin(
    problem: PlanProblem,
    theta: Theta,
    every: Coefficients,
    kept: list[int],
    *,
    limits: tuple[Limit, ...],
    gap: float,
    time_limit_s: float,
) -> Search:
    """A search over some of the pairs, at the target utilisation of each type of machine."""
    return Search(
        problem=problem,
        theta=theta,
        found=only(every, kept),
        limits=limits,
        gap=gap,
        time_limit_s=time_limit_s,
        loads=targets(problem, theta),
        quota_gpus=_quota_gpus(problem, kept),
    )


def _quota_gpus(problem: PlanProblem, pairs: list[int]) -> dict[int, int]:
    """GPUs under each quota that runs of all sizes could use together."""
    found = {}
    for at, quota in enumerate(problem.quotas):
        sizes = [run_gpus(problem, problem.pairs[i]) for i in pairs if under_quota(problem, quota, problem.pairs[i])]
        unit = int(np.gcd.reduce(sizes)) if sizes else 1
        found[at] = quota.gpus // unit * unit
    return found


def in_rounds(search: Search) -> tuple[tuple[Choice, float] | None, float, bool]:
    """Solve, cost and simulate until nobody is late for waiting, quotas hold and costs agree, or so many times."""
    problem, theta = search.problem, search.theta
    bound, timed_out = -np.inf, False
    best: tuple[Choice, float] | None = None
    for number in range(_ROUNDS + 1):
        tell("rounds", number)
        mix, solved = search.solved(search.limits)
        timed_out = timed_out or solved.timed_out
        if number == 0:
            bound = solved.bound + search.base_usd
        if solved.values is None:
            return best, bound, timed_out
        choice = mix.choice(solved.values)
        evaluation = kernel(problem, theta, choice)
        cost = float(evaluation.present_value_usd[0])
        planned = float(mix.programme.costs @ solved.values) + search.base_usd
        late = late_machines(problem, theta, choice)
        search.rounds.append(_round(search, evaluation, cost, planned, late))
        over = _over_quota(search, choice)
        if not late and not over:
            if not choice_problems(problem, theta, choice) and (best is None or cost < best[1]):
                best = choice, cost
            split = {**search.split, **credit_split(problem, evaluation)}
            if abs(search.rounds[-1].deviation) <= AGREED or split == search.split:
                return best, bound, timed_out
            search.split = split  # what the programme took for granted of credits wasn't so
            continue
        search.quota_gpus.update(over)
        last = number == _ROUNDS - 1  # then nothing with a limit may wait there any more
        search.loads = tightened(search.loads, evaluation, late)
        if last:
            search.found = _without_limited(search, late)
    return best, bound, timed_out


def _round(search: Search, evaluation: Evaluation, cost: float, planned: float, late: list[int]) -> Round:
    machines = search.problem.machines
    return Round(
        present_value_usd=cost,
        deviation=(cost - planned) / max(abs(cost), 1.0),
        loads={machines[at].id: load.of(float(evaluation.machine_count[0, at])) for at, load in search.loads.items()},
        late=tuple(machines[at].id for at in late),
    )


def _over_quota(search: Search, choice: Choice) -> dict[int, int]:
    """Quotas that a choice exceeds since its runs can't use all of their GPUs, with those they can use."""
    places = {quota.id: at for at, quota in enumerate(search.problem.quotas)}
    return {
        places[use.quota.id]: use.quota.gpus // use.unit * use.unit
        for use in quota_uses(search.problem, search.theta, choice)
        if use.gpu_h > use.available_h * (1 + 1e-6)
    }


def _without_limited(search: Search, machines: list[int]) -> Coefficients:
    """Candidates without those of jobs with a limit on some types of machines."""
    problem = search.problem
    kept = [
        index
        for index in search.found.pairs
        if problem.pairs[index].machine not in machines or problem.jobs[problem.pairs[index].job].deadline_h is None
    ]
    placed = {problem.pairs[index].job for index in kept}
    kept += [index for index in search.found.pairs if problem.pairs[index].job not in placed]
    return only(search.found, sorted(set(kept)))
