"""Hours and energy of a job's attempts on a resource, by row of parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from planner.cost.lines import Array
from planner.cost.rental import billed_session_s
from planner.cost.spot import SpotRun, run_hazard_per_s, spot_run
from planner.energy.facility import metered_kwh
from planner.energy.power import partly_loaded_w
from planner.performance.duration import attempt_parts
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem, RentedOffer
from planner.units import S_PER_H

SharesByMonth = Mapping[int, Array]
"""Share of a job's runs on a pair in each month, [rows or 1, months], by index of the pair; pairs with one share for
all months aren't in it."""
ALIKE: Final[SharesByMonth] = MappingProxyType({})
"""All pairs have one share for all months."""


def attempt_s(pair: Pair, theta: Theta, throughput: float | None = None) -> Array:
    """Duration of one attempt, without start-up or waiting, at the pair's throughput or another. [s]

    Work, evaluation and checkpoints; where interruptions are counted, also what they are expected to lose, and on spot
    instances the wait for new ones.
    """
    if pair.spot is not None:
        return np.asarray(spot_course(pair, theta, throughput).total_s - theta[:, pair.spot.startup_s_at])
    work_s = _work_s(pair, theta, throughput)
    restarts = pair.restarts
    if restarts is None:
        return _plain_s(pair, work_s)
    parts = attempt_parts(
        work_s,
        eval_share=pair.eval_share,
        checkpoints=pair.checkpoints,
        checkpoint_s=theta[:, restarts.checkpoint_s_at],
        gpus=pair.gpus,
        interruptions_per_gpu_year=theta[:, restarts.interruptions_per_gpu_year_at],
        restart_s=theta[:, restarts.restart_s_at],
    )
    return np.asarray(parts.total_h * S_PER_H)


def _work_s(pair: Pair, theta: Theta, throughput: float | None) -> Array:
    rate = theta[:, pair.throughput_at] if throughput is None else np.full(len(theta), throughput)
    return np.asarray(pair.work / rate)


def _plain_s(pair: Pair, work_s: Array) -> Array:
    """Work, evaluation and checkpoints as asked for. [s]"""
    return np.asarray(work_s * (1 + pair.eval_share) + pair.checkpoints * pair.checkpoint_s)


def spot_course(pair: Pair, theta: Theta, throughput: float | None = None) -> SpotRun:
    """Expected course of one attempt on spot instances; hardware failures, where counted, add to the interruptions.

    Raises
    ------
    AssertionError
        For a pair that isn't on spot instances.
    """
    spot = pair.spot
    assert spot is not None
    failures = 0.0 if pair.restarts is None else theta[:, pair.restarts.interruptions_per_gpu_year_at]
    hazard = run_hazard_per_s(
        theta[:, spot.interrupted_share_at], pair.nodes, gpus=pair.gpus, failures_per_gpu_year=failures
    )
    return spot_run(
        theta[:, spot.startup_s_at],
        _plain_s(pair, _work_s(pair, theta, throughput)),
        max(pair.checkpoints, 1),
        hazard,
        theta[:, spot.load_s_at],
        theta[:, spot.reacquire_s_at],
    )


def session_node_h(pair: Pair, offer: RentedOffer, theta: Theta) -> Array:
    """Billed node-hours of one rented attempt. [h]"""
    course = None if pair.spot is None else spot_course(pair, theta)
    startup_s = theta[:, offer.startup_s_at]
    billed_s = billed_session_s(
        startup_s,
        attempt_s(pair, theta) if course is None else course.uninterrupted_s - startup_s,
        theta[:, offer.idle_tail_s_at],
        theta[:, offer.billing_unit_s_at],
        theta[:, offer.minimum_s_at],
    )
    if course is not None:  # the rounded session, and what interruptions add to it
        billed_s = billed_s + course.paid_s - course.uninterrupted_s
    return np.asarray(pair.nodes * billed_s / S_PER_H)


def session_kwh(pair: Pair, offer: RentedOffer, theta: Theta) -> Array:
    """Energy at the meter of one rented attempt: occupied nodes, start-up and idle tail at idle draw. [kWh]"""
    idle_w, load_w = theta[:, offer.idle_w_at], theta[:, offer.load_w_at]
    busy_w = partly_loaded_w(idle_w, load_w, pair.gpus / (pair.nodes * offer.gpu_count))
    startup_s, work_s = theta[:, offer.startup_s_at], attempt_s(pair, theta)
    if pair.spot is not None:  # nothing is paid, and nothing drawn, while one waits for new instances
        course = spot_course(pair, theta)
        startup_s, work_s = np.asarray(course.startup_s), np.asarray(course.paid_s - course.startup_s)
    waiting_h = (startup_s + theta[:, offer.idle_tail_s_at]) / S_PER_H
    pue = theta[:, offer.pue_at]
    kwh = metered_kwh(idle_w, waiting_h, pue) + metered_kwh(busy_w, work_s / S_PER_H, pue)
    return np.asarray(pair.nodes * kwh)


def turnaround_h(problem: PlanProblem, pair: Pair, theta: Theta) -> Array:
    """Start-up and work of one attempt, without waiting for a free machine. [h]"""
    startup_s = 0.0 if pair.offer is None else theta[:, problem.offers[pair.offer].startup_s_at]
    return np.asarray((startup_s + attempt_s(pair, theta)) / S_PER_H)


def busy_h_by_month(problem: PlanProblem, theta: Theta, routing: Array, by_month: SharesByMonth = ALIKE) -> Array:
    """Machine-hours of work by machine type and month, the GPUs of a machine shared between jobs.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [rows or 1, parameters]
        Parameter values.
    routing : array, shape [rows or 1, pairs]
        Share of each job's runs on each pair.
    by_month : mapping
        Shares of pairs that differ by month.

    Returns
    -------
    array, shape [rows, machines, months]
        Busy machine-hours; a single month where demand and shares are the same in all. [h/month]
    """
    rows = max(len(theta), len(routing))
    alike = not by_month and all(job.profile is None for job in problem.jobs)
    months = 1 if alike else problem.horizon_months
    busy = np.zeros((rows, len(problem.machines), months))
    used = np.any(routing, axis=0)
    for index, pair in enumerate(problem.pairs):
        if pair.machine is None or not used[index]:
            continue
        job = problem.jobs[pair.job]
        share = by_month[index] if index in by_month else routing[:, index, None]
        attempts = (theta[:, job.runs_per_month_at] * theta[:, job.attempts_per_run_at])[:, None] * share
        machine = problem.machines[pair.machine]
        hours = attempts * attempt_s(pair, theta)[:, None] / S_PER_H * pair.gpus / machine.gpus
        busy[:, pair.machine] += hours * (1.0 if job.profile is None else np.array(job.profile))
    return busy


def local_busy_h(problem: PlanProblem, theta: Theta, routing: Array) -> Array:
    """Machine-hours of work in a mean month by machine type, as `busy_h_by_month`. [rows, machines]"""
    return np.asarray(busy_h_by_month(problem, theta, routing).mean(axis=2))


def powered_h(problem: PlanProblem, theta: Theta, count: Array) -> Array:
    """Machine-hours a month that machines are switched on, by machine type. [rows, machines]"""
    columns = [machine.powered_h_at for machine in problem.machines]
    return np.asarray(count * theta[:, columns])
