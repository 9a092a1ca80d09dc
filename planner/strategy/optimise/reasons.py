"""Why the best mix is as it is: limits that bind, and what was left out for which reason."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.strategy.allocate import late_problem
from planner.strategy.kernel import Choice, Evaluation
from planner.strategy.limits import limit_values
from planner.strategy.measures import COST
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.optimise.records import BindingLimit, Rejected
from planner.strategy.optimise.rounds import Search
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.progress import tell
from planner.strategy.quotas import quota_uses

_LESS = 1e-4  # share of the cost that a limit must cost to bind
_TIME_LIMIT_S = 2.0  # of each reason: the answer itself has more
_FULL = 0.999  # of a quota
_RULES = ("in_house_only", "pinned_elsewhere", "pinned_off", "region_not_allowed", "term_not_allowed")


def binding_limits(search: Search, choice: Choice, evaluation: Evaluation, cost: float) -> tuple[BindingLimit, ...]:
    """Limits without which the programme finds a cheaper plan, and quotas in full use."""
    values = limit_values(search.problem, evaluation, search.limits)
    found = []
    for at, limit in enumerate(search.limits):
        tell("limits", at, len(search.limits))
        others = tuple(other for other in search.limits if other is not limit)
        mix, solved = search.solved(others, time_limit_s=_TIME_LIMIT_S)
        if solved.values is None:
            continue
        less = cost - (float(mix.programme.costs @ solved.values) + search.base_usd)
        if less > _LESS * abs(cost):
            found.append(
                BindingLimit(
                    limit=limit.kind, field=limit.field, value=float(values[0, at]), of=limit.most, usd_less=less
                )
            )
    found += [
        BindingLimit(
            limit=f"quota.{use.quota.id}",
            field=f"rental.quota_gpus.{use.quota.id}",
            value=use.gpu_h,
            of=use.available_h,
            usd_less=None,
        )
        for use in quota_uses(search.problem, search.theta, choice)
        if use.gpu_h >= _FULL * use.available_h
    ]
    return tuple(found)


def rejected(
    search: Search, every: Coefficients, choice: Choice, evaluation: Evaluation, cost: float
) -> tuple[Rejected, ...]:
    """Types of machines and offers without any work, the nearest first."""
    problem = search.problem
    used = [pair for index, pair in enumerate(problem.pairs) if choice.routing[0, index] > 0]
    machines, offers = {pair.machine for pair in used}, {pair.offer for pair in used}
    without = [at for at in range(len(problem.machines)) if at not in machines and choice.machine_count[0, at] == 0]
    found = []
    for done, at in enumerate(without):
        tell("rejected", done, len(without))
        found.append(_machine(search, at, cost))
    now = _present_usd(search, every, choice, evaluation)
    found += [_offer(search, every, at, now, offers) for at in range(len(problem.offers)) if at not in offers]
    return tuple(sorted(found, key=lambda one: (one.usd_more is None, one.usd_more or 0.0, one.option)))


def _impossible(search: Search, *, machine: int | None = None, offer: int | None = None) -> Issue | None:
    """Why no job can use a resource; None where one can."""
    problem = search.problem
    mine = [
        pair
        for pair in problem.pairs
        if (machine is not None and pair.machine == machine) or (offer is not None and pair.offer == offer)
    ]
    late = []
    issues = []
    for pair in mine:
        if pair.problems:
            issues += list(pair.problems)
        elif (found := late_problem(problem, search.theta, pair)) is not None:
            late.append(found)
        else:
            return None
    issues = [*late, *sorted(issues, key=lambda issue: issue.code in _RULES)]
    return issues[0] if issues else Issue(code="rejected_no_job", params={})


def _machine(search: Search, at: int, cost: float) -> Rejected:
    """A type of machine: what the cheapest plan with one of it would cost more."""
    machine, effects = search.problem.machines[at], search.found.machines[at]
    impossible = _impossible(search, machine=at)
    if impossible is not None:
        return Rejected(option=machine.id, kind="machine", reason=impossible, usd_more=None)
    mix, solved = search.solved(search.limits, (at, effects.least), time_limit_s=_TIME_LIMIT_S)
    if solved.values is None and solved.timed_out:
        reason = Issue(code="rejected_not_tried", field=f"machines.{machine.id}", params={"option": machine.id})
        return Rejected(option=machine.id, kind="machine", reason=reason, usd_more=None)
    if solved.values is None:
        reason = Issue(code="rejected_breaks_limit", field=f"machines.{machine.id}", params={"option": machine.id})
        return Rejected(option=machine.id, kind="machine", reason=reason, usd_more=None)
    more = max(float(mix.programme.costs @ solved.values) + search.base_usd - cost, 0.0)
    params = {"option": machine.id, "count": effects.least, "more_usd": more}
    reason = Issue(code="rejected_machine_dearer", field=f"machines.{machine.id}", params=params)
    return Rejected(option=machine.id, kind="machine", reason=reason, usd_more=more)


def _present_usd(search: Search, every: Coefficients, choice: Choice, evaluation: Evaluation) -> Array:
    """Present value of what each job costs where it runs, its share of the machines included. [jobs]"""
    problem, found = search.problem, every
    result = np.zeros(len(problem.jobs))
    busy = np.zeros(len(problem.machines))
    hours = {}
    for place, index in enumerate(found.pairs):
        pair, share = problem.pairs[index], float(choice.routing[0, index])
        if share <= 0:
            continue
        result[pair.job] += share * float(found.share[place, COST] @ found.discount)
        if pair.machine is not None:
            hours[place] = share * float(found.busy_h[place]) * problem.jobs[pair.job].mean_factor
            busy[pair.machine] += hours[place]
    for place, mine in hours.items():
        pair = problem.pairs[found.pairs[place]]
        assert pair.machine is not None
        effects = found.machines[pair.machine]
        count = float(choice.machine_count[0, pair.machine])
        whole = effects.first[COST] + (count - effects.least) * effects.each[COST]
        if busy[pair.machine] > 0:
            result[pair.job] += float(whole @ found.discount) * mine / busy[pair.machine]
    return result


def _offer(search: Search, every: Coefficients, at: int, now: Array, used: set[int | None]) -> Rejected:
    """An offer: what the job to which it comes nearest would cost more there."""
    problem = search.problem
    offer = problem.offers[at]
    impossible = _impossible(search, offer=at)
    if impossible is not None:
        return Rejected(option=offer.id, kind="offer", reason=impossible, usd_more=None)
    providers = {problem.offers[other].provider for other in used if other is not None}
    fixed = np.zeros_like(every.base)
    if offer.provider not in providers:
        fixed = every.providers[offer.provider] + every.upload[offer.provider]
    if not providers:
        fixed = fixed + every.staff
    if at in every.commitments:
        fixed = fixed + every.commitments[at].terms
    more = {}
    for place, index in enumerate(every.pairs):
        pair = problem.pairs[index]
        if pair.offer == at:
            usd = float((every.share[place, COST] + fixed[COST]) @ every.discount)
            if at in every.commitments:
                usd -= _covered_usd(problem, every, place, at)
            more[pair.job] = usd - float(now[pair.job])
    job = min(more, key=lambda which: more[which])
    usd_more = max(more[job], 0.0)
    params = {"option": offer.id, "job": problem.jobs[job].id, "more_usd": usd_more}
    code = "rejected_offer_dearer" if more[job] > 0 else "rejected_offer_no_better"
    return Rejected(option=offer.id, kind="offer", reason=Issue(code=code, params=params), usd_more=usd_more)


def _covered_usd(problem: PlanProblem, every: Coefficients, place: int, offer: int) -> float:
    """Present value of what terms save on all runs of a pair."""
    terms = every.commitments[offer]
    profile = problem.jobs[problem.pairs[every.pairs[place]].job].profile
    factor = np.ones(problem.horizon_months) if profile is None else np.array(profile)
    hours = np.zeros(len(every.discount))
    hours[1 : problem.horizon_months + 1] = np.minimum(terms.cover_h, every.node_h[place] * factor)
    return float((terms.saved[COST] * hours) @ every.discount)
