"""The command `optimise`: the best mix of a scenario file."""

from __future__ import annotations

import argparse
import sys

from planner.cli.arguments import Commands, add_measurements, override_of, path_of
from planner.cli.inputs import read_catalog, read_scenario, with_measurements
from planner.cli.output import json_text, print_text
from planner.performance.evidence import load_evidence
from planner.report.document import plan_document
from planner.report.front import with_fronts
from planner.report.optimum import with_optimum
from planner.report.optimum_text import optimum_text
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.strategy.evaluate import evaluate


def add_optimise(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    optimise = commands.add_parser(
        "optimise", parents=[common], help="the best mix of owned and rented machines for a scenario file"
    )
    optimise.add_argument("file", type=path_of, metavar="FILE.yaml")
    optimise.add_argument(
        "--set",
        type=override_of,
        action="append",
        metavar="PATH=VALUE",
        help="change an input by its path; may be repeated",
    )
    add_measurements(optimise)
    optimise.set_defaults(run=_optimise)


def _optimise(options: argparse.Namespace) -> None:
    catalog = read_catalog(options)
    scenario = read_scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = with_measurements(load_evidence(), options.measurements, known)
    result = evaluate(scenario, catalog, evidence, today=options.today, search=True)
    document = with_fronts(with_optimum(plan_document(result), result), result)
    if not document["optimal"]["found"]:
        for entry in document["strategies"]:
            for problem in entry["problems"] if entry["id"] == "optimal" else ():
                print(problem["message"], file=sys.stderr)
    print_text(json_text(document) if options.json else optimum_text(document))
