"""The command `sweep`: a scenario file planned at every point of a grid of its inputs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

from planner.cli.arguments import Commands, add_measurements, add_overrides, path_of
from planner.cli.inputs import read_catalog, read_scenario_document, with_measurements
from planner.cli.output import EXIT_INTERRUPTED, json_text, print_text
from planner.files import write_whole
from planner.performance.evidence import load_evidence
from planner.report.sweep_csv import SweepTable, summary_text
from planner.scenario.axes import check_axes, parse_axes
from planner.scenario.load import check_document
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.strategy.sweep import Sweep
from planner.strategy.sweep_rows import SweepPoint

_EVERY_S = 1.0  # at least, between two lines of progress


def add_sweep(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    sweep = commands.add_parser("sweep", parents=[common], help="plan a scenario file over a grid of its inputs")
    sweep.add_argument("file", type=path_of, metavar="FILE.yaml")
    sweep.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="PATH=START:STOP:N",
        help="values of an input by its path, evenly spaced; N:log spaces them by their logarithm, PATH=1,2,4 names "
        "them; may be repeated for a grid",
    )
    sweep.add_argument("--csv", type=path_of, required=True, metavar="OUT.csv", help="where the points go")
    sweep.add_argument(
        "--keep-plan",
        action="store_true",
        help="keep the machines and places of the plan as the file has it, and only see what they then cost",
    )
    add_overrides(sweep)
    add_measurements(sweep)
    sweep.set_defaults(run=_sweep)


def _sweep(options: argparse.Namespace) -> int:
    axes = parse_axes(options.vary)
    document = read_scenario_document(options)
    check_axes(document, axes)
    catalog = read_catalog(options)
    scenario = check_document(document, file=str(options.file))
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = with_measurements(load_evidence(), options.measurements, known)
    sweep = Sweep(document, axes, catalog, evidence, today=options.today, keep_plan=options.keep_plan)
    table = SweepTable(axes, sweep.machines, sweep.jobs)
    status = 0
    try:
        for point in with_progress(sweep):
            table.add(point)
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    write_whole(options.csv, table.text(), field="--csv", sources=[options.file, *(options.measurements or ())])
    if status:
        print(f"interrupted: {table.written:,} of {sweep.points:,} points written", file=sys.stderr)
    summary = table.summary(points=sweep.points, file=str(options.csv))
    print_text(json_text(summary) if options.json else summary_text(summary))
    return status


def with_progress(sweep: Sweep) -> Iterator[SweepPoint]:
    """Points as they come; what takes long says on stderr how far it is."""
    start = said = time.monotonic()
    for number, point in enumerate(sweep, start=1):
        yield point
        now = time.monotonic()
        if now - said >= max(_EVERY_S, (now - start) / 10) and number < sweep.points:
            said = now
            print(f"{number:,} of {sweep.points:,} points", file=sys.stderr)
