"""The command `plan`: a scenario file, every way."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from planner.cli.arguments import Commands, add_measurements, add_overrides, path_of
from planner.cli.inputs import read_catalog, read_scenario, with_measurements
from planner.cli.output import json_text, print_text
from planner.errors import InputError
from planner.files import write_whole
from planner.messages import render
from planner.performance.evidence import load_evidence
from planner.report.break_even import with_break_even
from planner.report.certainty import with_certainty
from planner.report.document import plan_document
from planner.report.export import plan_csv
from planner.report.finance import with_finance
from planner.report.finance_csv import years_csv
from planner.report.front import with_fronts
from planner.report.jobs_csv import jobs_csv
from planner.report.optimum import with_optimum
from planner.report.shares import with_shares
from planner.report.text import plan_text
from planner.report.waiting import with_waiting
from planner.report.why_not import why_not_text
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.strategy.evaluate import Result, evaluate


def add_plan(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    plan = commands.add_parser("plan", parents=[common], help="plan a scenario file every way")
    plan.add_argument("file", type=path_of, metavar="FILE.yaml")
    plan.add_argument("--csv", type=path_of, metavar="OUT.csv", help="also write every cost line by month")
    plan.add_argument(
        "--csv-by-year", type=path_of, metavar="OUT.csv", help="also write the money of each way by fiscal year"
    )
    plan.add_argument(
        "--jobs-csv",
        type=path_of,
        metavar="OUT.csv",
        help="also write runs, money and energy by month, job and resource",
    )
    plan.add_argument(
        "--why-not",
        type=path_of,
        metavar="OUT.md",
        help="also write one page on why the next best way isn't recommended",
    )
    plan.add_argument(
        "--redecide",
        action="store_true",
        help="also plan every future anew: what knowing it before deciding would be worth",
    )
    plan.add_argument(
        "--pareto", action="store_true", help="also look for plans that emit less or take less time, at what cost"
    )
    add_overrides(plan)
    add_measurements(plan)
    plan.set_defaults(run=_plan)


def _plan(options: argparse.Namespace) -> None:
    catalog = read_catalog(options)
    scenario = read_scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = with_measurements(load_evidence(), options.measurements, known)
    result = evaluate(scenario, catalog, evidence, today=options.today, search=True)
    document = with_break_even(with_waiting(plan_document(result), result), result)
    document = with_finance(with_shares(document, result), result)
    plan = with_optimum(with_certainty(document, result, scenario=scenario, anew=options.redecide), result)
    plan = with_fronts(plan, result) if options.pareto else {**plan, "pareto": None}
    _write_files(options, result, plan)
    if plan["recommended"] is None:
        print(plan["reason"], file=sys.stderr)
        for entry in plan["strategies"]:
            for problem in entry["problems"]:
                print(f"{render('strategy_' + entry['id'])}: {problem['message']}", file=sys.stderr)
    print_text(json_text(plan) if options.json else plan_text(plan))


def _write_files(options: argparse.Namespace, result: Result, plan: dict[str, Any]) -> None:
    """The files that were asked for."""
    read, by_job = [options.file, *(options.measurements or ())], options.jobs_csv
    if None not in (options.csv, by_job) and options.csv.resolve() == by_job.resolve():
        raise InputError("cannot_write", field="--jobs-csv", value=str(by_job), reason="it is the file of --csv")
    if options.csv is not None:
        write_whole(options.csv, plan_csv(result), field="--csv", sources=read)
    if by_job is not None:
        write_whole(by_job, jobs_csv(plan, result), field="--jobs-csv", sources=read)
    if options.csv_by_year is not None:
        written = [path for path in (options.csv, by_job) if path is not None]
        write_whole(options.csv_by_year, years_csv(plan), field="--csv-by-year", sources=[*read, *written])
    if options.why_not is not None:
        tables = (options.csv, by_job, options.csv_by_year)
        written = [path for path in tables if path is not None]
        write_whole(options.why_not, why_not_text(plan), field="--why-not", sources=[*read, *written])
