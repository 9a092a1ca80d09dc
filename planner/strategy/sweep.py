"""A sweep: the named strategies planned anew, or a kept plan costed, at every point of a grid of inputs."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.catalog.records import Catalog
from planner.errors import PlannerError
from planner.performance.evidence import Evidence
from planner.scenario.axes import Axis, as_input
from planner.scenario.load import check_document
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario
from planner.strategy.kept_plan import KeptPlan
from planner.strategy.plain_columns import is_plain, only_columns
from planner.strategy.problem import PlanProblem
from planner.strategy.resolve import resolve
from planner.strategy.start_options import AtStart, start_options, with_start
from planner.strategy.sweep_rows import SweepPoint, point_of, ways_of_rows

BLOCK = 1024  # points that are planned together, where inputs are columns
_KEPT_PROBLEMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resolved:
    """What some values of inputs that change more than figures lead to: a problem for each option at the start."""

    options: tuple[Mapping[str, AtStart], ...]
    problems: tuple[PlanProblem, ...]
    plain: bool = False  # whether values of all plain axes only change columns of these problems


class Sweep:
    """A grid over a scenario document. Points come in the order of the axes, the last changing fastest."""

    def __init__(
        self,
        document: Mapping[str, Any],
        axes: Sequence[Axis],
        catalog: Catalog,
        evidence: Evidence,
        *,
        today: dt.date,
        keep_plan: bool = False,
    ) -> None:
        self.axes = tuple(axes)
        self._document, self._evidence, self._today = document, evidence, today
        self._base = check_document(document)
        self._catalogs: OrderedDict[str, Catalog] = OrderedDict()
        self._plain_catalog = catalog
        self._known: OrderedDict[tuple[float, ...], _Resolved | None] = OrderedDict()
        base = self._resolve(self._base)
        self._plain = tuple(
            is_plain(axis) and only_columns([axis], base.problems, lambda values: self._resolve_at(values).problems)
            for axis in self.axes
        )
        self._kept = KeptPlan.of(base.options, base.problems) if keep_plan else None

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(len(axis.values) for axis in self.axes)

    @property
    def columns(self) -> tuple[Axis, ...]:
        """Axes whose values only change a column of the parameter table, in the scenario as it stands."""
        return tuple(axis for axis, plain in zip(self.axes, self._plain, strict=True) if plain)

    @property
    def machines(self) -> tuple[str, ...]:
        """Machine types of the scenario."""
        return tuple(self._base.machines)

    @property
    def jobs(self) -> tuple[str, ...]:
        """Jobs of the scenario."""
        return tuple(self._base.jobs)

    def __iter__(self) -> Iterator[SweepPoint]:
        grid = itertools.product(*[axis.values for axis in self.axes])
        size = BLOCK if any(self._plain) else 1
        while block := list(itertools.islice(grid, size)):
            yield from self._block(block)

    def _block(self, points: Sequence[tuple[float, ...]]) -> list[SweepPoint]:
        """Points with the same values of inputs that change more than figures are planned together."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for place, values in enumerate(points):
            key = tuple(value for value, plain in zip(values, self._plain, strict=True) if not plain)
            groups.setdefault(key, []).append(place)
        found: dict[int, SweepPoint] = {}
        for key, places in groups.items():
            rows = [points[place] for place in places]
            found.update(zip(places, self._group(key, rows), strict=True))
        return [found[place] for place in range(len(points))]

    def _group(self, key: tuple[float, ...], rows: Sequence[tuple[float, ...]]) -> list[SweepPoint]:
        resolved = self._resolved(key)
        if resolved is not None and resolved.plain:
            return self._planned(resolved, rows, self._plain)
        found = []
        for values in rows:
            try:
                at = self._resolve_at({axis.path: value for axis, value in zip(self.axes, values, strict=True)})
                found += self._planned(at, [values], [False] * len(values))
            except PlannerError as error:
                found.append(SweepPoint(values=values, ways=(), recommended=None, problem=str(error)))
        return found

    def _planned(
        self, resolved: _Resolved, rows: Sequence[tuple[float, ...]], columns: Sequence[bool]
    ) -> list[SweepPoint]:
        """Points of the same problems, whose values differ in some columns."""
        options = range(len(resolved.problems)) if self._kept is None else self._kept.options(resolved.options)
        by_option = []
        for option in options:
            problem = resolved.problems[option]
            theta = problem.theta().repeat(len(rows), axis=0)
            for place, axis in enumerate(self.axes):
                if columns[place]:
                    theta[:, problem.column(axis.path)] = [values[place] for values in rows]
            by_option.append(ways_of_rows(problem, theta, None if self._kept is None else self._kept.choices(problem)))
        return [point_of(values, [ways[row] for ways in by_option]) for row, values in enumerate(rows)]

    def _resolved(self, key: tuple[float, ...]) -> _Resolved | None:
        """Problems at values of the inputs that change more than figures; None where these are impossible."""
        if not any(self._plain):
            return None
        if key not in self._known:
            plain = [axis for axis, known in zip(self.axes, self._plain, strict=True) if known]
            others = [axis for axis, known in zip(self.axes, self._plain, strict=True) if not known]
            here = {axis.path: value for axis, value in zip(others, key, strict=True)}
            try:
                found = self._resolve_at(here)
                same = only_columns(plain, found.problems, lambda values: self._resolve_at({**here, **values}).problems)
                self._known[key] = replace(found, plain=same)
            except PlannerError:
                self._known[key] = None
            while len(self._known) > _KEPT_PROBLEMS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]

    def _resolve_at(self, values: Mapping[str, float]) -> _Resolved:
        return self._resolve(self._scenario(values))

    def _scenario(self, values: Mapping[str, float]) -> Scenario:
        overrides = {path: as_input(value) for path, value in values.items()}
        return check_document(with_overrides(self._document, overrides))

    def _resolve(self, scenario: Scenario) -> _Resolved:
        catalog = self._catalog(scenario)
        options = start_options(scenario)
        problems = (
            resolve(with_start(scenario, option), catalog, self._evidence, today=self._today) for option in options
        )
        return _Resolved(options=tuple(options), problems=tuple(problems))

    def _catalog(self, scenario: Scenario) -> Catalog:
        """The catalog with the scenario's own GPUs and models; the same object for the same ones, as estimates are
        kept by it."""
        key = repr((scenario.gpus, scenario.models))
        if key not in self._catalogs:
            self._catalogs[key] = with_own_models(with_own_gpus(self._plain_catalog, scenario.gpus), scenario.models)
            while len(self._catalogs) > 2:
                self._catalogs.popitem(last=False)
        return self._catalogs[key]
