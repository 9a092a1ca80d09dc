"""How credits that don't suffice for a month were shared among the parts of bills: known once a plan is costed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from planner.cost.course import Array
from planner.strategy.kernel import Evaluation
from planner.strategy.optimise.mix import BillPart, billed_at, part_of_extras, part_of_instances
from planner.strategy.problem import PlanProblem
from planner.strategy.relief_lines import EXTRAS

Split = Mapping[tuple[int, int], Mapping[BillPart, float]]
"""Shares of what a credit pays in a month, by credit and month or `ANY`."""
ANY: Final = 0
"""A month in which a credit paid nothing yet."""
NO_SPLIT: Final[Split] = MappingProxyType({})
"""Nothing was costed yet."""


def credit_split(problem: PlanProblem, evaluation: Evaluation) -> Split:
    """Shares in every month of a plan of one row in which credits pay."""
    numbers = {credit.id: number for number, credit in enumerate(problem.credits)}
    offers = {offer.id: at for at, offer in enumerate(problem.offers)}
    providers = {provider.id: at for at, provider in enumerate(problem.providers)}
    paid: dict[tuple[int, int], dict[BillPart, float]] = {}
    for line in evaluation.lines:
        if line.kind != "credit":
            continue
        number = numbers[line.id.split(".")[1]]
        kind = line.reduces.split(".")[0]
        if kind in EXTRAS:
            part = part_of_extras(providers[line.resource])
        else:
            at = offers[line.resource]
            part = part_of_instances(problem, at if kind == "commitment" else billed_at(problem, at))
        amounts: Array = line.quantity[0]
        for time in amounts.nonzero()[0].tolist():
            mine = paid.setdefault((number, time + 1 if part.early else max(time, 1)), {})
            mine[part] = mine.get(part, 0.0) + float(amounts[time])
    shares = {
        when: {part: amount / sum(mine.values()) for part, amount in mine.items()}
        for when, mine in sorted(paid.items())
    }
    return {(number, ANY): mine for (number, _), mine in shares.items()} | shares  # of each credit its last month
