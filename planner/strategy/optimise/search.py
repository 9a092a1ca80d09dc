"""The best mix: an integer programme, its answer costed by the kernel, checked by simulation, and tried next door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from planner.strategy.kernel import Choice, kernel
from planner.strategy.limits import limits_of
from planner.strategy.measures import COST
from planner.strategy.optimise.coefficients import coefficients
from planner.strategy.optimise.loads import late_machines
from planner.strategy.optimise.neighbours import cheaper, neighbours
from planner.strategy.optimise.options import nowhere, undominated, usable
from planner.strategy.optimise.reasons import binding_limits, rejected
from planner.strategy.optimise.records import Optimum, Relaxation
from planner.strategy.optimise.relax import relaxations, relaxed_problems
from planner.strategy.optimise.rounds import Search, begin, in_rounds
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.progress import tell
from planner.units import HALF_CENT_USD

GAP: Final = 1e-4
TIME_LIMIT_S: Final = 10.0
_STEPS: Final = 4  # of the search next door


def optimise(
    problem: PlanProblem,
    theta: Theta,
    named: Mapping[str, Choice],
    *,
    gap: float = GAP,
    time_limit_s: float = TIME_LIMIT_S,
) -> Optimum:
    """The plan with the lowest present value under all limits.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    named : mapping
        Choices of named ways that are feasible: the answer is never dearer than one that keeps limits with waiting.
    gap : float
        Share of the cost by which the programme's answer may miss the best one. [-]
    time_limit_s : float
        For each solution of the programme. [s]

    Returns
    -------
    Optimum
        With a choice of one row, or why there is none.

    References
    ----------
    .. [1] Q. Huangfu, J. A. J. Hall, "Parallelizing the dual revised simplex method," Math. Prog. Comp. 10, 2018
       (HiGHS).
    """
    able = usable(problem, theta)
    if missing := nowhere(problem, theta, able):
        return _none(tuple(missing))
    every = coefficients(problem, theta, able)
    kept = undominated(problem, every)
    limits = limits_of(problem, ceiling=True)
    search = begin(problem, theta, every, kept, limits=limits, gap=gap, time_limit_s=time_limit_s)
    best, bound, timed_out = in_rounds(search)
    best = _with_named(search, best, named)
    if best is None:
        loosened = () if timed_out else relaxations(search)
        return _none(relaxed_problems(search, loosened, timed_out=timed_out), search, loosened, timed_out=timed_out)
    best = _next_door(search, best)
    choice, cost = best
    evaluation = kernel(problem, theta, choice)
    same = next((id for id, other in named.items() if _same(problem, theta, other, cost)), None)
    return Optimum(
        choice=choice,
        evaluation=evaluation,
        gap=max(0.0, (cost - bound) / max(abs(cost), 1.0)) if np.isfinite(bound) else None,
        binding=binding_limits(search, choice, evaluation, cost),
        rejected=rejected(search, every, choice, evaluation, cost),
        rounds=tuple(search.rounds),
        timed_out=timed_out,
        same_as=same,
        problems=(),
        relaxations=(),
        pruned=len(able) - len(kept),
    )


def _same(problem: PlanProblem, theta: Theta, other: Choice, cost: float) -> bool:
    return abs(float(kernel(problem, theta, other).present_value_usd[0]) - cost) < HALF_CENT_USD


def _none(
    problems: tuple[Issue, ...],
    search: Search | None = None,
    loosened: tuple[Relaxation, ...] = (),
    *,
    timed_out: bool = False,
) -> Optimum:
    """No plan, and why."""
    return Optimum(
        choice=None, evaluation=None, gap=None, binding=(), rejected=(),
        rounds=() if search is None else tuple(search.rounds), timed_out=timed_out, same_as=None, problems=problems,
        relaxations=loosened, pruned=0,
    )  # fmt: skip


def _with_named(
    search: Search, best: tuple[Choice, float] | None, named: Mapping[str, Choice]
) -> tuple[Choice, float] | None:
    """The named ways are candidates too."""
    below = np.inf if best is None else best[1] - HALF_CENT_USD
    for cost, choice in cheaper(search.problem, search.theta, list(named.values()), search.limits, below):
        if not late_machines(search.problem, search.theta, choice):
            return choice, cost
    return best


def _next_door(search: Search, best: tuple[Choice, float]) -> tuple[Choice, float]:
    """Better choices that differ in one decision, as long as there are some."""
    problem, theta, found = search.problem, search.theta, search.found
    usd = found.share[:, COST] @ found.discount
    places: dict[int, list[int]] = {}
    for place in np.argsort(usd, kind="stable").tolist():
        index = found.pairs[place]
        places.setdefault(problem.pairs[index].job, []).append(index)
    for step in range(_STEPS):
        tell("neighbours", step)
        choice, cost = best
        near = neighbours(problem, theta, choice, places)
        tried = cheaper(problem, theta, near, search.limits, cost - HALF_CENT_USD, search.loads)
        better = next(((other, usd) for usd, other in tried[:3] if not late_machines(problem, theta, other)), None)
        if better is None:
            return best
        best = better
    return best
