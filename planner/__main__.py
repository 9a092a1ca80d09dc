"""The command line: one subcommand, one planner call. Exit status 0, 2 for invalid input, 130 after an interruption."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner import __version__
from planner.actual.compare import strategy_to_follow
from planner.actual.document import actual_csv, actual_document
from planner.actual.replan import Replan, scenario_yaml
from planner.actual.rows import read_content
from planner.actual.run import RowsFile, against_plan, plan_anew
from planner.actual.text import actual_text
from planner.advise.claims import Facts, assess_claims, load_claim_data
from planner.advise.recommend.answer import recommend
from planner.advise.recommend.ask import Ask, parse_budget, parse_months, parse_size
from planner.advise.recommend.uses import USES, load_uses
from planner.catalog.load import load_catalog
from planner.catalog.query import find_gpu, find_workload
from planner.catalog.records import PRECISIONS, Catalog, Workload
from planner.errors import InputError, PlannerError, Problem
from planner.files import write_whole
from planner.measure.devices import catalog_name, find_device, load_torch
from planner.measure.document import report_document
from planner.measure.results import WORKLOADS
from planner.measure.run import measure
from planner.measure.tables import check_writable, table_files, write_files
from planner.measure.text import report_text
from planner.measurements.reading import read_bytes
from planner.measurements.table import Table, read_table
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import Evidence, load_evidence
from planner.performance.own_rows import with_own_rows
from planner.performance.own_validation import validate_published, validate_with_own
from planner.performance.remedies import USUAL_MACHINE_GPUS
from planner.performance.stacks import load_stacks
from planner.performance.time_to_target.targets import load_targets
from planner.performance.transfer.models import load_transfer
from planner.report.break_even import with_break_even
from planner.report.claims import claims_document, claims_text
from planner.report.diff import diff_paths, diff_text
from planner.report.document import plan_document
from planner.report.export import plan_csv
from planner.report.finance import with_finance
from planner.report.finance_csv import years_csv
from planner.report.forecast import Pauses, forecast_document
from planner.report.gpu_values import BASES
from planner.report.held_out import load_held_out
from planner.report.jobs_csv import jobs_csv
from planner.report.listing import KINDS, list_rows
from planner.report.recommendation import recommendation_document
from planner.report.recommendation_text import recommendation_text
from planner.report.shares import with_shares
from planner.report.text import forecast_text, plan_text, rows_text
from planner.report.validation import validation_csv, validation_document, validation_text
from planner.report.waiting import with_waiting
from planner.scenario.load import check_document, parse_scenario, read_document, read_file
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import model_from_file, with_own_models
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario
from planner.scenario.values import LARGEST, SMALLEST
from planner.strategy.allocate import KINDS as WAYS
from planner.strategy.evaluate import Result, evaluate
from planner.strict_yaml import parse, shorten
from planner.workload.settings import ADAPTER_TARGETS, METHODS, OPTIMIZERS, SOFTWARE
from planner.workload.training import amount_of_work

EXIT_INVALID, EXIT_INTERRUPTED = 2, 130
_MOST = 1_000_000_000
_MOST_PROBLEMS = 50  # lines about rows of a file that are printed
_WHOLE = re.compile(r"[+]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TEXT_COLUMNS = {
    "gpus": (
        "id",
        "name",
        "memory_gb",
        "memory_bandwidth_gb_per_s",
        "bf16_dense_tflop_per_s",
        "tdp_w",
        "as_of",
        "price_usd",
        "usd_per_achieved_16_bit_tflop_per_s",
        "achieved_16_bit_tflop_per_s_per_w",
    ),
    "offers": (
        "id",
        "gpu_label",
        "gpu_count",
        "term",
        "market",
        "price_usd_per_h",
        "price_usd_per_gpu_h",
        "status",
        "as_of",
    ),
    "workloads": ("id", "name", "unit", "parameters", "precision"),
    "sites": ("id", "name", "electricity_usd_per_kwh", "tariff", "pue", "grid_kg_co2e_per_kwh", "as_of"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except PlannerError as error:
        print(error, file=sys.stderr)
        return EXIT_INVALID
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _plan(options: argparse.Namespace) -> None:
    catalog = _catalog(options)
    scenario = _scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = _with_measurements(load_evidence(), options.measurements, known)
    result = evaluate(scenario, catalog, evidence, today=options.today)
    document = with_break_even(with_waiting(plan_document(result), result), result)
    plan = with_finance(with_shares(document, result), result)
    _write_tables(options, result, plan)
    if plan["recommended"] is None:
        print(plan["reason"], file=sys.stderr)
        for entry in plan["strategies"]:
            for problem in entry["problems"]:
                print(f"{entry['id']}: {problem['message']}", file=sys.stderr)
    _print(_json(plan) if options.json else plan_text(plan))


def _write_tables(options: argparse.Namespace, result: Result, plan: dict[str, Any]) -> None:
    """The CSV files that were asked for."""
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


def _actual(options: argparse.Namespace) -> None:
    catalog, scenario = _catalog(options), _scenario(options)
    known = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    evidence = _with_measurements(load_evidence(), options.measurements, known)
    result = evaluate(scenario, catalog, evidence, today=options.today)
    strategy = strategy_to_follow(result, options.strategy)
    comparison = against_plan(
        scenario, result, strategy, hours=_actual_table(options.hours), invoice=_actual_table(options.invoice)
    )
    new: tuple[Replan, Result] | None = None
    if options.month is not None or options.replan is not None:
        document = read_document(read_file(options.file), file=str(options.file))
        new = plan_anew(document, scenario, comparison, options.month, catalog, evidence, today=options.today)
    answer = actual_document(scenario, result, comparison, new)
    sources = [file for file in (options.file, options.hours, options.invoice) if file is not None]
    if options.csv is not None:
        write_whole(options.csv, actual_csv(comparison), field="--csv", sources=sources)
    if options.replan is not None and new is not None:
        write_whole(options.replan, scenario_yaml(new[0]), field="--replan", sources=sources)
        print(f"written: {options.replan}", file=sys.stderr)
    _print(_json(answer) if options.json else actual_text(answer))


def _actual_table(file: Path | None) -> RowsFile | None:
    return None if file is None else RowsFile(content=read_content(file), file=str(file))


def _with_measurements(
    evidence: Evidence, files: Sequence[Path] | None, catalog: Catalog, models: Sequence[Workload] = ()
) -> Evidence:
    """Evidence with the user's own rows; what is wrong with a row is said on stderr."""
    for file in files or ():
        content = read_bytes(file)
        evidence, problems = with_own_rows(evidence, content, file=file.name, catalog=catalog, models=models)
        for problem in _first(problems):
            print(problem, file=sys.stderr)
    return evidence


def _catalog(options: argparse.Namespace, folder: Path | None = None) -> Catalog:
    """The facts; planning as of an earlier day doesn't turn today's dates into faults."""
    return load_catalog(folder, today=max(options.today, dt.date.today()))


def _scenario(options: argparse.Namespace) -> Scenario:
    content, name = read_file(options.file), str(options.file)
    if not options.set:
        return parse_scenario(content, file=name)
    paths = [path for path, _ in options.set]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("path_twice", field=f"--set {path}", value=path)
    return check_document(with_overrides(read_document(content, file=name), dict(options.set)), file=name)


def _estimate(options: argparse.Namespace) -> None:
    catalog = _catalog(options)
    if options.model_config is None:
        workload = find_workload(catalog, options.workload, field="--workload")
    else:
        workload = model_from_file(options.model_config, seq_len=options.seq_len)
    setup = Setup(
        workload=workload,
        gpu=find_gpu(catalog, options.gpu, field="--gpu"),
        gpus=options.gpus,
        gpus_per_node=min(options.gpus, options.gpus_per_node or USUAL_MACHINE_GPUS),
        precision=options.precision,
        seq_len=options.seq_len,
        micro_batch=options.micro_batch,
        global_batch=options.global_batch,
        checkpointing=options.checkpointing,
        network_gbit_per_s=options.network_gbit_per_s,
        software=options.software,
        method=options.method,
        optimizer=options.optimizer,
        adapter_rank=options.adapter_rank,
        adapter_targets=options.adapter_targets,
    )
    evidence = load_evidence()
    for gpu in options.without_evidence_of or ():
        evidence = evidence.without_gpu(find_gpu(catalog, gpu, field="--without-evidence-of").id)
    evidence = _with_measurements(evidence, options.measurements, catalog, (workload,))
    pauses = Pauses(
        eval_share=options.eval_share,
        checkpoints=options.checkpoints,
        checkpoint_s=options.checkpoint_s,
        restarts=options.restarts,
    )
    try:
        prediction = estimate(setup, catalog, evidence)
        work = _work(options, workload)
        document = forecast_document(
            setup, prediction, work, catalog, machine_gpus=options.gpus_per_node, pauses=pauses
        )
    except InputError as error:
        raise InputError(error.code, field="--" + error.field.replace("_", "-"), **error.params) from None
    _print(_json(document) if options.json else forecast_text(document))


def _work(options: argparse.Namespace, workload: Any) -> float | None:
    """The amount of work as asked; None where nothing was asked and the workload has no usual amount."""
    asked = {"tokens": options.tokens, "samples": options.samples, "epochs": options.epochs}
    try:
        return amount_of_work(workload, **asked)
    except InputError as error:
        if error.code == "missing_work" and all(value is None for value in asked.values()):
            return None
        raise


def _recommend(options: argparse.Namespace) -> None:
    ask = Ask(
        budget=parse_budget(options.budget),
        use=options.use,
        parameters=None if options.parameters is None else parse_size(options.parameters, field="--parameters"),
        samples=None if options.samples is None else parse_size(options.samples, field="--samples"),
        months=None if options.months is None else parse_months(options.months, field="--months"),
        site=options.site,
    )
    catalog = _catalog(options)
    try:
        advice = recommend(ask, catalog, load_evidence(), today=options.today)
    except InputError as error:
        raise _as_typed(error, options) from None
    document = recommendation_document(advice)
    _print(_json(document) if options.json else recommendation_text(document))


def _as_typed(error: InputError, options: argparse.Namespace) -> InputError:
    """The error with the option's own text in the place of the number that was read from it."""
    typed = getattr(options, error.field.removeprefix("--"), None)
    return InputError(error.code, field=error.field, **error.params | ({} if typed is None else {"value": typed}))


def _check(options: argparse.Namespace) -> None:
    catalog = _catalog(options, options.folder)
    if options.folder is None:  # what else is shipped must be in order too
        load_evidence()
        load_claim_data()
        load_uses()
        load_held_out()
        load_stacks()
        load_transfer()
        load_targets()
    counts = {
        "gpus": len(catalog.gpus),
        "partial_gpus": len(catalog.partial_gpus),
        "hosts": len(catalog.hosts),
        "systems": len(catalog.systems),
        "parts": len(catalog.parts),
        "offers": len(catalog.offers),
        "hardware": len(catalog.hardware),
        "providers": len(catalog.providers),
        "currencies": len(catalog.fx),
        "sites": len(catalog.sites),
        "grids": len(catalog.grids),
        "embodied": len(catalog.embodied),
        "assumptions": len(catalog.assumptions),
        "workloads": len(catalog.workloads),
        "sources": len(catalog.sources),
    }
    statuses = [offer.status(options.today) for offer in catalog.offers.values()]
    counts |= {f"offers_{status}": statuses.count(status) for status in ("current", "stale", "retired")}
    if options.json:
        _print(_json({"catalog_as_of": catalog.as_of, **counts}))
    else:
        numbers = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
        _print(f"The catalog is in order: {numbers}. Newest figure: {catalog.as_of}.\n")


def _diff(options: argparse.Namespace) -> None:
    differences = diff_paths(options.old, options.new)
    _print(_json({"differences": differences}) if options.json else diff_text(differences))


def _list(options: argparse.Namespace) -> None:
    if options.price is not None and options.kind != "gpus":
        expected = f"the kind gpus with --price, the price of a card, found {options.kind}"
        raise InputError("not_applicable", field="--price", value=options.price, expected=expected)
    rows = list_rows(_catalog(options), options.kind, today=options.today, basis=options.price or "new")
    _print(_json(rows) if options.json else rows_text(rows, _TEXT_COLUMNS[options.kind]))


def _claims(options: argparse.Namespace) -> None:
    catalog, evidence, data = _catalog(options), load_evidence(), load_claim_data()
    assessments = assess_claims(catalog, evidence, today=options.today, data=data)
    facts = Facts(catalog=catalog, evidence=evidence, data=data, today=options.today)
    document = claims_document(assessments, facts)
    _print(_json(document) if options.json else claims_text(document))


def _validate(options: argparse.Namespace) -> None:
    table = read_table(read_bytes(options.file), file=str(options.file))
    catalog = _catalog(options)
    moved = None
    if options.measurements:
        moved = validate_with_own(table, _tables(options.measurements), catalog)
        for problem in _first(moved.problems):
            print(problem, file=sys.stderr)
    shown = validate_published(table, catalog) if moved is None else moved.validation
    if options.csv is not None:
        sources = [options.file, *(options.measurements or ())]
        write_whole(options.csv, validation_csv(shown), field="--csv", sources=sources)
    if shown.summary.n == 0:
        print("no row could be scored: each has its reason", file=sys.stderr)
    _print(_json(validation_document(shown, moved)) if options.json else validation_text(shown, moved))


def _tables(files: Sequence[Path]) -> list[tuple[str, Table]]:
    return [(file.name, read_table(read_bytes(file), file=str(file))) for file in files]


def _first(problems: Sequence[Problem]) -> list[object]:
    """Problems to print: of very many the first, and how many there are besides."""
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"and {more:,} more such lines"] if more > 0 else [])]


def _measure(options: argparse.Namespace) -> int:
    if options.out is not None:
        check_writable(options.out)
    catalog, torch = _catalog(options), load_torch()
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
    _print(_json(report_document(report, tuple(files))) if options.json else report_text(report))
    if report.interrupted:
        print("interrupted: what was measured until then is kept", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0 if len(report.skipped) < len(report.results) else EXIT_INVALID


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _print(text: str) -> None:
    """Write to standard output; characters its encoding lacks are written as question marks.

    Raises
    ------
    InputError
        When it is closed or full.
    """
    if sys.stdout is None:
        raise InputError("cannot_write", field="", value="standard output", reason="it is closed")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; keep the interpreter from trying again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(
            "cannot_write", field="", value="standard output", reason=error.strerror or "an error"
        ) from None


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON instead of text")
    common.add_argument(
        "--today",
        type=_date,
        default=dt.date.today(),
        metavar="DATE",
        help="day of the run (YYYY-MM-DD); decides which prices are current",
    )
    parser = argparse.ArgumentParser(prog="python -m planner", description="Own GPUs, rent them, or mix both.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    plan = commands.add_parser("plan", parents=[common], help="plan a scenario file every way")
    plan.add_argument("file", type=_path, metavar="FILE.yaml")
    plan.add_argument("--csv", type=_path, metavar="OUT.csv", help="also write every cost line by month")
    plan.add_argument(
        "--csv-by-year", type=_path, metavar="OUT.csv", help="also write the money of each way by fiscal year"
    )
    plan.add_argument(
        "--jobs-csv", type=_path, metavar="OUT.csv", help="also write runs, money and energy by month, job and resource"
    )
    plan.add_argument(
        "--set",
        type=_override,
        action="append",
        metavar="PATH=VALUE",
        help="change an input by its path; may be repeated",
    )
    _add_measurements(plan)
    plan.set_defaults(run=_plan)

    past = commands.add_parser("actual", parents=[common], help="hours and bills against a plan, and its rest anew")
    past.add_argument("file", type=_path, metavar="FILE.yaml")
    past.add_argument("--hours", type=_path, metavar="HOURS.csv", help="runs and hours by month, job and resource")
    past.add_argument("--invoice", type=_path, metavar="INVOICE.csv", help="what was paid by month and resource")
    past.add_argument("--strategy", choices=WAYS, help="the way that was followed (default: the recommended one)")
    past.add_argument("--month", type=_count, metavar="K", help="plan anew from this month on (default: the next)")
    past.add_argument("--replan", type=_path, metavar="NEW.yaml", help="write the rest of the plan as a scenario")
    past.add_argument("--csv", type=_path, metavar="OUT.csv", help="also write every compared cell")
    _add_measurements(past)
    past.set_defaults(run=_actual, set=None)

    one = commands.add_parser("estimate", parents=[common], help="speed, memory, time and power of one run")
    one.add_argument("--gpu", required=True, metavar="ID")
    one.add_argument("--gpus", type=_count, required=True, metavar="N")
    one.add_argument(
        "--gpus-per-node",
        type=_count,
        metavar="N",
        help="GPUs of one machine; those the run leaves idle draw power too (default: as many as it uses, at most 8)",
    )
    model = one.add_mutually_exclusive_group(required=True)
    model.add_argument("--workload", metavar="ID")
    model.add_argument("--model-config", type=_path, metavar="FILE.json", help="a config.json of Hugging Face instead")
    one.add_argument("--precision", choices=PRECISIONS)
    one.add_argument("--seq-len", type=_count, metavar="N")
    one.add_argument("--micro-batch", type=_count, metavar="N")
    one.add_argument("--global-batch", type=_count, metavar="N")
    one.add_argument("--checkpointing", choices=("none", "selective", "full"))
    one.add_argument("--software", choices=SOFTWARE, help="training code of a decoder")
    one.add_argument("--method", choices=METHODS, default="full", help="train all weights, or adapters")
    one.add_argument("--optimizer", choices=OPTIMIZERS, help="what is kept for a trained parameter, in bytes")
    one.add_argument("--adapter-rank", type=_count, metavar="N", help="rank of the adapters of lora and qlora")
    one.add_argument("--adapter-targets", choices=ADAPTER_TARGETS, help="linear layers that have an adapter")
    one.add_argument("--network-gbit-per-s", type=_positive, metavar="N", help="network of one machine")
    one.add_argument("--tokens", type=_positive, metavar="N")
    one.add_argument("--samples", type=_positive, metavar="N")
    one.add_argument("--epochs", type=_positive, metavar="N")
    one.add_argument("--eval-share", type=_share, default=0.0, metavar="X", help="evaluation time over training time")
    one.add_argument("--checkpoints", type=_count, default=0, metavar="N", help="checkpoints that pause training")
    one.add_argument("--checkpoint-s", type=_positive, metavar="S", help="pause of each")
    one.add_argument(
        "--restarts",
        action=argparse.BooleanOptionalAction,
        help="count interruptions (default: for a run over several machines)",
    )
    one.add_argument(
        "--without-evidence-of", action="append", metavar="GPU", help="estimate as if this GPU had never been measured"
    )
    _add_measurements(one)
    one.set_defaults(run=_estimate)

    advice = commands.add_parser("recommend", parents=[common], help="what to buy or rent for a budget")
    advice.add_argument("--budget", required=True, metavar="MONEY", help='amount and currency, such as "8000 CNY"')
    advice.add_argument("--use", required=True, choices=USES)
    advice.add_argument("--parameters", metavar="N", help="size of the model, such as 100M or 1.3B")
    advice.add_argument("--samples", metavar="N", help="size of the data set, such as 100k")
    advice.add_argument("--months", metavar="N", help="how long the work goes on, 1 to 84")
    advice.add_argument("--site", metavar="ID", help="where a machine would stand (default: by the currency)")
    advice.set_defaults(run=_recommend)

    catalog = commands.add_parser("catalog", help="check, list or compare the facts")
    actions = catalog.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", parents=[common], help="check all data files")
    check.add_argument(
        "folder", type=_path, nargs="?", default=None, help="a folder of data files (default: those shipped)"
    )
    check.set_defaults(run=_check)
    listing = actions.add_parser("list", parents=[common], help="list records")
    listing.add_argument("kind", choices=KINDS)
    listing.add_argument("--price", choices=BASES, help="of gpus: the price that counts (default: new)")
    listing.set_defaults(run=_list)
    diff = actions.add_parser("diff", parents=[common], help="what changed between two data files or folders")
    diff.add_argument("old", type=_path, metavar="OLD")
    diff.add_argument("new", type=_path, metavar="NEW")
    diff.set_defaults(run=_diff)

    claims = commands.add_parser("claims", parents=[common], help="put printed claims to the test")
    claims.set_defaults(run=_claims)

    check_rows = commands.add_parser("validate", parents=[common], help="predict measured runs and compare")
    check_rows.add_argument("file", type=_path, metavar="FILE.csv")
    check_rows.add_argument("--csv", type=_path, metavar="OUT.csv", help="also write every row with its prediction")
    check_rows.add_argument(
        "--measurements",
        type=_path,
        action="append",
        metavar="OWN.csv",
        help="own rows of the same kind, which recalibrate what is predicted; may be repeated",
    )
    check_rows.set_defaults(run=_validate)

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
        "--out", type=_path, metavar="FILE.csv", help="also write training steps as tables of measurements"
    )
    own.add_argument(
        "--gpu-name", metavar="NAME", help="what to call the device in tables, such as an id of the catalog"
    )
    own.set_defaults(run=_measure)
    return parser


def _add_measurements(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--measurements",
        type=_path,
        action="append",
        metavar="FILE.csv",
        help="own measured speeds, which come before all others; may be repeated",
    )


def _path(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected the name of a file or folder")
    return Path(text)


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a date such as 2026-11-30") from None


def _count(text: str) -> int:
    value = int(text) if _WHOLE.fullmatch(text.strip()) else 0
    if not 1 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected a whole number from 1 to {_MOST:,}")
    return value


def _positive(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
    if not SMALLEST <= value <= LARGEST:
        raise argparse.ArgumentTypeError(
            f"found {shorten(text, 60)!r}, expected a number greater than 0, from {SMALLEST:g} to {LARGEST:g}"
        )
    return value


def _share(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected a number from 0 to 1")
    return value


def _override(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not (path and equals and value):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected PATH=VALUE, e.g. jobs.daily.runs_per_month=300")
    parsed = parse(f"value: {value}\n", file="--set")
    if parsed.problems:
        problem = parsed.problems[0]
        raise argparse.ArgumentTypeError(f"found {problem.found} for {path}, expected {problem.expected}")
    return path, parsed.data["value"]


if __name__ == "__main__":
    sys.exit(main())
