"""Points of a sweep -> rows of CSV, and what they say together."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
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


class SweepTable:
    """A sweep as CSV, in full precision, which grows by a row a point.

    Cells of what can't be planned are empty, and `problem` says why. Points aren't kept: there may be very many.
    """

    def __init__(self, axes: Sequence[Axis], machines: Sequence[str], jobs: Sequence[str]) -> None:
        self._axes, self._machines, self._jobs = axes, machines, jobs
        self._stream = io.StringIO()
        self._writer = csv.writer(self._stream, lineterminator="\n")
        self._advice: Counter[str | None] = Counter()
        self._writer.writerow([safe_cell(name) for name in header([axis.path for axis in axes], machines, jobs)])

    def add(self, point: SweepPoint) -> None:
        """Append a point."""
        self._writer.writerow([safe_cell(cell) for cell in _cells(point, self._machines, self._jobs)])
        self._advice[point.recommended] += 1

    @property
    def written(self) -> int:
        """Points so far."""
        return self._advice.total()

    def text(self) -> str:
        """The file's text."""
        return self._stream.getvalue()

    def summary(self, *, points: int, file: str) -> dict[str, Any]:
        """How many points were planned, and which strategy how many of them recommend."""
        return {
            "csv": file,
            "axes": [{"path": axis.path, "values": [as_input(value) for value in axis.values]} for axis in self._axes],
            "points": points,
            "points_written": self.written,
            "recommended": {kind: self._advice[kind] for kind in KINDS},
            "points_without_plan": self._advice[None],
        }


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


def summary_text(summary: Mapping[str, Any]) -> str:
    """The summary to read."""
    lines = [f"{summary['points_written']:,} of {summary['points']:,} points written to {summary['csv']}"]
    lines += [
        f"{render(f'strategy_{kind}')}: recommended at {count:,}" for kind, count in summary["recommended"].items()
    ]
    return "\n".join([*lines, f"no way works at {summary['points_without_plan']:,}", ""])
