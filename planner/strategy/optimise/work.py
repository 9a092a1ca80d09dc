"""What all runs of a pair's job come to: attempts, hours and data."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import attempt_s, session_node_h
from planner.units import S_PER_H


def attempts(problem: PlanProblem, theta: Theta, index: int) -> float:
    """Attempts of all runs of a job in a month with `runs_per_month`."""
    job = problem.jobs[problem.pairs[index].job]
    return float(theta[0, job.runs_per_month_at] * theta[0, job.attempts_per_run_at])


def busy_h(problem: PlanProblem, theta: Theta, index: int) -> float:
    """Machine-hours likewise; of rented pairs 0. [h]"""
    pair = problem.pairs[index]
    if pair.machine is None:
        return 0.0
    each_h = float(attempt_s(pair, theta)[0]) / S_PER_H * pair.gpus / problem.machines[pair.machine].gpus
    return attempts(problem, theta, index) * each_h


def sent_gb(problem: PlanProblem, theta: Theta, index: int) -> float:
    """Sent away likewise. [GB]"""
    job = problem.jobs[problem.pairs[index].job]
    if job.egress_gb_per_run_at is None:
        return 0.0
    return float(theta[0, job.runs_per_month_at] * theta[0, job.egress_gb_per_run_at])


def node_h_by_month(problem: PlanProblem, theta: Theta, index: int) -> Array:
    """Billed node-hours of all runs of a rented pair. [h]"""
    pair = problem.pairs[index]
    assert pair.offer is not None
    profile = problem.jobs[pair.job].profile
    each = float(session_node_h(pair, problem.offers[pair.offer], theta)[0])
    factor = np.ones(problem.horizon_months) if profile is None else np.array(profile)
    return np.asarray(attempts(problem, theta, index) * each * factor)
