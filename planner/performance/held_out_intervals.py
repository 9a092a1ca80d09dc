"""Intervals of language rows that the fit didn't see: what they cover, and how much slower unknown code may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.fit_steps import FitRows, Indices, StepFit, fit_steps, predicted_log_ratio
from planner.performance.held_out import SOURCES, HeldOut, Split
from planner.performance.rows.predict import SpeedPrediction
from planner.performance.rows.width import WidthParts, Widths
from planner.performance.stacks import Stack
from planner.performance.step import step_times
from planner.performance.step_inputs import Vector

PERCENT = 100.0
_OUTSIDE = 0.1  # of rows on either side


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFactors:
    """How much of the half-width of unknown code it may be slower and faster. [-]"""

    slower: float
    faster: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Rows of one group: logs of predicted over measured, and by how much less and more may be measured."""

    log_ratios: Vector
    slower: Vector
    faster: Vector

    @property
    def coverage_80(self) -> float:
        """Share of the rows inside. [-]"""
        return float(np.mean((self.log_ratios <= self.slower) & (-self.log_ratios <= self.faster)))

    @property
    def median_half_width(self) -> float:
        """Median of half the interval over the prediction. [%]"""
        return float(np.median(PERCENT * (np.exp(self.faster) - np.exp(-self.slower)) / 2))


def together(intervals: Sequence[Interval]) -> Interval:
    """Rows of several groups as one."""
    return Interval(
        log_ratios=np.concatenate([each.log_ratios for each in intervals]),
        slower=np.concatenate([each.slower for each in intervals]),
        faster=np.concatenate([each.faster for each in intervals]),
    )


class HeldOutIntervals:
    """Intervals of groups left out, by fits, offsets of codes and known GPUs that are without them.

    Half-widths are those of the assumptions; how they lean to the slower side for unknown code is found from the other
    sources, each predicted without itself and without the group that is scored.
    """

    def __init__(self, held: HeldOut) -> None:
        self._held = held
        self._sources = held.splits()[SOURCES].groups
        self._fits: dict[frozenset[str], StepFit] = {}

    def of(self, split: Split) -> dict[str, Interval]:
        """Of each group of a split, its scored rows."""
        return {name: self._interval(name, rows, split) for name, rows in split.groups.items()}

    def factors(self, without: str | None = None) -> CodeFactors:
        """What one of ten rows of sources left out is slower, and one of ten faster than. [-]"""
        found: list[Vector] = []
        for source in self._sources:
            if source != without:
                gone = frozenset({source, without} - {None})
                ratios, parts = self._left_out(self._sources[source], self._fit(gone))
                found.append(needed(ratios, parts))
        return factors_of(np.concatenate(found))

    def _interval(self, name: str, rows: Indices, split: Split) -> Interval:
        scored = rows if split.scored is None else np.intersect1d(rows, split.scored)
        of_source = name if name in self._sources and split.groups.keys() == self._sources.keys() else None
        fit = self._without(rows) if of_source is None else self._fit(frozenset({of_source}))
        ratios, parts = self._left_out(scored, fit)
        unknown = any(each.unknown_code for each in parts)
        found = self.factors(of_source) if unknown else CodeFactors(slower=1.0, faster=1.0)
        sides = np.array([each.sides(slower=found.slower, faster=found.faster) for each in parts])
        return Interval(log_ratios=ratios, slower=sides[:, 0], faster=sides[:, 1])

    def _without(self, rows: Indices) -> StepFit:
        data = self._held.data
        return fit_steps(data, np.setdiff1d(np.arange(len(data)), rows), self._held.start, self._held.catalog)

    def _fit(self, sources: frozenset[str | None]) -> StepFit:
        names = frozenset(name for name in sources if name is not None)
        if names not in self._fits:
            self._fits[names] = self._without(np.concatenate([self._sources[name] for name in sorted(names)]))
        return self._fits[names]

    def _left_out(self, rows: Indices, fit: StepFit) -> tuple[Vector, list[WidthParts]]:
        held = self._held
        return predicted_log_ratio(held.data, rows, fit), width_parts(held.data, rows, fit, held.catalog)


def needed(log_ratios: Vector, parts: Sequence[WidthParts]) -> Vector:
    """How much of its base each row of unknown code is slower (positive) or faster, beyond what else is uncertain."""
    rows = [at for at, each in enumerate(parts) if each.unknown_code]
    base, more = np.array([[parts[at].base, parts[at].more] for at in rows]).reshape(-1, 2).T
    errors = log_ratios[rows]
    found: Vector = np.sign(errors) * np.sqrt(np.maximum(errors**2 - more**2, 0.0)) / base
    return found


def factors_of(needs: Vector) -> CodeFactors:
    """Factors that leave a tenth of the rows on either side."""
    faster, slower = np.quantile(needs, [_OUTSIDE, 1 - _OUTSIDE])
    return CodeFactors(slower=max(float(slower), 0.0), faster=max(-float(faster), 0.0))


def width_parts(data: FitRows, rows: Indices, fit: StepFit, catalog: Catalog) -> list[WidthParts]:
    """What makes the intervals of rows when a fit's rows are all that is known."""
    stacks = _known_stacks(data, fit)
    widths = Widths(catalog, tuple(stacks.values()), fit.constants)
    times = step_times(data.inputs.take(rows), fit.constants)
    found = []
    for at, row in enumerate(rows):
        run = data.runs[row]
        known = replace(run, subject=replace(run.subject, stack=stacks.get(run.subject.stack.id, run.subject.stack)))
        shares = {name: float(seconds[at] / times.total_s[at]) for name, seconds in times.parts_s.items()}
        found.append(widths.parts(SpeedPrediction(tokens_per_s=1.0, shares=shares, run=known)))
    return found


def _known_stacks(data: FitRows, fit: StepFit) -> Mapping[str, Stack]:
    offsets = fit.offsets
    return {
        stack.id: replace(
            stack,
            rows=offsets.rows.get(stack.id, 0),
            by_gpu={gpu: value for (of, gpu), value in offsets.by_gpu.items() if of == stack.id},
        )
        for stack in (run.subject.stack for run in data.runs)
        if stack.id
    }


def print_intervals(held: HeldOut) -> None:
    """Print what intervals cover in the tables of docs/accuracy.md."""
    intervals = HeldOutIntervals(held)
    for label, split in held.splits().items():
        of_groups = intervals.of(split)
        print(f"\n{label} left out: {_line(together(list(of_groups.values())))}")
        if len(of_groups) > 1:
            for name, interval in of_groups.items():
                print(f"  {name:45s} {_line(interval)}")


def _line(interval: Interval) -> str:
    return f"coverage {interval.coverage_80:4.0%}  median half-width {interval.median_half_width:5.1f} %"
