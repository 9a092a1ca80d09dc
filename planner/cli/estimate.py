"""The command `estimate`: one run on given GPUs."""

from __future__ import annotations

import argparse
from typing import Any

from planner.catalog.query import find_gpu, find_workload
from planner.catalog.records import PRECISIONS
from planner.cli.arguments import Commands, add_measurements, count_of, path_of, positive_of, share_of
from planner.cli.inputs import read_catalog, with_measurements
from planner.cli.output import json_text, print_text
from planner.errors import InputError
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence
from planner.performance.remedies import USUAL_MACHINE_GPUS
from planner.report.forecast import Pauses, forecast_document
from planner.report.forecast_text import forecast_text
from planner.scenario.own_models import model_from_file
from planner.workload.settings import ADAPTER_TARGETS, METHODS, OPTIMIZERS, SOFTWARE
from planner.workload.training import amount_of_work


def add_estimate(commands: Commands, common: argparse.ArgumentParser) -> None:
    """The command and its options."""
    one = commands.add_parser("estimate", parents=[common], help="speed, memory, time and power of one run")
    one.add_argument("--gpu", required=True, metavar="ID")
    one.add_argument("--gpus", type=count_of, required=True, metavar="N")
    one.add_argument(
        "--gpus-per-node",
        type=count_of,
        metavar="N",
        help="GPUs of one machine; those the run leaves idle draw power too (default: as many as it uses, at most 8)",
    )
    model = one.add_mutually_exclusive_group(required=True)
    model.add_argument("--workload", metavar="ID")
    model.add_argument(
        "--model-config", type=path_of, metavar="FILE.json", help="a config.json of Hugging Face instead"
    )
    one.add_argument("--precision", choices=PRECISIONS)
    one.add_argument("--seq-len", type=count_of, metavar="N")
    one.add_argument("--micro-batch", type=count_of, metavar="N")
    one.add_argument("--global-batch", type=count_of, metavar="N")
    one.add_argument("--checkpointing", choices=("none", "selective", "full"))
    one.add_argument("--software", choices=SOFTWARE, help="training code of a decoder")
    one.add_argument("--method", choices=METHODS, default="full", help="train all weights, or adapters")
    one.add_argument("--optimizer", choices=OPTIMIZERS, help="what is kept for a trained parameter, in bytes")
    one.add_argument("--adapter-rank", type=count_of, metavar="N", help="rank of the adapters of lora and qlora")
    one.add_argument("--adapter-targets", choices=ADAPTER_TARGETS, help="linear layers that have an adapter")
    one.add_argument("--network-gbit-per-s", type=positive_of, metavar="N", help="network of one machine")
    one.add_argument("--tokens", type=positive_of, metavar="N")
    one.add_argument("--samples", type=positive_of, metavar="N")
    one.add_argument("--epochs", type=positive_of, metavar="N")
    one.add_argument("--eval-share", type=share_of, default=0.0, metavar="X", help="evaluation time over training time")
    one.add_argument("--checkpoints", type=count_of, default=0, metavar="N", help="checkpoints that pause training")
    one.add_argument("--checkpoint-s", type=positive_of, metavar="S", help="pause of each")
    one.add_argument(
        "--restarts",
        action=argparse.BooleanOptionalAction,
        help="count interruptions (default: for a run over several machines)",
    )
    one.add_argument(
        "--without-evidence-of", action="append", metavar="GPU", help="estimate as if this GPU had never been measured"
    )
    add_measurements(one)
    one.set_defaults(run=_estimate)


def _estimate(options: argparse.Namespace) -> None:
    catalog = read_catalog(options)
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
    evidence = with_measurements(evidence, options.measurements, catalog, (workload,))
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
    print_text(json_text(document) if options.json else forecast_text(document))


def _work(options: argparse.Namespace, workload: Any) -> float | None:
    """The amount of work as asked; None where nothing was asked and the workload has no usual amount."""
    asked = {"tokens": options.tokens, "samples": options.samples, "epochs": options.epochs}
    try:
        return amount_of_work(workload, **asked)
    except InputError as error:
        if error.code == "missing_work" and all(value is None for value in asked.values()):
            return None
        raise
