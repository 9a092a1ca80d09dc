"""The command `validate`: measured runs, predicted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.cli.arguments import Commands, path_of
from planner.cli.inputs import read_catalog
from planner.cli.output import first_problems, json_text, print_text
from planner.files import write_whole
from planner.measurements.reading import read_bytes
from planner.measurements.table import Table, read_table
from planner.performance.own_validation import validate_published, validate_with_own
from planner.report.validation import validation_csv, validation_document, validation_text


def add_validate(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    check_rows = commands.add_parser("validate", parents=[common], help="predict measured runs and compare")
    check_rows.add_argument("file", type=path_of, metavar="FILE.csv")
    check_rows.add_argument("--csv", type=path_of, metavar="OUT.csv", help="also write every row with its prediction")
    check_rows.add_argument(
        "--measurements",
        type=path_of,
        action="append",
        metavar="OWN.csv",
        help="own rows of the same kind, which recalibrate what is predicted; may be repeated",
    )
    check_rows.set_defaults(run=_validate)


def _validate(options: argparse.Namespace) -> None:
    table = read_table(read_bytes(options.file), file=str(options.file))
    catalog = read_catalog(options)
    moved = None
    if options.measurements:
        moved = validate_with_own(table, _tables(options.measurements), catalog)
        for problem in first_problems(moved.problems):
            print(problem, file=sys.stderr)
    shown = validate_published(table, catalog) if moved is None else moved.validation
    if options.csv is not None:
        sources = [options.file, *(options.measurements or ())]
        write_whole(options.csv, validation_csv(shown), field="--csv", sources=sources)
    if shown.summary.n == 0:
        print("no row could be scored: each has its reason", file=sys.stderr)
    print_text(json_text(validation_document(shown, moved)) if options.json else validation_text(shown, moved))


def _tables(files: Sequence[Path]) -> list[tuple[str, Table]]:
    return [(file.name, read_table(read_bytes(file), file=str(file))) for file in files]
