"""What commands read: the catalog, a scenario, own measurements."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog, Workload
from planner.cli.output import first_problems
from planner.errors import InputError
from planner.measurements.reading import read_bytes
from planner.performance.evidence import Evidence
from planner.performance.own_rows import with_own_rows
from planner.scenario.load import check_document, parse_scenario, read_document, read_file
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario


def read_catalog(options: argparse.Namespace, folder: Path | None = None) -> Catalog:
    """The facts; planning as of an earlier day doesn't turn today's dates into faults."""
    return load_catalog(folder, today=max(options.today, dt.date.today()))


def read_scenario(options: argparse.Namespace) -> Scenario:
    """The scenario file, with the values of `--set`.

    Raises
    ------
    InputError
        A path that is given twice, or what is wrong with the file or a value.
    """
    if not options.set:
        return parse_scenario(read_file(options.file), file=str(options.file))
    return check_document(read_scenario_document(options), file=str(options.file))


def read_scenario_document(options: argparse.Namespace) -> dict[str, Any]:
    """The scenario file as it stands, with the values of `--set`, its fields unchecked.

    Raises
    ------
    InputError
        A path that is given twice, or what is wrong with the file.
    """
    document = read_document(read_file(options.file), file=str(options.file))
    paths = [path for path, _ in options.set or ()]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("path_twice", field=f"--set {path}", value=path)
    return with_overrides(document, dict(options.set or ()))


def with_measurements(
    evidence: Evidence, files: Sequence[Path] | None, catalog: Catalog, models: Sequence[Workload] = ()
) -> Evidence:
    """Evidence with the user's own rows; what is wrong with a row is said on stderr."""
    for file in files or ():
        content = read_bytes(file)
        evidence, problems = with_own_rows(evidence, content, file=file.name, catalog=catalog, models=models)
        for problem in first_problems(problems):
            print(problem, file=sys.stderr)
    return evidence
