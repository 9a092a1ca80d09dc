"""Candidates of each job by rule: which places a named strategy may use, in which order, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Job, Pair, PlanProblem
from planner.strategy.sessions import session_node_h, turnaround_h

Kind = Literal["local", "cloud", "hybrid", "optimal"]
KINDS: tuple[Kind, ...] = ("local", "cloud", "hybrid")
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Candidates of one job on one side: those on time, the cheapest first; else the fastest."""

    pairs: tuple[int, ...]
    punctual: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """One job's share and candidates."""

    job: int
    local_share: float
    local: Side | None
    rented: Side | None
    rented_meanwhile: bool  # where its machines aren't there yet; `rented` is then given whatever the share


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """What a strategy may do under one row of parameter values; without `jobs` some job can't run at all."""

    jobs: tuple[JobPlan, ...] | None
    problems: tuple[Issue, ...]
    warnings: tuple[Issue, ...]


class SideRows:
    """Candidates of a job on a side under many rows of parameter values."""

    def __init__(self, problem: PlanProblem, theta: Theta, job: int, *, local: bool) -> None:
        found = [
            (i, pair)
            for i, pair in enumerate(problem.pairs)
            if pair.job == job and (pair.machine is not None) == local and pair.feasible
        ]
        self._pairs = np.array([i for i, _ in found], dtype=np.int64)
        if not found:
            return
        hours = np.stack([turnaround_h(problem, pair, theta) for _, pair in found], axis=1)
        punctual = _within(problem.jobs[job], hours)
        costs = np.stack([_run_cost(problem, theta, pair, hours[:, at]) for at, (_, pair) in enumerate(found)], axis=1)
        by_name = np.array(sorted(range(len(found)), key=lambda at: found[at][1].resource))  # of equal costs the first
        dear = np.where(punctual, costs, np.inf)[:, by_name]
        self._order = by_name[np.argsort(dear, axis=1, kind="stable")]
        self._count = punctual.sum(axis=1)
        self._fastest = np.argmin(hours, axis=1)

    def key(self, row: int) -> bytes:
        """What tells the candidates of a row from those of others."""
        if not len(self._pairs):
            return b""
        count = self._count[row]
        return bytes(self._order[row, :count].tobytes() if count else self._fastest[row].tobytes() + b"late")

    def of(self, row: int) -> Side | None:
        """Candidates under one row; None where the job can't run on this side."""
        if not len(self._pairs):
            return None
        count = int(self._count[row])
        if not count:  # the fastest, so that the plan says how near the limit it comes
            return Side(pairs=(int(self._pairs[self._fastest[row]]),), punctual=False)
        return Side(pairs=tuple(self._pairs[self._order[row, :count]].tolist()), punctual=True)


class Candidates:
    """Plans of the named strategies under rows of parameter values, rows with the same ones together."""

    def __init__(self, problem: PlanProblem, theta: Theta) -> None:
        self._problem, self._theta = problem, theta
        jobs = range(len(problem.jobs))
        self._local = [SideRows(problem, theta, job, local=True) for job in jobs]
        self._rented = [SideRows(problem, theta, job, local=False) for job in jobs]

    def plans(self, kind: Kind) -> list[tuple[npt.NDArray[np.int64], Plans]]:
        """Each different plan with the rows that have it."""
        rows: dict[tuple[object, ...], list[int]] = {}
        for row in range(len(self._theta)):
            key = [
                (self._local[at].key(row), self._rented[at].key(row), _local_share(self._theta[row], kind, job))
                for at, job in enumerate(self._problem.jobs)
            ]
            rows.setdefault(tuple(key), []).append(row)
        return [(np.array(found), self._plans(kind, found[0])) for found in rows.values()]

    def _plans(self, kind: Kind, row: int) -> Plans:
        problems: list[Issue] = []
        warnings: list[Issue] = []
        plans = [self._plan_job(kind, row, index, problems, warnings) for index in range(len(self._problem.jobs))]
        known = tuple(plan for plan in plans if plan is not None)
        jobs = known if len(known) == len(plans) else None
        return Plans(jobs=jobs, problems=tuple(problems), warnings=tuple(warnings))

    def _plan_job(
        self, kind: Kind, row: int, index: int, problems: list[Issue], warnings: list[Issue]
    ) -> JobPlan | None:
        """Share and candidates of one job; reports problems and returns None when it can't run as is wanted."""
        problem, job = self._problem, self._problem.jobs[index]
        local, rented = self._local[index].of(row), self._rented[index].of(row)
        share = _local_share(self._theta[row], kind, job)
        if kind == "hybrid" and job.local_share is None:
            wanted, other = (local, rented) if share == 1.0 else (rented, local)
            if wanted is None and other is not None:
                where = "rented" if share == 1.0 else "owned"
                warnings.append(Issue(code=f"moved_to_{where}", field=f"jobs.{job.id}", params={"job": job.id}))
                share = 1.0 - share
        missing = [
            side
            for side, found, needed in (("local", local, share > 0), ("rented", rented, share < 1))
            if needed and found is None
        ]
        for side in missing:
            problems += why_not(problem, job, side, [pair for pair in problem.pairs if pair.job == index])
        if missing:
            return None
        meanwhile = kind == "hybrid" and share > 0 and _may_stand_in(problem, local, rented)
        return JobPlan(
            job=index,
            local_share=share,
            local=local if share > 0 else None,
            rented=rented if share < 1 or meanwhile else None,
            rented_meanwhile=meanwhile,
        )


def _may_stand_in(problem: PlanProblem, local: Side | None, rented: Side | None) -> bool:
    """Whether a job needs, and has, something rented for the time until its machines are there."""
    if local is None or rented is None:
        return False
    machines = [problem.pairs[pair].machine for pair in local.pairs]
    awaited = any(machine is not None and problem.machines[machine].complete_after for machine in machines)
    return awaited and rented.punctual


def _local_share(values: Array, kind: Kind, job: Job) -> float:
    if kind == "local":
        return 1.0
    if kind == "cloud":
        return 0.0
    if job.in_house:
        return 1.0
    if job.local_share_at is not None:
        return float(values[job.local_share_at])
    return 1.0 if job.job_class == "development" else 0.0


def on_time(problem: PlanProblem, theta: Theta, pair: Pair) -> bool:
    """Whether one attempt ends within the job's limit, without waiting, under the first row of values."""
    return bool(punctual_rows(problem, theta[:1], pair)[0])


def punctual_rows(problem: PlanProblem, theta: Theta, pair: Pair) -> npt.NDArray[np.bool_]:
    """Whether one attempt ends within the job's limit, without waiting. [rows]"""
    job = problem.jobs[pair.job]
    if job.deadline_h is None:
        return np.ones(len(theta), dtype=np.bool_)
    return _within(job, turnaround_h(problem, pair, theta))


def _within(job: Job, hours: Array) -> npt.NDArray[np.bool_]:
    limit_h = np.inf if job.deadline_h is None else job.deadline_h * (1 + _SLACK)
    return np.asarray(hours <= limit_h, dtype=np.bool_)


def _run_cost(problem: PlanProblem, theta: Theta, pair: Pair, hours: Array) -> Array:
    """A first order of candidates: rental of an attempt, or hours of machines weighted by their price. [rows]"""
    if pair.offer is not None:
        offer = problem.offers[pair.offer]
        return np.asarray(session_node_h(pair, offer, theta) * theta[:, offer.price_at])
    assert pair.machine is not None
    machine = problem.machines[pair.machine]
    price = machine.gpus * theta[:, machine.gpu_price_at] + theta[:, machine.host_price_at]
    return np.asarray(price * pair.gpus / machine.gpus * hours)


def why_not(problem: PlanProblem, job: Job, side: str, pairs: Sequence[Pair]) -> list[Issue]:
    """The reasons of the candidates of a side, the most helpful one; or that there is no candidate."""
    mine = [pair for pair in pairs if (pair.machine is not None) == (side == "local")]
    if not mine:
        code = "no_machines" if side == "local" else "no_offers"
        return [Issue(code=code, field="machines" if side == "local" else "rental", params={"job": job.id})]
    rules = ("in_house_only", "pinned_elsewhere", "pinned_off", "region_not_allowed", "term_not_allowed")
    allowed = [pair for pair in mine if not any(issue.code in rules for issue in pair.problems)]
    if allowed:  # what keeps a permitted place from doing the job helps more than that another isn't permitted
        mine = allowed
    reasons = [issue for pair in mine for issue in pair.problems]
    order = (*rules, "quota_below_run", "quota_zero", "does_not_fit", "too_many_gpus", "fits_nowhere")
    reasons.sort(key=lambda issue: (order.index(issue.code) if issue.code in order else len(order), _distance(issue)))
    return reasons[:1]


def _distance(issue: Issue) -> float:
    """How far a candidate is from fitting: memory needed over memory there."""
    memory, capacity = issue.params.get("memory_gb"), issue.params.get("capacity_gb")
    if isinstance(memory, float) and isinstance(capacity, float) and capacity > 0:
        return memory / capacity
    return 0.0
