"""What if attempts that would wait past their limit went to rented machines: how many, where to, at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planner.strategy.candidates import on_time
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.queueing.simulate import Pool
from planner.strategy.queueing.streams import Overflow, Stream
from planner.strategy.queueing.summary import Overflown, Waiting, simulate_overflow
from planner.strategy.sessions import turnaround_h
from planner.strategy.unit_costs import marginal_usd

_LOOKED_AT = 8  # places, the cheapest at the margin; disk can reorder the first few, hardly more


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOverflow:
    """One job's attempts that go to rented machines; all None but the share of late ones where none keep the limit."""

    resource: str | None
    pair: int | None  # index of the rented one
    share: float | None  # of the attempts on these machines
    attempts: float | None  # over the horizon
    late_share: float | None  # that is left
    cost_usd: float | None  # over the horizon, at the marginal cost of a run there


def place_for(problem: PlanProblem, theta: Theta, choice: Choice, own: int, share: float) -> int | None:
    """Where to attempts of a pair would go that can't wait: a rented candidate of their job that keeps its limit.

    Of the eight cheapest at the margin the one that makes the plan cheapest, since each new provider charges for disk.

    Parameters
    ----------
    problem, theta, choice
        The plan, in one row.
    own : int
        Index of the pair that they leave.
    share : float
        Of its attempts that go, about.

    Returns
    -------
    int or None
        Index of the rented pair; committed instances aside.
    """
    found = [
        (marginal_usd(problem, theta, pair), pair.resource, index)
        for index, pair in enumerate(problem.pairs)
        if pair.job == problem.pairs[own].job
        and pair.offer is not None
        and problem.offers[pair.offer].commitment is None
        and pair.feasible
        and on_time(problem, theta, pair)
    ]
    cheapest = [index for _, _, index in sorted(found)[:_LOOKED_AT]]
    if len(cheapest) < 2 or share <= 0:
        return cheapest[0] if cheapest else None
    return min(cheapest, key=lambda place: _moved_usd(problem, theta, choice, {own: (place, share)}))


def overflow(
    problem: PlanProblem,
    theta: Theta,
    choice: Choice,
    pool: Pool,
    streams: Sequence[Stream],
    pairs: Sequence[int],
    waiting: Waiting,
) -> dict[str, JobOverflow]:
    """Overflow of the jobs on one type of machine, by job; of those with a limit that may go elsewhere.

    Parameters
    ----------
    problem, theta, choice
        The plan, in one row.
    pool : Pool
        The machines.
    streams : sequence of Stream
        Of the jobs.
    pairs : sequence of int
        Index of each stream's pair.
    waiting : Waiting
        What was simulated without overflow.
    """
    asked = [at for at, pair in enumerate(pairs) if _may_leave(problem, problem.pairs[pair])]
    late = {found.job: found.late_share or 0.0 for found in waiting.jobs}
    places = {at: place_for(problem, theta, choice, pairs[at], late.get(streams[at].id, 0.0)) for at in asked}
    leaving = list(streams)
    for at, place in places.items():
        limit_h = problem.jobs[problem.pairs[pairs[at]].job].deadline_h
        if place is not None and limit_h is not None:
            rented_h = float(turnaround_h(problem, problem.pairs[place], theta)[0])
            leaving[at] = replace(streams[at], overflow=Overflow(limit_h=limit_h, rented_h=rented_h))
    if any(_too_long(pool, stream, waiting) for stream in leaving):
        shares = simulate_overflow(pool, leaving, waiting)
    else:
        shares = tuple(Overflown(rented_share=0.0, late_share=0.0) for _ in leaving)
    return {
        streams[at].id: _job(problem, theta, choice, pairs[at], place, shares[at], late.get(streams[at].id))
        for at, place in places.items()
    }


def _may_leave(problem: PlanProblem, pair: Pair) -> bool:
    job = problem.jobs[pair.job]
    return job.overflow and job.deadline_h is not None


def _too_long(pool: Pool, stream: Stream, waiting: Waiting) -> bool:
    """Whether some attempt waited longer than it may."""
    if stream.overflow is None:
        return False
    longest_h = max((job.longest_h for job in waiting.jobs if job.job == stream.id), default=0.0)
    may_wait_h = stream.overflow.limit_h - max(stream.duration_h, stream.overflow.rented_h)
    return longest_h > may_wait_h or not pool.powered.always  # by the wall, nights count too


def _job(
    problem: PlanProblem,
    theta: Theta,
    choice: Choice,
    own: int,
    place: int | None,
    found: Overflown | None,
    late_share: float | None,
) -> JobOverflow:
    if place is None:
        return JobOverflow(resource=None, pair=None, share=None, attempts=None, late_share=late_share, cost_usd=None)
    job = problem.jobs[problem.pairs[own].job]
    share = 0.0 if found is None else found.rented_share
    per_month = float(theta[0, job.runs_per_month_at]) * job.mean_factor * float(choice.routing[0, own])
    runs = per_month * problem.horizon_months * share
    return JobOverflow(
        resource=problem.pairs[place].resource,
        pair=place,
        share=share,
        attempts=runs * float(theta[0, job.attempts_per_run_at]),
        late_share=0.0 if found is None else found.late_share,
        cost_usd=runs * marginal_usd(problem, theta, problem.pairs[place]),
    )


def total_with_overflow_usd(
    problem: PlanProblem, theta: Theta, choice: Choice, moved: Mapping[int, JobOverflow]
) -> float:
    """Undiscounted total of a plan whose attempts go elsewhere, by the index of the pair they leave. [USD]

    The machines stay; what they draw less, and fixed costs of renting where nothing else is rented, is counted.
    """
    going = {own: (found.pair, found.share) for own, found in moved.items() if found.pair is not None and found.share}
    return _moved_usd(problem, theta, choice, going)


def _moved_usd(problem: PlanProblem, theta: Theta, choice: Choice, going: Mapping[int, tuple[int, float]]) -> float:
    """Total with shares of pairs moved to others. [USD]"""
    routing, by_month = choice.routing.copy(), dict(choice.by_month)
    for own, (place, share) in going.items():
        if own in by_month or place in by_month:
            there, here = (by_month.get(at, routing[:, at, None]) for at in (place, own))
            by_month[place], by_month[own] = there + here * share, here * (1.0 - share)
        routing[:, place] += routing[:, own] * share
        routing[:, own] *= 1.0 - share
    moved_choice = replace(choice, routing=routing, by_month=by_month)
    return float(kernel(problem, theta, moved_choice).tco_usd[0])
