"""Predictions of a table of times to train, each from its configuration alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.measurements.prediction import Basis, RowPrediction
from planner.measurements.rows import TimeRow
from planner.messages import as_text
from planner.performance.constants import Constants, constants_of
from planner.performance.device import generation_of
from planner.performance.rows.subject import RowError
from planner.performance.time_to_target.benchmarks import find_benchmark, year_of_round
from planner.performance.time_to_target.model import Novelty, Target
from planner.performance.time_to_target.runs import Run, nodes_of, rates_of
from planner.performance.time_to_target.targets import load_targets

_GPUS_OF_NODE = 8
_MOST_GPUS_OF_NODE = 256
_BEYOND_BATCHES = 8.0  # how far beyond the published batches the law of samples is used
_BASIS: Mapping[Novelty, Basis] = {
    "known-setup": "transferred",
    "known-gpu": "transferred",
    "new-gpu": "estimated",
}


def predict_time_rows(rows: Sequence[TimeRow], catalog: Catalog) -> list[RowPrediction]:
    """Time of each row to its benchmark's target. [min]

    Parameters
    ----------
    rows : sequence of TimeRow
        What was measured is not looked at.
    catalog : Catalog
        GPUs and the estimator's constants.

    Returns
    -------
    list of RowPrediction
        In the order of the rows: `transferred` where the benchmark was published on the row's card, `estimated` on
        others; rows that allow neither say why.
    """
    constants, targets = constants_of(catalog.assumptions), load_targets()
    return [_predict(row, catalog, constants, targets) for row in rows]


def _predict(row: TimeRow, catalog: Catalog, constants: Constants, targets: Mapping[str, Target]) -> RowPrediction:
    choices: list[str] = []
    try:
        target = _target(row, targets)
        run = _run(row, target, catalog, constants, choices)
    except RowError as error:
        return RowPrediction(predicted=None, skipped=str(error))
    if run.batch is None:
        choices.append(f"batch {target.batch_of(run):g}")
    (minutes,) = target.minutes([run])
    novelty = target.novelty(run)
    width = target.half_widths[novelty]
    if find_accelerator(catalog, run.gpu).vendor not in {
        find_accelerator(catalog, s.gpu).vendor for s in target.setups
    }:
        width = math.hypot(width, constants.half_width_new_vendor)
    factor = math.exp(width)
    return RowPrediction(
        predicted=float(minutes),
        low=float(minutes / factor),
        high=float(minutes * factor),
        basis=_BASIS[novelty],
        novelty=novelty,
        choices=tuple(choices),
    )


def _target(row: TimeRow, targets: Mapping[str, Target]) -> Target:
    benchmark = find_benchmark(row.benchmark or "")
    if benchmark is None or benchmark.id not in targets:
        raise RowError(
            f"benchmark: found '{row.benchmark}', expected one that was published: {as_text(sorted(targets))}"
        )
    return targets[benchmark.id]


def _run(row: TimeRow, target: Target, catalog: Catalog, constants: Constants, choices: list[str]) -> Run:
    benchmark = find_benchmark(target.benchmark)
    assert benchmark is not None
    gpu, gpus = find_accelerator(catalog, row.gpu or ""), row.n_gpus
    if gpus is None:
        raise RowError("n_gpus: found nothing, expected the number of GPUs")
    nodes, year = row.nodes, year_of_round(row.round or "")
    if row.round and year is None:
        raise RowError(f"round: found '{row.round}', expected a form such as v4.1")
    if year is None:
        year = target.newest
        choices.append("the newest round")
    if nodes is None:
        nodes = math.ceil(gpus / _GPUS_OF_NODE)
        choices.append(f"{nodes} nodes")
    if gpus > _MOST_GPUS_OF_NODE * nodes:
        raise RowError(f"nodes: found {nodes} for {gpus:,} GPUs, expected one for {_MOST_GPUS_OF_NODE} of them at most")
    _check_batch(row, target)
    rates = rates_of(gpu, benchmark, gpus, nodes, constants)
    if rates is None:
        raise RowError(f"gpu: found '{row.gpu}', expected a card whose bandwidth and 16-bit rate are known")
    return Run(
        id=row.id,
        benchmark=benchmark.id,
        year=year,
        submitter=row.submitter or "",
        system=row.system or "",
        gpu=gpu.id,
        generation=generation_of(gpu),
        gpus=gpus,
        nodes=nodes_of(gpu, gpus, nodes, constants),
        batch=row.global_batch_size,
        rates=rates,
    )


def _check_batch(row: TimeRow, target: Target) -> None:
    batches = [setup.batch for setup in target.setups]
    low, high = min(batches) / _BEYOND_BATCHES, max(batches) * _BEYOND_BATCHES
    if row.global_batch_size is not None and not low <= row.global_batch_size <= high:
        expected = f"{math.ceil(low):,} to {high:,.0f}, near the batches that were published"
        raise RowError(f"global_batch_size: found {row.global_batch_size:,}, expected {expected}")
