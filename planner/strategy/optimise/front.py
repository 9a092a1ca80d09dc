"""Plans that are cheaper or better, none both: the present value against emissions, and against how long runs take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.limits import Limit, limits_of
from planner.strategy.measures import COST, KG_CO2E
from planner.strategy.optimise.coefficients import coefficients
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.optimise.limit_rows import limit_rows, with_limits
from planner.strategy.optimise.mix import Mix, month_factor
from planner.strategy.optimise.options import undominated, usable
from planner.strategy.optimise.rounds import Search, begin, in_rounds
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.progress import tell
from planner.strategy.sessions import turnaround_h
from planner.strategy.waiting import machine_waiting

_Searcher = Callable[[list[int]], Search]  # over some of the pairs
STEPS: Final = 6
"""Plans asked for on each front beside the cheapest, of which some may be the same."""
_TIME_LIMIT_S: Final = 2.0  # of each of them
_GAP: Final = 1e-3
_SLACK: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """One plan of a front: a choice of one row."""

    choice: Choice
    evaluation: Evaluation
    slowdown: float  # mean over jobs of `turnaround_h` over that at the fastest place without waiting [-]
    turnaround_h: Mapping[str, float | None]  # of a run of each job, mean, waits included; None: not simulated

    @property
    def present_value_usd(self) -> float:
        """Of the plan."""
        return float(self.evaluation.present_value_usd[0])

    @property
    def kg_co2e(self) -> float:
        """Of the plan."""
        return float(self.evaluation.kg_co2e[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fronts:
    """Both fronts, the cheapest plan first; each has at least that one."""

    co2: tuple[FrontPoint, ...]
    turnaround: tuple[FrontPoint, ...]


def fronts(problem: PlanProblem, theta: Theta, known: Sequence[Choice]) -> Fronts:
    """The present value against emissions, and against how long runs take.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    known : sequence of Choice
        The best mix, and other plans that keep all limits.

    Notes
    -----
    Each front is asked for plans at lower and lower limits, down to the least there is; how long runs take is limited
    without waits, which are simulated for the plans found. Plans than which another is at least as good in both are
    left out, also those of `known`; what was found for one front may stand on the other.
    """
    every = coefficients(problem, theta, usable(problem, theta))
    slow, fastest_h = _slowness(problem, theta, every)
    limits = limits_of(problem, ceiling=True)

    def search(kept: list[int]) -> Search:
        return begin(problem, theta, every, kept, limits=limits, gap=_GAP, time_limit_s=_TIME_LIMIT_S)

    def points(choices: Iterable[Choice]) -> list[FrontPoint]:
        return [_point(problem, theta, choice, fastest_h) for choice in choices]

    best = points(known)
    cheapest = min(best, key=lambda point: point.present_value_usd)
    greener = undominated(problem, every, measures=(COST, KG_CO2E))
    faster = undominated(problem, every, also=np.array([slow[index] for index in every.pairs]))
    cleaner = points(_by_emissions(search, greener, cheapest.kg_co2e))
    quicker = points(_by_speed(search, faster, slow, _alone(problem, cheapest.choice, slow)))
    every_point = [*best, *cleaner, *quicker]  # waits may make a plan quick, or slow, that wasn't asked to be
    return Fronts(
        co2=_front(every_point, [point.kg_co2e for point in every_point]),
        turnaround=_front(every_point, [point.slowdown for point in every_point]),
    )


def _slowness(problem: PlanProblem, theta: Theta, every: Coefficients) -> tuple[dict[int, float], dict[int, float]]:
    """By pair, the time of an attempt over that at the job's fastest; by job, the latter. Without waits. [-, h]"""
    hours = {index: float(turnaround_h(problem, problem.pairs[index], theta)[0]) for index in every.pairs}
    fastest_h: dict[int, float] = {}
    for index, each_h in hours.items():
        job = problem.pairs[index].job
        fastest_h[job] = min(fastest_h.get(job, np.inf), each_h)
    return {index: each_h / fastest_h[problem.pairs[index].job] for index, each_h in hours.items()}, fastest_h


def _alone(problem: PlanProblem, choice: Choice, slow: Mapping[int, float]) -> float:
    """How many times the fastest the runs of a choice take, without waits; each job counts alike. [-]"""
    shares = shares_of_runs(problem, choice)
    return sum(float(shares[index]) * times for index, times in slow.items()) / len(problem.jobs)


def _by_emissions(search: _Searcher, kept: list[int], cheapest_kg: float) -> Iterator[Choice]:
    """Plans that emit at most so much, from the cheapest down to the least there is."""
    first = search(kept)
    least = _least_emissions(first)
    if least is None or cheapest_kg - least <= _SLACK * max(cheapest_kg, 1.0):
        return
    for done, most in enumerate(np.linspace(cheapest_kg, least, STEPS + 1)[1:]):
        tell("cleaner", done, STEPS)
        limit = Limit(kind="kg_co2e", most=float(most) + _SLACK * abs(float(most)), field="limits.kg_co2e")
        asked = search(kept)
        asked.limits = (*asked.limits, limit)
        best, _, _ = in_rounds(asked)
        if best is not None:
            yield best[0]


def _least_emissions(search: Search) -> float | None:
    """Of any plan within the limits. [kg]"""
    mix = search.mix()
    with_limits(mix, search.limits)
    asked = Limit(kind="kg_co2e", most=0.0, field="limits.kg_co2e")
    [(places, factors, base)] = limit_rows(mix, asked)
    objective = np.zeros(len(mix.programme.costs))
    np.add.at(objective, places.astype(np.int64), factors)
    solved = mix.programme.solve(gap=_GAP, time_limit_s=_TIME_LIMIT_S, objective=objective)
    return None if solved.values is None else float(objective @ solved.values) + base


def _by_speed(search: _Searcher, kept: list[int], slow: Mapping[int, float], slowest: float) -> Iterator[Choice]:
    """Plans whose runs take at most so many times the fastest, waits aside, down to the fastest place of each job."""
    if slowest <= 1.0 + _SLACK:
        return
    for done, most in enumerate(np.geomspace(slowest, 1.0, STEPS + 1)[1:]):
        tell("quicker", done, STEPS)
        last = done == STEPS - 1  # by places alone: a limit with slack would leave a trace at a slower one
        asked = search([index for index in kept if not last or slow[index] <= 1.0 + _SLACK])
        if not last:
            asked.extra = partial(_limit_slowdown, slow=slow, most=float(most) * (1 + _SLACK))
        best, _, _ = in_rounds(asked)
        if best is not None:
            yield best[0]


def _limit_slowdown(mix: Mix, *, slow: Mapping[int, float], most: float) -> None:
    problem = mix.problem
    places: list[int] = []
    factors: list[float] = []
    for row, index in enumerate(mix.found.pairs):
        job = problem.pairs[index].job
        whole = problem.jobs[job].mean_factor * problem.horizon_months * len(problem.jobs)
        for at, period in enumerate(mix.periods):
            if mix.share[row, at] >= 0:
                places.append(int(mix.share[row, at]))
                factors.append(slow[index] * month_factor(problem, job, period) * len(period) / whole)
    mix.programme.row(places, factors, -np.inf, most)


def _point(problem: PlanProblem, theta: Theta, choice: Choice, fastest_h: Mapping[int, float]) -> FrontPoint:
    """What a choice comes to, its waits simulated."""
    simulated = {
        (entry.machine, job.job): job.turnaround.mean_h
        for entry in machine_waiting(problem, theta, choice)
        for job in entry.waiting.jobs
    }
    hours: dict[str, float | None] = {}
    ratios = []
    shares = shares_of_runs(problem, choice)
    for at, job in enumerate(problem.jobs):
        attempts = float(theta[0, job.attempts_per_run_at])
        total, known = 0.0, True
        for index, pair in enumerate(problem.pairs):
            if pair.job != at or shares[index] == 0:
                continue
            alone_h = attempts * float(turnaround_h(problem, pair, theta)[0])
            waited_h = simulated.get((pair.resource, job.id))
            known = known and (pair.machine is None or waited_h is not None)
            total += shares[index] * (alone_h if waited_h is None else waited_h)
        hours[job.id] = total if known else None
        ratios.append(total / (attempts * fastest_h[at]))
    return FrontPoint(
        choice=choice,
        evaluation=kernel(problem, theta, choice),
        slowdown=float(np.mean(ratios)),
        turnaround_h=hours,
    )


def shares_of_runs(problem: PlanProblem, choice: Choice) -> Array:
    """Share of all runs of a pair's job that run there. [pairs]"""
    found: Array = choice.routing[0].copy()
    for index, by_month in choice.by_month.items():
        profile = problem.jobs[problem.pairs[index].job].profile
        factors = np.ones(problem.horizon_months) if profile is None else np.array(profile)
        found[index] = float(by_month[0] @ factors) / float(factors.sum())
    return found


def _front(points: Sequence[FrontPoint], values: Sequence[float]) -> tuple[FrontPoint, ...]:
    """Points than which no other is at least as good in both, the cheapest first."""
    order = sorted(range(len(points)), key=lambda at: (round(points[at].present_value_usd, 2), values[at]))
    found: list[FrontPoint] = []
    least = np.inf
    for at in order:
        if values[at] < least - _SLACK * max(abs(values[at]), 1.0):
            found.append(points[at])
            least = values[at]
    return tuple(found)
