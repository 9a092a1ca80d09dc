"""Which job on which resource each line's money and energy is for, month by month: the one rule for sharing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cost.course import Array
from planner.cost.lines import CostLine
from planner.strategy.kernel import Choice, Evaluation
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.relief_lines import EXTRAS
from planner.strategy.sessions import attempt_s
from planner.units import S_PER_H


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Money and energy of one plan by pair in use; tax stands with what it taxes.

    Columns of money and energy are the times of the lines: 0 the start of the plan, k the end of month k. Their last
    row is unassigned: machines that no job uses. Summed over rows they are the plan's lines, at every time.
    """

    pairs: tuple[int, ...]  # indices of the pairs in use
    runs: Array  # [pairs, months of the horizon], successful runs
    busy_gpu_h: Array  # [pairs, months of the horizon], attempts x duration x GPUs
    amount_usd: Array  # [pairs + 1, times]
    kwh: Array  # [pairs + 1, times]
    kg_co2e: Array  # [pairs + 1, times]


def attribute(problem: PlanProblem, theta: Theta, choice: Choice, evaluation: Evaluation) -> Attribution:
    """Share the lines of a plan of one row among the jobs on their resources.

    A line with a job is that job's. All others are shared by busy GPU-hours of the jobs on their resource (those of
    the site by all jobs on owned machines, those of a provider or of the cloud by the jobs there), egress by gigabytes.
    What is paid for a month is shared by the hours of that month, so that idle time is paid for by those who use the
    machine; what is paid once (purchase, resale, a term upfront), what falls in a month without work and what is
    still paid after the horizon, by the hours of the whole horizon.
    """
    pairs = tuple(np.flatnonzero(choice.routing[0] > 0).tolist())
    runs, sent_gb, busy = _work(problem, theta, choice, pairs)
    times = evaluation.discount.shape[1]
    sharing = _Sharing(problem=problem, pairs=pairs, busy_gpu_h=busy, sent_gb=sent_gb, times=times)
    tax = 0.0 if problem.tax_recoverable else float(theta[0, problem.tax_rate_at])
    money = np.zeros((len(pairs) + 1, times))
    energy, carbon = np.zeros_like(money), np.zeros_like(money)
    for line in evaluation.lines:
        if is_tax(line):
            continue
        shares = sharing.of(line)
        money += (shares.once if sharing.is_paid_once(line) else shares.monthly) * amount_with_tax(line, tax)
        if line.kwh is not None and line.kg_co2e is not None:
            energy += shares.monthly * line.kwh[0]
            carbon += shares.monthly * line.kg_co2e[0]
    return Attribution(pairs=pairs, runs=runs, busy_gpu_h=busy, amount_usd=money, kwh=energy, kg_co2e=carbon)


def is_tax(line: CostLine) -> bool:
    """Whether a line is tax on other lines."""
    return line.id.startswith("tax_")


def amount_with_tax(line: CostLine, tax_rate: float) -> Array:
    """Money of a line over time, with the tax that stands on a line of its own. [USD]"""
    return np.asarray(line.amount[0] * (1.0 + (tax_rate if line.taxed else 0.0)))


def sharers(problem: PlanProblem, line: CostLine, used: Sequence[int]) -> tuple[int, ...]:
    """Pairs in use that a line is for."""
    pairs = problem.pairs
    if line.job:
        found = [i for i in used if pairs[i].resource == line.resource and problem.jobs[pairs[i].job].id == line.job]
    elif line.resource == "site":
        found = [i for i in used if pairs[i].machine is not None]
    elif line.resource == "cloud":
        found = [i for i in used if pairs[i].offer is not None]
    else:
        there = [i for i in used if pairs[i].resource == line.resource]
        named = bool(there) or any(machine.id == line.resource for machine in problem.machines)
        at_provider = [i for i in used if _provider(problem, pairs[i]) == line.resource]
        found = at_provider if line.bears_on in EXTRAS or not named else there
    return tuple(found)


def _provider(problem: PlanProblem, pair: Pair) -> str | None:
    return None if pair.offer is None else problem.providers[problem.offers[pair.offer].provider].id


def _work(problem: PlanProblem, theta: Theta, choice: Choice, pairs: Sequence[int]) -> tuple[Array, Array, Array]:
    """Runs, gigabytes that leave a provider and busy GPU-hours of pairs by month. [pairs, months]"""
    months = problem.horizon_months
    runs, sent_gb, busy = (np.zeros((len(pairs), months)) for _ in range(3))
    for row, index in enumerate(pairs):
        pair = problem.pairs[index]
        job = problem.jobs[pair.job]
        share = choice.by_month[index][0] if index in choice.by_month else choice.routing[0, index]
        runs[row] = float(theta[0, job.runs_per_month_at]) * share
        if job.profile is not None:
            runs[row] *= job.profile
        attempt_gpu_h = float(attempt_s(pair, theta)[0]) / S_PER_H * pair.gpus
        busy[row] = runs[row] * float(theta[0, job.attempts_per_run_at]) * attempt_gpu_h
        if job.egress_gb_per_run_at is not None:
            sent_gb[row] = runs[row] * float(theta[0, job.egress_gb_per_run_at])
    return runs, sent_gb, busy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shares:
    """Shares of the pairs in a line, and what nobody has. [pairs + 1, times]"""

    monthly: Array
    once: Array


@dataclass(slots=True, kw_only=True)
class _Sharing:
    """Shares of lines, computed once for lines with the same sharers."""

    problem: PlanProblem
    pairs: tuple[int, ...]
    busy_gpu_h: Array
    sent_gb: Array
    times: int
    _known: dict[tuple[tuple[int, ...], bool], _Shares] = field(default_factory=dict)

    def of(self, line: CostLine) -> _Shares:
        """Shares of a line."""
        key = (sharers(self.problem, line, self.pairs), line.bears_on == "egress")
        if key not in self._known:
            self._known[key] = self._shares(*key)
        return self._known[key]

    def is_paid_once(self, line: CostLine) -> bool:
        """Whether a payment is for more than the month in which it is made."""
        if line.group != "opex" or line.bears_on != "commitment":
            return line.group != "opex"
        terms = [offer.commitment for offer in self.problem.offers if offer.id == line.resource]
        return any(term is not None and term.upfront for term in terms)

    def _shares(self, sharing: tuple[int, ...], egress: bool) -> _Shares:
        rows = [self.pairs.index(index) for index in sharing]
        once, monthly = (np.zeros((len(self.pairs) + 1, self.times)) for _ in range(2))
        if not rows:
            once[-1] = monthly[-1] = 1.0
            return _Shares(monthly=monthly, once=once)
        weights = (self.sent_gb if egress else self.busy_gpu_h)[rows]
        whole = weights.sum(axis=1)
        if not whole.sum() > 0:
            whole = np.ones(len(rows))
        once[rows] = (whole / whole.sum())[:, None]
        monthly[rows] = once[rows]
        together = weights.sum(axis=0)
        worked = np.flatnonzero(together > 0)
        monthly[np.array(rows)[:, None], worked + 1] = weights[:, worked] / together[worked]
        return _Shares(monthly=monthly, once=once)
