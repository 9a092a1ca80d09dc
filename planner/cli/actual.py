"""The command `actual`: hours and bills against a plan, and its rest anew."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from planner.actual.carried import Replan, scenario_yaml
from planner.actual.compare import strategy_to_follow
from planner.actual.demand_then import DEMANDS
from planner.actual.document import actual_csv, actual_document
from planner.actual.run import RowsFile, against_plan, plan_anew
from planner.actual.table import read_content
from planner.actual.text import actual_text
from planner.cli.arguments import Commands, add_measurements, count_of, path_of
from planner.cli.inputs import read_catalog, read_scenario, with_measurements
from planner.cli.output import json_text, print_text
from planner.files import write_whole
from planner.performance.evidence import load_evidence
from planner.scenario.load import read_document, read_file
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.strategy.candidates import KINDS as WAYS
from planner.strategy.evaluate import Result, evaluate


def add_actual(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    past = commands.add_parser("actual", parents=[common], help="hours and bills against a plan, and its rest anew")
    past.add_argument("file", type=path_of, metavar="FILE.yaml")
    past.add_argument("--hours", type=path_of, metavar="HOURS.csv", help="runs and hours by month, job and resource")
    past.add_argument("--invoice", type=path_of, metavar="INVOICE.csv", help="what was paid by month and resource")
    past.add_argument("--strategy", choices=WAYS, help="the way that was followed (default: the recommended one)")
    past.add_argument("--month", type=count_of, metavar="K", help="plan anew from this month on (default: the next)")
    past.add_argument(
        "--demand", choices=DEMANDS, default="planned", help="coming runs as planned, or scaled by those measured"
    )
    past.add_argument("--replan", type=path_of, metavar="NEW.yaml", help="write the rest of the plan as a scenario")
    past.add_argument("--csv", type=path_of, metavar="OUT.csv", help="also write every compared cell")
    add_measurements(past)
    past.set_defaults(run=_actual, set=None)


def _actual(options: argparse.Namespace) -> None:
    catalog, scenario = read_catalog(options), read_scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = with_measurements(load_evidence(), options.measurements, known)
    result = evaluate(scenario, catalog, evidence, today=options.today)
    strategy = strategy_to_follow(result, options.strategy)
    comparison = against_plan(
        scenario, result, strategy, hours=_actual_table(options.hours), invoice=_actual_table(options.invoice)
    )
    new: tuple[Replan, Result] | None = None
    if options.month is not None or options.replan is not None:
        document = read_document(read_file(options.file), file=str(options.file))
        new = plan_anew(
            document, scenario, comparison, options.month, catalog, evidence, today=options.today, demand=options.demand
        )
    answer = actual_document(scenario, result, comparison, new)
    sources = [file for file in (options.file, options.hours, options.invoice) if file is not None]
    if options.csv is not None:
        write_whole(options.csv, actual_csv(comparison), field="--csv", sources=sources)
    if options.replan is not None and new is not None:
        write_whole(options.replan, scenario_yaml(new[0]), field="--replan", sources=sources)
        print(f"written: {options.replan}", file=sys.stderr)
    print_text(json_text(answer) if options.json else actual_text(answer))


def _actual_table(file: Path | None) -> RowsFile | None:
    return None if file is None else RowsFile(content=read_content(file), file=str(file))
