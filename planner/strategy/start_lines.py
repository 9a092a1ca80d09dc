"""Cost lines of what becomes of machines that are there already at the start: kept, sold, or given new cards."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.cost.lines import CostLine
from planner.strategy.machines import Sold
from planner.strategy.rows import Rows


def kept_value_lines(rows: Rows, index: int) -> list[CostLine]:
    """What machines of a type that are there already, and stay, would bring today: the one line that isn't cash."""
    machine = rows.problem.machines[index]
    lines = []
    for cohort, units in zip(machine.cohorts, rows.cohort_units(index), strict=True):
        if not cohort.owned or not cohort.value_counts or cohort.leased_until is not None:
            continue
        suffix = "" if cohort.name == "owned" else f".{cohort.name}"
        lines += _today(
            rows, machine.id, "gpu", cohort.resale_gpu_today_at, units * machine.gpus, sold=False, suffix=suffix
        )
        lines += _today(rows, machine.id, "host", cohort.resale_host_today_at, units, sold=False, suffix=suffix)
    return lines


def sold_value_lines(rows: Rows) -> list[CostLine]:
    """The same of what is sold at the start, so that selling and keeping are measured alike."""
    return [line for sold in rows.problem.sold for line in _of_sold(rows, sold, sold=False)]


def sold_lines(rows: Rows) -> list[CostLine]:
    """What is sold at the start brings today's value, in cash."""
    return [line for sold in rows.problem.sold for line in _of_sold(rows, sold, sold=True)]


def _of_sold(rows: Rows, part: Sold, *, sold: bool) -> list[CostLine]:
    if not rows.problem.owned_value_counts:
        return []
    units = np.full(len(rows.theta), float(part.count))
    if part.upgraded is not None:
        units = np.minimum(rows.count[:, part.upgraded], units)
    return [
        *_today(rows, part.id, "gpu", part.gpu_at, units * part.gpus, sold=sold),
        *_today(rows, part.id, "host", part.host_at, units, sold=sold),
    ]


def _today(
    rows: Rows, id: str, part: str, column: int | None, units: Array, *, sold: bool, suffix: str = ""
) -> list[CostLine]:
    """Cards or hosts at today's value, as its cost or its proceeds."""
    if column is None or not units.any() or not rows.p(column).any():
        return []
    return [
        CostLine(
            id=f"resale_{part}.{id}.owned.m0" if sold else f"opportunity.{id}.{part}{suffix}",
            group="residual" if sold else "capex",
            resource=id,
            job="",
            unit="card" if part == "gpu" else "host",
            unit_price=-rows.p(column) if sold else rows.p(column),
            course=rows.events([(0, units)]),
            price_at=(column,),
        )
    ]
