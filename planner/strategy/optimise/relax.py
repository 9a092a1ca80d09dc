"""No plan within the limits: how far each alone would have to give way."""

from __future__ import annotations

from planner.strategy.limits import Limit
from planner.strategy.optimise.limit_rows import with_limits
from planner.strategy.optimise.records import Relaxation
from planner.strategy.optimise.rounds import Search
from planner.strategy.problem import Issue
from planner.strategy.progress import tell


def relaxations(search: Search) -> tuple[Relaxation, ...]:
    """For each limit the least that would do while the others hold; none where it alone doesn't help."""
    found = []
    for done, limit in enumerate(search.limits):
        tell("relaxations", done, len(search.limits))
        excess = _excess(search, limit)
        if excess is not None:
            found.append(Relaxation(limit=limit, needed=limit.most + excess))
    return tuple(found)


def _excess(search: Search, limit: Limit) -> float | None:
    mix = search.mix()
    place = with_limits(mix, search.limits, slack=limit.kind)
    if place is None:
        return None
    objective = 0.0 * mix.programme.costs
    objective[place] = 1.0
    solved = mix.programme.solve(gap=search.gap, time_limit_s=search.time_limit_s, objective=objective)
    return None if solved.values is None else float(solved.values[place])


def relaxed_problems(search: Search, found: tuple[Relaxation, ...], *, timed_out: bool) -> tuple[Issue, ...]:
    """Why there is no best mix."""
    if timed_out:
        return (Issue(code="search_timed_out", params={"seconds": search.time_limit_s}),)
    if not search.limits:
        return (Issue(code="no_mix", params={}),)
    if not found:
        fields = [limit.field for limit in search.limits]
        return (Issue(code="limits_contradict", field="limits", params={"fields": fields}),)
    return tuple(
        Issue(
            code="limit_to_relax_usd" if one.limit.money else f"limit_to_relax_{one.limit.kind}",
            field=one.limit.field,
            params={"most_usd": one.limit.most, "needed_usd": one.needed}
            if one.limit.money
            else {"most": one.limit.most, "needed": one.needed},
        )
        for one in found
    )
