"""Random small questions for the best mix, and every answer to them costed by the kernel."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np

from planner.cost.course import Array
from planner.strategy.allocate import choice_within
from planner.strategy.candidates import on_time
from planner.strategy.kernel import Choice, kernel
from planner.strategy.limits import limits_broken, limits_of
from planner.strategy.optimise.loads import late_machines
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import busy_h_by_month
from tests.planning import small_plan

MOST_MACHINES = 3


def small_mix(seed: int, *, few_runs: bool) -> dict[str, Any]:
    """Up to three jobs, two types of machines and three offers; of few runs each job's stay together."""
    draw = random.Random(seed)
    jobs = {f"j{number}": _job(draw, few_runs) for number in range(draw.randint(1, 3))}
    tax, fte = draw.choice([0, 0.2]), draw.choice([0, 0.01])
    plan = small_plan({"horizon_months": draw.choice([3, 6]), "discount_rate": 0.05, "tax.rate": tax})
    plan["staff"] = {"cost_usd_per_fte_year": 60_000, "fte_per_machine": fte, "fte_cloud": draw.choice([0, 0.01])}
    plan["jobs"] = jobs
    machine = plan["machines"].pop("own")
    del machine["count"]
    for name in ("a", "b"):
        curve = {3: 0.8, 6: 0.7, 12: 0.5}
        plan["machines"][name] = {
            **machine,
            "gpu_price_usd": draw.choice([500, 1000, 2500]),
            "residual_gpu": curve,
            "residual_host": curve,
            "maintenance_share_per_year": 0.05,
        }
    offer = plan["offers"].pop("rented")
    for name in ("x", "y", "z"):
        price, provider = draw.choice([0.5, 1, 2, 4]), draw.choice(["p", "q"])
        plan["offers"][name] = {**offer, "provider": provider, "price_usd_per_h": price}
    plan["rental"] = {"offers": ["x", "y", "z"], "storage_gb": draw.choice([0, 200]), "storage_usd_per_gb_month": 0.1}
    return plan


def _job(draw: random.Random, few_runs: bool) -> dict[str, Any]:
    """Work of 20 to 600 hours a month at one sample a second."""
    runs, hours = (draw.choice([0.5, 1]), draw.choice([100, 300])) if few_runs else (100, draw.choice([1, 2, 4]))
    return {
        "workload": "bert-large-squad",
        "samples": 3600 * hours,
        "epochs": 1,
        "gpus": 1,
        "throughput": {name: draw.choice([0.5, 1, 2]) for name in "abxyz"},
        "runs_per_month": runs,
        "attempts_per_run": 1,
    }


def cheapest_of_all(problem: PlanProblem, steps: int) -> float:
    """Least present value of every number of machines with every place of every job, shares in so many steps. [USD]

    Within the target utilisation, quotas and limits; each is costed by the kernel.
    """
    theta = problem.theta()
    routing = _routings(problem, steps)
    busy = busy_h_by_month(problem, theta, routing).max(axis=2)
    found = np.inf
    limits = limits_of(problem, ceiling=True)
    for counts in itertools.product(*(_counts(machine.fixed_count) for machine in problem.machines)):
        room = [
            float(count * theta[0, machine.powered_h_at] * theta[0, machine.target_utilisation_at])
            for count, machine in zip(counts, problem.machines, strict=True)
        ]
        fits = np.flatnonzero(np.all(busy <= np.array(room) + 1e-9, axis=1))
        if not len(fits):
            continue
        choice = Choice(machine_count=np.array([counts], dtype=float).repeat(len(fits), axis=0), routing=routing[fits])
        values = theta.repeat(len(fits), axis=0)
        evaluation = kernel(problem, values, choice)
        within = choice_within(problem, values, choice) & ~limits_broken(problem, evaluation, limits).any(axis=1)
        cost = np.where(within, evaluation.present_value_usd, np.inf)
        for row in np.argsort(cost):
            if cost[row] >= found:
                break
            one = Choice(machine_count=choice.machine_count[[row]], routing=choice.routing[[row]])
            if not late_machines(problem, theta, one):
                found = float(cost[row])
                break
    return float(found)


def _counts(fixed: int | None) -> tuple[int, ...]:
    return tuple(range(MOST_MACHINES + 1)) if fixed is None else (0, fixed)


def _routings(problem: PlanProblem, steps: int) -> Array:
    """Every way to share each job's runs among the pairs that keep its limit, in steps."""
    theta = problem.theta()
    by_job = []
    for job in range(len(problem.jobs)):
        pairs = [i for i, pair in enumerate(problem.pairs) if pair.job == job and pair.feasible]
        pairs = [index for index in pairs if on_time(problem, theta, problem.pairs[index])]
        shares = [parts for parts in itertools.product(range(steps + 1), repeat=len(pairs)) if sum(parts) == steps]
        rows = np.zeros((len(shares), len(problem.pairs)))
        rows[:, pairs] = np.array(shares) / steps
        by_job.append(rows)
    return np.array([np.sum(rows, axis=0) for rows in itertools.product(*by_job)])
