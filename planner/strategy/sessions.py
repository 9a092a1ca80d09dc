"""Hours and energy of a job's attempts on a resource, by row of parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.cost.rental import billed_session_s
from planner.cost.spot import SpotRun, run_hazard_per_s, spot_run
from planner.energy.facility import metered_kwh
from planner.energy.power import partly_loaded_w
from planner.performance.duration import Attempt, attempt_parts, transfer_s
from planner.performance.start_wait import mean_start_wait_s
from planner.strategy.fleet import powered_h_by_month
from planner.strategy.offers import RentedOffer
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.units import S_PER_H, Numeric

SharesByMonth = Mapping[int, Array]
"""Share of a job's runs on a pair in each month, [rows or 1, months], by index of the pair; pairs with one share for
all months aren't in it."""
ALIKE: Final[SharesByMonth] = MappingProxyType({})
"""All pairs have one share for all months."""
_LEAST_LEFT = 1e-9  # of interruptions, where failures of machines are all of them


def attempt_s(pair: Pair, theta: Theta, throughput: float | None = None) -> Array:
    """Duration of one attempt, without start-up or waiting, at the pair's throughput or another. [s]

    Work, evaluation and checkpoints; where interruptions or failures are counted, also what they are expected to lose,
    and on spot instances the wait for new ones.
    """
    if pair.spot is not None:
        return np.asarray(spot_course(pair, theta, throughput).total_s - startup_s(pair, pair.spot.startup_s_at, theta))
    if pair.restarts is None and pair.failures is None:
        return _plain_s(pair, _work_s(pair, theta, throughput))
    failures = None if pair.failures is None else theta[:, pair.failures.per_year_at] * pair.nodes
    return np.asarray(_parts(pair, theta, throughput, failures).total_h * S_PER_H)


def _parts(
    pair: Pair, theta: Theta, throughput: float | None, failures_per_year: Array | None, less_per_year: Numeric = 0.0
) -> Attempt:
    """An attempt on a machine of one's own or on demand, so many interruptions a year of its GPUs left out."""
    restarts, failures = pair.restarts, pair.failures
    restart_at = restarts.restart_s_at if restarts is not None else failures.restart_s_at if failures else None
    rate = None
    if restarts is not None:
        rate = theta[:, restarts.interruptions_per_gpu_year_at]
        rate = np.maximum(rate - less_per_year / pair.gpus, _LEAST_LEFT * rate)
    return attempt_parts(
        _work_s(pair, theta, throughput),
        eval_share=pair.eval_share,
        checkpoints=pair.checkpoints,
        checkpoint_s=pair.checkpoint_s if restarts is None else theta[:, restarts.checkpoint_s_at],
        gpus=pair.gpus,
        interruptions_per_gpu_year=rate,
        failures_per_year=failures_per_year,
        restart_s=0.0 if restart_at is None else theta[:, restart_at],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfailing:
    """One attempt on an owned machine as if the machine never failed, and what a failure takes it back to."""

    duration_h: float
    segments: float  # equal parts, each saved at its end
    restart_h: float


def unfailing(pair: Pair, theta: Theta) -> Unfailing:
    """The course of an attempt on which failures of machines are still to come, under one row of parameter values."""
    failures = pair.failures
    if failures is None:
        return Unfailing(duration_h=float(attempt_s(pair, theta)[0]) / S_PER_H, segments=1.0, restart_h=0.0)
    per_year = theta[:, failures.per_year_at] * pair.nodes
    left, all_of_it = _parts(pair, theta, None, None, per_year), _parts(pair, theta, None, per_year)
    return Unfailing(
        duration_h=float(np.ravel(left.total_h)[0]),
        segments=float(np.ravel(all_of_it.checkpoints)[0]) + 1.0,
        restart_h=float(theta[0, failures.restart_s_at]) / S_PER_H,
    )


def upload_s(pair: Pair, theta: Theta) -> Array:
    """Time to send the data of one attempt to the provider. [s]"""
    return _moving_s(pair, None if pair.transfer is None else pair.transfer.upload_gb_at, theta)


def download_s(pair: Pair, theta: Theta) -> Array:
    """Time to fetch the results of one run from the provider. [s]"""
    return _moving_s(pair, None if pair.transfer is None else pair.transfer.download_gb_at, theta)


def _moving_s(pair: Pair, amount_at: int | None, theta: Theta) -> Array:
    if pair.transfer is None or amount_at is None:
        return np.zeros(len(theta))
    return np.asarray(transfer_s(theta[:, amount_at], theta[:, pair.transfer.mbit_per_s_at]))


def startup_s(pair: Pair, column: int, theta: Theta) -> Array:
    """Paid time from the start of an instance until work begins: with the upload where instances wait for it. [s]"""
    if pair.transfer is None or not pair.transfer.billed:
        return theta[:, column]
    return np.asarray(theta[:, column] + upload_s(pair, theta))


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
    return spot_run(
        startup_s(pair, spot.startup_s_at, theta),
        _plain_s(pair, _work_s(pair, theta, throughput)),
        max(pair.checkpoints, 1),
        spot_hazard_per_s(pair, theta),
        theta[:, spot.load_s_at],
        theta[:, spot.reacquire_s_at],
    )


def spot_hazard_per_s(pair: Pair, theta: Theta) -> Array:
    """Interruptions of a run on spot instances, from all causes that are counted; raises as `spot_course`. [1/s]"""
    spot = pair.spot
    assert spot is not None
    failures = 0.0 if pair.restarts is None else theta[:, pair.restarts.interruptions_per_gpu_year_at]
    hazard = run_hazard_per_s(
        theta[:, spot.interrupted_share_at], pair.nodes, gpus=pair.gpus, failures_per_gpu_year=failures
    )
    return np.asarray(hazard)


def session_node_h(pair: Pair, offer: RentedOffer, theta: Theta) -> Array:
    """Billed node-hours of one rented attempt. [h]"""
    course = None if pair.spot is None else spot_course(pair, theta)
    before_s = startup_s(pair, offer.startup_s_at, theta)
    billed_s = billed_session_s(
        before_s,
        attempt_s(pair, theta) if course is None else course.uninterrupted_s - before_s,
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
    before_s, work_s = startup_s(pair, offer.startup_s_at, theta), attempt_s(pair, theta)
    if pair.spot is not None:  # nothing is paid, and nothing drawn, while one waits for new instances
        course = spot_course(pair, theta)
        before_s, work_s = np.asarray(course.startup_s), np.asarray(course.paid_s - course.startup_s)
    waiting_h = (before_s + theta[:, offer.idle_tail_s_at]) / S_PER_H
    pue = theta[:, offer.pue_at]
    kwh = metered_kwh(idle_w, waiting_h, pue) + metered_kwh(busy_w, work_s / S_PER_H, pue)
    return np.asarray(pair.nodes * kwh)


def session_s(problem: PlanProblem, pair: Pair, theta: Theta) -> Array:
    """Start-up and work of one attempt, without any waiting before it. [s]"""
    before_s = 0.0 if pair.offer is None else startup_s(pair, problem.offers[pair.offer].startup_s_at, theta)
    return np.asarray(before_s + attempt_s(pair, theta))


def moving_s(pair: Pair, theta: Theta) -> Array:
    """Moving the data of one attempt while no instance is held. [s]"""
    upload = 0.0 if pair.transfer is not None and pair.transfer.billed else upload_s(pair, theta)
    return np.asarray(download_s(pair, theta) + upload)


def turnaround_h(problem: PlanProblem, pair: Pair, theta: Theta) -> Array:
    """Start-up, work and data of one attempt, and the expected wait for rented instances, not for machines. [h]"""
    seconds = session_s(problem, pair, theta) + moving_s(pair, theta)
    availability = None if pair.offer is None else problem.offers[pair.offer].availability
    if availability is not None:
        share, retry_s = theta[:, availability.available_share_at], theta[:, availability.retry_s_at]
        seconds = seconds + mean_start_wait_s(share, retry_s)
    return np.asarray(seconds / S_PER_H)


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
    """Machine-hours a month that machines are on and work, by machine type. [rows, machines]"""
    return np.asarray(powered_h_by_month(problem, theta, count[:, :, None])[:, :, 0])
