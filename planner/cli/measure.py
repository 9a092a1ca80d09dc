"""The command `measure`: this machine's own speed."""

from __future__ import annotations

import argparse
import sys

from planner.cli.arguments import Commands, path_of
from planner.cli.inputs import read_catalog
from planner.cli.output import EXIT_INTERRUPTED, EXIT_INVALID, json_text, print_text
from planner.measure.devices import catalog_name, find_device, load_torch
from planner.measure.document import report_document
from planner.measure.results import WORKLOADS
from planner.measure.run import measure
from planner.measure.tables import check_writable, table_files, write_files
from planner.measure.text import report_text


def add_measure(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    own = commands.add_parser("measure", parents=[common], help="measure this machine; needs torch")
    own.add_argument("--device", metavar="DEVICE", help="cpu, cuda or cuda:N (default: the first GPU, else the CPU)")
    own.add_argument(
        "--workload",
        nargs="+",
        action="extend",
        choices=(*WORKLOADS, "all"),
        metavar="NAME",
        help=f"what to measure: {', '.join(WORKLOADS)} or all (default)",
    )
    own.add_argument("--quick", action="store_true", help="fewer sizes and settings: about a minute")
    own.add_argument(
        "--out", type=path_of, metavar="FILE.csv", help="also write training steps as tables of measurements"
    )
    own.add_argument(
        "--gpu-name", metavar="NAME", help="what to call the device in tables, such as an id of the catalog"
    )
    own.set_defaults(run=_measure)


def _measure(options: argparse.Namespace) -> int:
    if options.out is not None:
        check_writable(options.out)
    catalog, torch = read_catalog(options), load_torch()
    device = find_device(torch, options.device, catalog, options.gpu_name)
    if device.is_cpu and options.gpu_name and catalog_name(options.gpu_name, catalog)[1]:
        print(f"--gpu-name: the rows will say {device.gpu}, but this CPU is measured", file=sys.stderr)
    report = measure(
        torch,
        device,
        options.workload or (),
        quick=options.quick,
        date=options.today.isoformat(),
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    files = {} if options.out is None else table_files(options.out, report)
    write_files(files)
    for path in files:
        print(f"written: {path}", file=sys.stderr)
    print_text(json_text(report_document(report, tuple(files))) if options.json else report_text(report))
    if report.interrupted:
        print("interrupted: what was measured until then is kept", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0 if len(report.skipped) < len(report.results) else EXIT_INVALID
