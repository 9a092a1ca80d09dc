"""The command line: one subcommand, one planner call. Exit status 0, or 2 for invalid input."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence

from planner import __version__
from planner.cli.actual import add_actual
from planner.cli.arguments import date_of
from planner.cli.catalog import add_catalog
from planner.cli.claims import add_claims
from planner.cli.estimate import add_estimate
from planner.cli.measure import add_measure
from planner.cli.optimise import add_optimise
from planner.cli.output import EXIT_INVALID
from planner.cli.plan import add_plan
from planner.cli.recommend import add_recommend
from planner.cli.sweep import add_sweep
from planner.cli.validate import add_validate
from planner.errors import PlannerError


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except PlannerError as error:
        print(error, file=sys.stderr)
        return EXIT_INVALID


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON instead of text")
    common.add_argument(
        "--today",
        type=date_of,
        default=dt.date.today(),
        metavar="DATE",
        help="day of the run (YYYY-MM-DD); decides which prices are current",
    )
    parser = argparse.ArgumentParser(prog="python -m planner", description="Own GPUs, rent them, or mix both.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (
        add_plan,
        add_optimise,
        add_sweep,
        add_actual,
        add_estimate,
        add_recommend,
        add_catalog,
        add_claims,
        add_validate,
        add_measure,
    ):
        add(commands, common)
    return parser
