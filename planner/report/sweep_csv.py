"""Points of a sweep -> rows of CSV, and what they say together."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.messages import render
from planner.report.export import safe_cell
from planner.scenario.axes import Axis, as_input
from planner.strategy.candidates import KINDS
from planner.strategy.sweep_rows import SweepPoint, WayPoint

FIGURES = ("feasible", "present_value_usd", "tco_usd", "capex_usd", "energy_kwh", "kg_co2e")
AT_THE_END = ("recommended", "problem")


def header(paths: Sequence[str], machines: Sequence[str], jobs: Sequence[str]) -> list[str]:
    """Columns: the varied paths, then of each strategy its figures, its machines and its jobs."""
    columns = list(paths)
    for kind in KINDS:
        columns += [f"{kind}.{name}" for name in FIGURES]
        columns += [f"{kind}.machines.{machine}" for machine in machines]
        for job in jobs:
            columns += [f"{kind}.jobs.{job}.turnaround_h", f"{kind}.jobs.{job}.throughput_per_s"]
        columns.append(f"{kind}.problem")
    return [*columns, *AT_THE_END]


def sweep_csv(paths: Sequence[str], machines: Sequence[str], jobs: Sequence[str], points: Iterable[SweepPoint]) -> str:
    """A sweep as CSV, in full precision; cells of what can't be planned are empty, and `problem` says why."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in header(paths, machines, jobs)])
    for point in points:
        writer.writerow([safe_cell(cell) for cell in _cells(point, machines, jobs)])
    return stream.getvalue()


def _cells(point: SweepPoint, machines: Sequence[str], jobs: Sequence[str]) -> list[object]:
    cells: list[object] = [as_input(value) for value in point.values]
    for way in point.ways:
        cells += _way_cells(way, machines, jobs)
    if not point.ways:
        width = len(header((), machines, jobs)) - len(AT_THE_END)
        cells += [""] * width
    return [*cells, point.recommended or "", point.problem]


def _way_cells(way: WayPoint, machines: Sequence[str], jobs: Sequence[str]) -> list[object]:
    cells: list[object] = ["true" if way.feasible else "false"]
    if way.planned:
        cells += [way.present_value_usd, way.tco_usd, way.capex_usd, way.kwh, way.kg_co2e]
        cells += [way.machine_count.get(machine, 0) for machine in machines]
    else:
        cells += [""] * (len(FIGURES) - 1 + len(machines))
    for job in jobs:
        slowest = way.slowest.get(job)
        cells += ["", ""] if slowest is None else [slowest.turnaround_h, slowest.throughput_per_s]
    return [*cells, way.problem]


def sweep_summary(axes: Sequence[Axis], done: Sequence[SweepPoint], *, points: int, file: str) -> dict[str, Any]:
    """How many points were planned, and which strategy how many of them recommend."""
    advice = Counter(point.recommended for point in done)
    return {
        "csv": file,
        "axes": [{"path": axis.path, "values": [as_input(value) for value in axis.values]} for axis in axes],
        "points": points,
        "points_written": len(done),
        "recommended": {kind: advice[kind] for kind in KINDS},
        "points_without_plan": advice[None],
    }


def summary_text(summary: Mapping[str, Any]) -> str:
    """The same to read."""
    lines = [f"{summary['points_written']:,} of {summary['points']:,} points written to {summary['csv']}"]
    lines += [
        f"{render(f'strategy_{kind}')}: recommended at {count:,}" for kind, count in summary["recommended"].items()
    ]
    return "\n".join([*lines, f"no way works at {summary['points_without_plan']:,}", ""])
