"""The command `optimise`: the best mix of a scenario file."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import Any

from planner.catalog.records import Catalog
from planner.cli.arguments import Commands, add_measurements, budget_of, override_of, path_of
from planner.cli.inputs import read_catalog, read_scenario, read_scenario_document, with_measurements
from planner.cli.output import json_text, print_text
from planner.errors import InputError, UnknownIdError
from planner.performance.evidence import Evidence, load_evidence
from planner.report.document import plan_document
from planner.report.front import with_fronts
from planner.report.most_work import with_most_work
from planner.report.optimum import with_optimum
from planner.report.optimum_text import optimum_text
from planner.scenario.load import check_document
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario
from planner.scenario.work_scale import scaled_runs
from planner.strategy.evaluate import evaluate
from planner.strategy.optimise.most_work import most_work


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
    optimise.add_argument(
        "--most-work",
        nargs="*",
        metavar="JOB",
        help="turned round: the most runs of these jobs, or of all, that a plan within the budget does",
    )
    optimise.add_argument(
        "--budget",
        type=budget_of,
        metavar="AMOUNT",
        help='of the whole plan, for --most-work: a number in USD or text such as "8000 EUR"; else limits.total_usd',
    )
    add_measurements(optimise)
    optimise.set_defaults(run=_optimise)


def _optimise(options: argparse.Namespace) -> None:
    if options.budget is not None:
        if options.most_work is None:
            raise InputError("budget_alone", field="--budget", value=options.budget)
        options.set = [*(options.set or ()), ("limits.total_usd", options.budget)]
    catalog = read_catalog(options)
    scenario = read_scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = with_measurements(load_evidence(), options.measurements, known)
    if options.most_work is None:
        result = evaluate(scenario, catalog, evidence, today=options.today, search=True)
        document = with_fronts(with_optimum(plan_document(result), result), result)
    else:
        document = _most_work(options, scenario, catalog, evidence)
    if not document["optimal"]["found"]:
        for entry in document["strategies"]:
            for problem in entry["problems"] if entry["id"] == "optimal" else ():
                print(problem["message"], file=sys.stderr)
    print_text(json_text(document) if options.json else optimum_text(document))


def _most_work(options: argparse.Namespace, scenario: Scenario, catalog: Catalog, evidence: Evidence) -> dict[str, Any]:
    """The document of the most work that the budget pays for; without any, that of the work as written."""
    ids = [job for job in scenario.jobs if not options.most_work or job in options.most_work]
    for job in options.most_work:
        if job not in ids:
            near = difflib.get_close_matches(job, list(scenario.jobs), n=3)
            raise UnknownIdError("job", job, near, field="--most-work")
    if scenario.limits.total_usd is None:
        raise InputError("no_budget", field="--most-work")
    asked = evaluate(scenario, catalog, evidence, today=options.today)
    names = [job.id for job in asked.problem.jobs]
    found = most_work(asked.problem, asked.theta, [names.index(job) for job in ids])
    if found.factor > 0:
        overrides = scaled_runs(read_scenario_document(options), ids, found.factor)
        scenario = check_document(with_overrides(read_scenario_document(options), overrides), file=str(options.file))
    result = evaluate(scenario, catalog, evidence, today=options.today, search=True)
    document = with_optimum(plan_document(result), result)
    return with_most_work({**document, "pareto": None}, found, result, ids)
