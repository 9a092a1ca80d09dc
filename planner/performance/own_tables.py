"""Own rows beside a table that is validated: what they change of its predictions, never of their own configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Generic, TypeVar

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.catalog.source_ids import MEASUREMENTS
from planner.errors import PlannerError, Problem
from planner.measurements.checks import Subjects, faults_of
from planner.measurements.fault import Fault
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow, SampleRow, is_flagged
from planner.measurements.table import Table
from planner.performance.constants import Constants
from planner.performance.evidence import OWN
from planner.performance.own_offset import MOST_SOURCES, Kind, OwnEntry, OwnOffset, evenly, own_offset, software_key

OWN_STACK = "own-stack"
"""Novelty of predictions that own rows of the same software on the same GPU were looked at for."""
_Row = TypeVar("_Row", LanguageRow, SampleRow)
_Key = tuple[str, Kind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Own rows of one software on one GPU by configuration, and what they say together."""

    entries: dict[Hashable, OwnEntry]
    whole: OwnOffset | None


class OwnTables(Generic[_Row]):
    """Own rows of the kind of table that is validated.

    Parameters
    ----------
    tables : sequence of (str, Table)
        Names of files and what they hold.
    row_type : type
        Rows of the table that is validated; those of others say nothing of it.
    predict : callable
        Predictions of rows without what was measured, as if nobody had measured them.
    catalog : Catalog
        GPUs and models.
    constants : Constants
        For how wide intervals are.
    """

    def __init__(
        self,
        tables: Sequence[tuple[str, Table]],
        row_type: type[_Row],
        predict: Callable[[Sequence[_Row]], Sequence[RowPrediction]],
        catalog: Catalog,
        constants: Constants,
    ) -> None:
        self._catalog, self._constants = catalog, constants
        self._gpus: dict[str, str] = {}
        self._groups: dict[_Key, _Group] = {}
        self.problems: list[Problem] = []
        self._read(self._sound(tables, row_type), predict)

    @property
    def offsets(self) -> tuple[OwnOffset, ...]:
        """What the rows of each software on each GPU say."""
        return tuple(group.whole for group in self._groups.values() if group.whole is not None)

    def _sound(self, tables: Sequence[tuple[str, Table]], row_type: type[_Row]) -> list[tuple[str, _Row]]:
        """Own rows that can be compared, each file's once; what is wrong with the others is among the problems."""
        subjects = Subjects(self._catalog)
        found = []
        for at, (file, table) in enumerate(tables):
            twice = next((name for name, other in tables[:at] if other.rows == table.rows), None)
            if twice is not None:
                self._refuse(file, "", f"the same table as {twice}", "each table once: it counts once")
                continue
            for index, row in enumerate(table.rows):
                if not isinstance(row, row_type):
                    self._refuse(file, "", f"a table of {table.schema}", "the kind of table that is validated")
                    break
                faults = faults_of(table, index, subjects) or _incomparable(row)
                for fault in faults:
                    self._refuse(file, row.id, fault.found, fault.expected, fault.field, row.line)
                if not faults:
                    found.append((file, row))
        return found

    def _refuse(
        self, file: str, record: str, found: str, expected: str, field: str = "", line: int | None = None
    ) -> None:
        self.problems.append(Problem(file=file, record=record, field=field, found=found, expected=expected, line=line))

    def _read(
        self, rows: Sequence[tuple[str, _Row]], predict: Callable[[Sequence[_Row]], Sequence[RowPrediction]]
    ) -> None:
        groups: dict[_Key, dict[Hashable, list[tuple[str, _Row]]]] = {}
        for file, row in rows:
            key = self._key(row)
            if key is not None:
                groups.setdefault(key, {}).setdefault(_configuration(row), []).append((file, row))
        for key, alike in groups.items():
            kept = [list(alike.items())[at] for at in evenly(len(alike))]
            predictions = predict([same[0][1].without_measured() for _, same in kept])
            entries = {
                configuration: _entry(same, prediction.predicted)
                for (configuration, same), prediction in zip(kept, predictions, strict=True)
                if prediction.predicted is not None
            }
            self._groups[key] = _Group(entries=entries, whole=own_offset(*key, list(entries.values())))

    def _key(self, row: _Row) -> _Key | None:
        name = row.gpu or ""
        if name not in self._gpus:
            try:
                self._gpus[name] = find_accelerator(self._catalog, name).id
            except PlannerError:  # a name of several cards: which of them isn't known here
                self._gpus[name] = ""
        sequences = isinstance(row, LanguageRow) or (row.input or "").casefold().startswith("seq")
        gpu = self._gpus[name]
        return (gpu, "transformer" if sequences else "vision", software_key(row.framework)) if gpu else None

    def moved(self, rows: Sequence[_Row], predictions: Sequence[RowPrediction]) -> list[RowPrediction]:
        """Predictions of rows, moved by own rows of the same software on the same GPU but other configurations."""
        return [self._moved(row, told) for row, told in zip(rows, predictions, strict=True)]

    def _moved(self, row: _Row, told: RowPrediction) -> RowPrediction:
        key = self._key(row)
        group = None if key is None else self._groups.get(key)
        if (
            key is None
            or group is None
            or told.predicted is None
            or told.low is None
            or told.high is None
            or told.basis == "measured"
        ):
            return told
        own = self._without(row, key, group)
        if own is None:
            return told
        half_width = math.log(told.high / told.low) / 2  # own rows tell whether the code is slow
        if (row.model or "").casefold() in own.models:
            half_width = own.half_width(half_width, self._constants.half_width_same_stack)
        speed = told.predicted * math.exp(own.offset)
        named: tuple[str, ...] = own.ids[:MOST_SOURCES]
        return replace(
            told,
            predicted=speed,
            low=speed * math.exp(-half_width),
            high=speed * math.exp(half_width),
            novelty=OWN_STACK,
            sources=(*(f"{MEASUREMENTS}{OWN}{id}" for id in named), *told.sources),
        )

    def _without(self, row: _Row, key: _Key, group: _Group) -> OwnOffset | None:
        """What a group says of a row, which its own configuration must not answer."""
        configuration = _configuration(row)
        if configuration not in group.entries:
            return group.whole
        return own_offset(*key, [entry for other, entry in group.entries.items() if other != configuration])


def _incomparable(row: LanguageRow | SampleRow) -> tuple[Fault, ...]:
    if row.measured is None:
        return (Fault(field="", found="no measured value", expected="a row that can be compared"),)
    if is_flagged(row):
        return (Fault(field="notes", found="a flag", expected="a row that nobody doubts"),)
    return ()


def _configuration(row: LanguageRow | SampleRow) -> Hashable:
    """A row without what only tells where it stands and how fast it was."""
    bare = row.without_measured()
    return replace(bare, id="", line=0, source=None, date=None, notes=None)


def _entry(rows: Sequence[tuple[str, LanguageRow | SampleRow]], predicted: float) -> OwnEntry:
    measured = median(row.measured for _, row in rows if row.measured is not None)
    return OwnEntry(
        model=(rows[0][1].model or "").casefold(),
        ids=tuple(f"{file}:{row.id}" for file, row in rows),
        files=tuple(file for file, _ in rows),
        log_ratio=math.log(predicted / measured),
    )
