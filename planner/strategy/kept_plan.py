"""A plan that is kept while inputs change: the same machines, and the same places for the same jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS, Kind
from planner.strategy.kernel import Choice
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.start_options import AtStart
from planner.strategy.sweep_rows import Kept, cheapest_option, ways_of_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """What each strategy chose in a problem, under the option at the start that a plan takes."""

    option: Mapping[str, AtStart]
    problem: PlanProblem
    kept: Kept

    @classmethod
    def of(cls, options: Sequence[Mapping[str, AtStart]], problems: Sequence[PlanProblem]) -> KeptPlan:
        """The plan of a scenario as it stands, from its problems under each option."""
        ways = [ways_of_rows(problem, problem.theta(), None)[0] for problem in problems]
        best = cheapest_option(ways)
        problem = problems[best]
        found = {kind: allocate(problem, problem.theta(), kind) for kind in KINDS}
        kept: Kept = {kind: way.problems if way.choice is None else way.choice for kind, way in found.items()}
        return cls(option=options[best], problem=problem, kept=kept)

    def options(self, options: Sequence[Mapping[str, AtStart]]) -> tuple[int, ...]:
        """The option that is kept, among those of another problem."""
        return (options.index(self.option),)

    def choices(self, problem: PlanProblem) -> Kept:
        """The kept choices in another problem; a number of machines that is changed in the scenario is the new one."""
        if problem is self.problem:
            return self.kept
        return {
            kind: self._moved(kind, choice, problem) if isinstance(choice, Choice) else choice
            for kind, choice in self.kept.items()
        }

    def _moved(self, kind: Kind, choice: Choice, problem: PlanProblem) -> Choice | tuple[Issue, ...]:
        places = {(problem.jobs[pair.job].id, pair.resource): index for index, pair in enumerate(problem.pairs)}
        routing = np.zeros((1, len(problem.pairs)))
        shares = {}
        for index in np.flatnonzero(choice.routing[0]).tolist():
            pair = self.problem.pairs[index]
            job = self.problem.jobs[pair.job].id
            place = places.get((job, pair.resource))
            if place is None or (index in choice.by_month and problem.horizon_months != self.problem.horizon_months):
                code = "kept_place_gone" if place is None else "kept_months_differ"
                return (Issue(code=code, field=f"jobs.{job}", params={"job": job, "resource": pair.resource}),)
            routing[:, place] = choice.routing[:, index]
            if index in choice.by_month:
                shares[place] = choice.by_month[index]
        before = {machine.id: at for at, machine in enumerate(self.problem.machines)}
        counts = np.zeros((1, len(problem.machines)))
        for at, machine in enumerate(problem.machines):
            old = before.get(machine.id)
            same = old is not None and machine.fixed_count == self.problem.machines[old].fixed_count
            if same and old is not None:
                counts[0, at] = choice.machine_count[0, old]
            elif kind != "cloud":
                counts[0, at] = machine.fixed_count or 0
        return Choice(machine_count=counts, routing=routing, by_month=shares)
