"""What one successful run costs on its resource: amortised over all lines, and at the margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cost.finance import price_factor
from planner.strategy.attribution import Attribution
from planner.strategy.ingress_lines import uploads_per_run
from planner.strategy.machines import Machine
from planner.strategy.parameters import Theta
from planner.strategy.problem import Job, Pair, PlanProblem
from planner.strategy.sessions import attempt_s, session_node_h
from planner.units import S_PER_H, W_PER_KW


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """Cost of one successful run, its attempts included, undiscounted. [USD]"""

    amortised_usd: float
    marginal_usd: float


def run_costs(problem: PlanProblem, theta: Theta, attribution: Attribution) -> dict[int, RunCost]:
    """Cost per run of every pair in use, by pair index.

    Amortised: what is attributed to the pair over all lines. Marginal: only what one more run adds - energy above idle,
    or the billed session and its egress, and their tax.
    """
    amounts, runs = attribution.amount_usd.sum(axis=1), attribution.runs.sum(axis=1)
    return {
        index: RunCost(
            amortised_usd=float(amounts[row] / runs[row]),
            marginal_usd=marginal_usd(problem, theta, problem.pairs[index]),
        )
        for row, index in enumerate(attribution.pairs)
    }


def marginal_usd(problem: PlanProblem, theta: Theta, pair: Pair) -> float:
    """What one more successful run on a pair adds, its attempts included. [USD]"""
    job = problem.jobs[pair.job]
    attempts = float(theta[0, job.attempts_per_run_at])
    rate = float(theta[0, problem.tax_rate_at])
    if pair.machine is not None:
        return attempts * _energy_usd(problem, theta, pair, problem.machines[pair.machine], rate)
    assert pair.offer is not None
    offer = problem.offers[pair.offer]
    if offer.commitment is not None:  # what one run more would go to; within the cover it costs nothing
        offer = problem.offers[offer.commitment.overflow]
    price_usd_per_h = float(theta[0, offer.price_at]) * _mean_factor(problem, theta, job)
    session = float(session_node_h(pair, offer, theta)[0]) * price_usd_per_h
    cost = attempts * with_tax(session, rate, offer.includes_tax, problem.tax_recoverable)
    if job.egress_gb_per_run_at is not None:
        price = float(theta[0, problem.providers[offer.provider].egress_price_at])
        egress = price * float(theta[0, job.egress_gb_per_run_at])
        cost += with_tax(egress, rate, False, problem.tax_recoverable)
    incoming_at = problem.providers[offer.provider].ingress_price_at
    if job.upload_gb_per_run_at is not None and incoming_at is not None:
        sent_gb = theta[:, job.upload_gb_per_run_at] * uploads_per_run(job, pair, theta)
        ingress = float((sent_gb * theta[:, incoming_at])[0])
        cost += with_tax(ingress, rate, False, problem.tax_recoverable)
    return cost


def _mean_factor(problem: PlanProblem, theta: Theta, job: Job) -> float:
    """Price of a rented hour over today's, in the mean of a job's runs. [-]"""
    if problem.rental_change_at is None:
        return 1.0
    factors = price_factor(float(theta[0, problem.rental_change_at]), np.arange(float(problem.horizon_months)))
    return float(np.average(factors, weights=job.profile))


def _energy_usd(problem: PlanProblem, theta: Theta, pair: Pair, machine: Machine, rate: float) -> float:
    """Electricity of one attempt above what the machine draws when idle; nothing where power is in the rent."""
    if problem.site.power_included:
        return 0.0
    above_idle_w = float(theta[0, machine.load_w_at] - theta[0, machine.idle_w_at]) * pair.gpus / machine.gpus
    kwh = above_idle_w / W_PER_KW * float(attempt_s(pair, theta)[0]) / S_PER_H * float(theta[0, machine.pue_at])
    usd = kwh * float(theta[0, problem.site.electricity_at])
    return with_tax(usd, rate, problem.site.electricity_includes_tax, problem.tax_recoverable)


def with_tax(amount: float, rate: float, included: bool, recoverable: bool) -> float:
    if included:
        return amount / (1.0 + rate) if recoverable else amount
    return amount if recoverable else amount * (1.0 + rate)
