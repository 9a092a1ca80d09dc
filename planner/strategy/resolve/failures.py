"""Failures and repair of a type of owned machine, where the scenario counts them."""

from __future__ import annotations

from planner.catalog.records import Figure
from planner.scenario.machines import MachineInput
from planner.strategy.machines import Failures
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.resolve.figures import Figures, combined


def resolve_failures(id: str, entry: MachineInput, figures: Figures, table: ParameterTable) -> Failures | None:
    """Columns of failures; None where nothing is said of them."""
    asked = entry.failures_per_year
    if asked is None:
        return None
    rate = _typical(entry.gpus, figures) if isinstance(asked, str) else given(asked)
    repair_h = figures.given_or(entry.repair_h, lambda: figures.assumed("repair_h"))
    return Failures(
        per_year_at=table.add(f"machines.{id}.failures_per_year", rate, "1/year"),
        repair_h_at=table.add(f"machines.{id}.repair_h", repair_h, "h"),
        restart_s_at=table.add("restart_s", figures.assumed("restart_s"), "s"),
    )


def _typical(gpus: int, figures: Figures) -> Figure:
    """What is assumed of each GPU, times those of the machine."""
    return combined(lambda per_gpu: per_gpu * gpus, figures.assumed("machine_failures_per_gpu_year"))
