"""What machines that are there already could become at the start, each combination as a scenario of its own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.scenario.schema import Scenario
from planner.strategy.candidates import Kind

AtStart = Literal["keep", "sell", "upgrade"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WayTotal:
    """One strategy under an option; totals are infinite when some job can't run."""

    id: Kind
    feasible: bool
    tco_usd: float
    present_value_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedOption:
    """An option for each type whose machines may be kept, sold or upgraded, and what the plan then costs."""

    machines: Mapping[str, AtStart]
    ways: tuple[WayTotal, ...]
    chosen: bool

    @property
    def best(self) -> WayTotal | None:
        """The feasible strategy with the lowest present value, the first of equal ones; None where none works."""
        feasible = [way for way in self.ways if way.feasible]
        return min(feasible, key=lambda way: round(way.present_value_usd, 2), default=None)


def start_options(scenario: Scenario) -> list[dict[str, AtStart]]:
    """Every combination of options of the types that ask for the cheapest; a single empty one where none does."""
    by_type: list[list[tuple[str, AtStart]]] = []
    for id, entry in scenario.machines.items():
        if entry.owned is None or entry.owned.at_start != "cheapest":
            continue
        options: list[AtStart] = ["keep", "sell"]
        if entry.owned.upgrade is not None:
            options.append("upgrade")
        by_type.append([(id, option) for option in options])
    return [dict(combination) for combination in itertools.product(*by_type)]


def with_start(scenario: Scenario, option: Mapping[str, AtStart]) -> Scenario:
    """A scenario in which these types have one of their options."""
    machines = dict(scenario.machines)
    for id, at_start in option.items():
        owned = machines[id].owned
        assert owned is not None
        machines[id] = machines[id].model_copy(update={"owned": owned.model_copy(update={"at_start": at_start})})
    return scenario.model_copy(update={"machines": machines})


def cheapest(options: list[OwnedOption]) -> int:
    """Index of the option with the lowest present value; the first of equal ones, or where none works."""
    values = [float("inf") if option.best is None else option.best.present_value_usd for option in options]
    return min(range(len(options)), key=lambda index: round(values[index], 2))
