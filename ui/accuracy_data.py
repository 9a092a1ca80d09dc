"""What the Accuracy page shows, computed once for each state of the data: shipped and own tables, and their points."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.errors import PlannerError, Problem, TableError
from planner.messages import render
from planner.performance.evidence import MEASUREMENTS_FOLDER, OWN, load_evidence
from planner.report.comparison import Compared, Comparison, compare_folder, compare_text
from planner.report.errors_by_group import ErrorGroup, errors_of
from planner.validate.score import ScoredRow
from ui import accuracy_charts, catalog_own, own_rows, state

_NUMBERED = re.compile(r" \(\d+\)$")  # behind the id of measurements whose rows have one id

Stamp = tuple[tuple[str, int, int], ...]


class GpuNames:
    """Id and name of the GPU that a row of a table means; its own words where the catalog doesn't know it."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[str, tuple[str, str]] = {}

    def _of(self, word: str) -> tuple[str, str]:
        if word not in self._known:
            try:
                gpu = find_accelerator(self._catalog, word)
                self._known[word] = gpu.id, gpu.name
            except PlannerError:
                self._known[word] = word, word
        return self._known[word]

    def id(self, row: ScoredRow) -> str:
        """Id in the catalog."""
        return self._of(row.gpu)[0]

    def name(self, row: ScoredRow) -> str:
        """Full name."""
        return self._of(row.gpu)[1]

    def name_of(self, word: str) -> str:
        """Full name of an id or another spelling."""
        return self._of(word)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """The shipped tables compared, with the errors of all and of each."""

    comparison: Comparison
    errors: ErrorGroup
    by_table: Mapping[str, ErrorGroup]
    points: Mapping[str, pd.DataFrame]
    bands: Mapping[str, tuple[float, float] | None]
    gpus: GpuNames
    gpu_counts: Mapping[str, int]  # rows that count by the GPU's name
    titles: Mapping[str, tuple[str, str | None]]  # title and address of each source of rows

    @property
    def rows(self) -> tuple[ScoredRow, ...]:
        """Rows of all tables."""
        return self.comparison.rows

    def source(self, row: ScoredRow) -> str:
        """Title of a row's source."""
        return self.titles.get(row.source, (row.source, None))[0]

    def address(self, row: ScoredRow) -> str | None:
        """Web address of a row's source."""
        return self.titles.get(row.source, (row.source, None))[1]

    def of_schema(self, schema: str) -> tuple[ScoredRow, ...]:
        """Rows of the tables of a kind."""
        return tuple(
            row
            for table in self.comparison.tables
            if table.validation.schema == schema
            for row in table.validation.rows
        )


def _stamp() -> Stamp:
    """Changes whenever a file does that predictions rest on."""
    files = sorted([*(state.ROOT / "data").glob("*.yaml"), *MEASUREMENTS_FOLDER.glob("*.*")])
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


@st.cache_resource(max_entries=2, show_spinner=False)
def _shipped(stamp: Stamp, _catalog: Catalog) -> Shipped:
    comparison, gpus = compare_folder(_catalog), GpuNames(_catalog)
    titles = {id: (source.title, source.url) for id, source in load_evidence().sources.items()}
    tables = comparison.tables
    return Shipped(
        comparison=comparison,
        errors=errors_of(comparison.rows),
        by_table={table.file: errors_of(table.validation.rows) for table in tables},
        points={table.file: _points(table, gpus, titles) for table in tables},
        bands={table.file: accuracy_charts.band(table.validation.rows) for table in tables},
        gpus=gpus,
        gpu_counts=Counter(gpus.name(row) for row in comparison.rows if row.counts),
        titles=titles,
    )


def _points(table: Compared, gpus: GpuNames, titles: Mapping[str, tuple[str, str | None]]) -> pd.DataFrame:
    def source(row: ScoredRow) -> str:
        return titles.get(row.source, (row.source, None))[0]

    return accuracy_charts.points_of(table.validation.rows, gpus.name, source)


def shipped() -> Shipped:
    """The shipped measurements against today's predictions.

    Raises
    ------
    CatalogError
        A table or the file of sources can't be read.
    """
    return _shipped(_stamp(), state.catalog())


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTable:
    """What was understood of a table of the user's.

    `faults` are problems of rows by line; `unusable` says why no plan can use the table at all. `counted` are the
    lines of the rows that can answer a plan.
    """

    file: str
    compared: Compared | None
    points: pd.DataFrame
    refused: tuple[Problem, ...]
    counted: frozenset[int]
    faults: Mapping[int, tuple[Problem, ...]]
    remarks: tuple[Problem, ...]  # of several rows together
    unusable: tuple[Problem, ...]
    moves: tuple[str, ...]  # what its rows do to other predictions, or why not
    gpus: GpuNames


@st.cache_resource(max_entries=16, show_spinner=False)
def _own(stamp: tuple[Any, ...], _file: str, _content: bytes, _catalog: Catalog) -> OwnTable:
    gpus = GpuNames(_catalog)
    compared, refused, unusable, moves = None, (), (), ()
    problems: tuple[Problem, ...] = ()
    counted: frozenset[int] = frozenset()
    try:
        compared = compare_text(_content, file=_file, catalog=_catalog)
    except TableError as error:
        refused = tuple(error.problems)
    try:
        evidence, (problems,) = own_rows.evidence_with(((_file, _content),), _catalog)
        ids = {_NUMBERED.sub("", row.id.removeprefix(f"{OWN}{_file}:")) for row in evidence.own}
        left_out = {problem.line for problem in problems if problem.field != "spread"}  # an odd spread counts
        rows = () if compared is None else compared.table.rows
        counted = frozenset(row.line for row in rows if row.line not in left_out and _NUMBERED.sub("", row.id) in ids)
        words = (offset.words(gpus.name_of(offset.gpu)) for offset in evidence.offsets)
        moves = tuple(render(code, **params) for code, params in words)
    except TableError as error:
        unusable = tuple(error.problems)
    faults: dict[int, tuple[Problem, ...]] = {}
    for problem in problems:
        if problem.line is not None:
            faults[problem.line] = (*faults.get(problem.line, ()), problem)
    return OwnTable(
        file=_file,
        compared=compared,
        points=pd.DataFrame() if compared is None else _points(compared, gpus, {}),
        refused=refused,
        counted=counted,
        faults=faults,
        remarks=tuple(problem for problem in problems if problem.line is None),
        unusable=unusable,
        moves=moves,
        gpus=gpus,
    )


def own_table(file: str, content: bytes) -> OwnTable:
    """A table of the user's against today's predictions, with the scenario's own GPUs and models known."""
    document = state.document()
    own = json.dumps([document.get("gpus"), document.get("models")], default=str)
    stamp = (file, hashlib.sha256(content).hexdigest(), own, _stamp())
    return _own(stamp, file, content, catalog_own.catalog())
