"""The entry point of the estimator: throughput, memory and their uncertainty for a workload on GPUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from planner.catalog.records import Catalog
from planner.catalog.source_ids import MEASUREMENTS
from planner.errors import InputError
from planner.performance.cited import formula_sources, transfer_sources
from planner.performance.constants import Constants, constants_of
from planner.performance.evidence import OWN, Evidence
from planner.performance.fitting import Choice, fitting_choices, is_fused, layout_need, memory_setup, software_of
from planner.performance.layout import Layout
from planner.performance.measured import WILD_SPREAD, Measured, find_measured
from planner.performance.memory.states import optimizer_of
from planner.performance.moved import moved_by_own_rows
from planner.performance.own_offset import MOST_FACTOR
from planner.performance.prediction import Basis, Prediction, Unit
from planner.performance.request import Request, Setup, Warning_, resolve_request
from planner.performance.request_steps import request_steps, trained_parameters, units_per_sample
from planner.performance.throughput import StepTime
from planner.performance.time_to_target.larger_batch import samples_factor
from planner.performance.transferred import Transferred, find_transferred
from planner.performance.uncertainty import REGIME_SHARE, estimated_half_width
from planner.units import BYTES_PER_GB
from planner.workload.settings import Optimizer

__all__ = ["Prediction", "Setup", "Warning_", "estimate"]

EXCHANGE = ("communication", "waiting")
MORE_SAMPLES = 1.1  # times the fewest: beyond it a large batch is pointed out
SLOWING_SHARE = 0.4  # below a half, what more GPUs do divide takes longer on half of them than the step on all
TIGHT_SHARE = 0.93  # peak memory over capacity from which the error of the memory estimate decides


def estimate(setup: Setup, catalog: Catalog, evidence: Evidence) -> Prediction:
    """Throughput and memory of a workload on a number of GPUs.

    A measurement of the same configuration counts before any formula; otherwise the step time is estimated part by
    part, with an interval that is the wider the less is known.

    Parameters
    ----------
    setup : Setup
        Workload, GPU and settings; open settings are chosen and reported.
    catalog : Catalog
        For the constants among its assumptions.
    evidence : Evidence
        The measurements that may be looked at.

    Returns
    -------
    Prediction
        With `fits` False, the memory and speed of the cheapest setting, as if it fitted.

    Raises
    ------
    InputError
        Settings that cannot be; `field` names the input.
    """
    constants = constants_of(catalog.assumptions)
    found = _predict(setup, catalog, evidence, constants)
    if not found.fits or _scaling_share(found) < SLOWING_SHARE:
        return found
    for fewer in sorted({setup.gpus // 2, 1 << (setup.gpus - 1).bit_length() >> 1} - {0, setup.gpus}):
        smaller = replace(setup, gpus=fewer, gpus_per_node=min(fewer, setup.gpus_per_node))
        try:
            with_fewer = _predict(smaller, catalog, evidence, constants)
        except InputError:  # a batch that so many GPUs do not divide
            continue
        if with_fewer.fits and with_fewer.throughput >= found.throughput:
            speeds = {"gpus": setup.gpus, "fewer": fewer, "share": found.throughput / with_fewer.throughput}
            warning = Warning_(code="more_gpus_slower", params=speeds)
            return replace(found, warnings=(*found.warnings, warning))
    return found


def _scaling_share(found: Prediction) -> float:
    """Share of the step that more GPUs do not divide. [-]"""
    undivided = sum(found.breakdown_s[part] for part in ("launch", "communication", "waiting", "optimizer"))
    return undivided / sum(found.breakdown_s.values())


def _predict(setup: Setup, catalog: Catalog, evidence: Evidence, constants: Constants) -> Prediction:
    request = resolve_request(setup)
    choices = fitting_choices(request, constants)
    measured = find_measured(request, evidence) if request.usual_training else None
    if measured is not None:
        return _from_measured(request, choices[0], measured, constants)
    return moved_by_own_rows(_cold(request, choices, catalog, evidence, constants), request, evidence, constants)


def predict_unmeasured(setup: Setup, catalog: Catalog, evidence: Evidence) -> Prediction:
    """As `estimate`, as if nobody had measured this configuration, and nobody anything of their own."""
    constants = constants_of(catalog.assumptions)
    request = resolve_request(setup)
    return _cold(request, fitting_choices(request, constants), catalog, evidence, constants)


def _cold(
    request: Request, choices: Sequence[Choice], catalog: Catalog, evidence: Evidence, constants: Constants
) -> Prediction:
    """What is known without a measurement of this configuration: the model's speed on other cards, or the formulas."""
    run = max(_runs(request, choices, constants), key=lambda run: run.throughput)
    transferred = find_transferred(request, run.choice, run.global_batch, run.exchange_s, catalog, evidence, constants)
    if transferred is not None:
        return _from_transferred(request, run, transferred)
    return _from_formula(request, run, catalog, evidence, constants)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One choice of settings with the step it takes."""

    choice: Choice
    step: StepTime
    global_batch: int
    throughput: float

    @property
    def shares(self) -> dict[str, float]:
        """Parts of the step over the whole of it. [-]"""
        return {part: seconds / self.step.total_s for part, seconds in self.step.parts_s.items()}

    @property
    def exchange_s(self) -> float:
        """What several GPUs lose of a step to each other. [s]"""
        return sum(self.step.parts_s[part] for part in EXCHANGE)


def _runs(request: Request, choices: Sequence[Choice], constants: Constants) -> list[_Run]:
    batches = [request.global_batch(choice.micro_batch, choice.layout.ranks) for choice in choices]
    steps = request_steps(request, choices, batches, constants)
    units = units_per_sample(request)
    return [
        _Run(choice=choice, step=step, global_batch=batch, throughput=batch * units / step.total_s)
        for choice, step, batch in zip(choices, steps, batches, strict=True)
    ]


def _from_measured(request: Request, choice: Choice, measured: Measured, constants: Constants) -> Prediction:
    row = measured.row
    layout = Layout(sharding="replicated", gpus=row.gpus)
    if row.sharded and row.gpus > 1:
        layout = Layout(sharding="sharded", gpus=row.gpus, shards=row.gpus)
    memory = layout_need(request, row.checkpointing, layout, constants).peak_bytes(row.micro_batch, layout.shards)
    run = Choice(
        micro_batch=row.micro_batch,
        checkpointing=row.checkpointing,
        layout=layout,
        memory_bytes=min(float(memory), choice.capacity_bytes),  # it ran
        capacity_bytes=choice.capacity_bytes,
        min_gpus=request.setup.gpus if choice.min_gpus is None else min(choice.min_gpus, request.setup.gpus),
    )
    half_width = math.hypot(constants.half_width_measured, measured.spread)
    (step,) = request_steps(request, [run], [measured.global_batch], constants)
    scale = measured.global_batch * units_per_sample(request) / measured.throughput / step.total_s
    breakdown = {part: seconds * scale for part, seconds in step.parts_s.items()}
    low, high = measured.throughput * math.exp(-half_width), measured.throughput * math.exp(half_width)
    warnings = list(request.warnings)
    if measured.others:
        slowest, fastest = measured.others
        low, high = min(low, slowest), max(high, fastest)
        span = {"slowest": slowest, "fastest": fastest, "up_to": fastest if fastest > slowest else None}
        stacks = {"software": row.framework, **span}
        warnings.append(Warning_(code="other_stacks", params=stacks))
    if row.id.startswith(OWN) and not 1 / MOST_FACTOR <= scale <= MOST_FACTOR:
        far = {"ids": ", ".join(measured.ids), "factor": max(scale, 1 / scale)}
        warnings.append(Warning_(code="own_row_far", params=far))
    if measured.contradicting:
        slowest, fastest = measured.contradicting
        rows = {"ids": ", ".join(measured.ids), "slowest": slowest, "fastest": fastest}
        warnings.append(Warning_(code="own_rows_contradict", params=rows))
    elif row.spread is not None and measured.spread > WILD_SPREAD:
        warnings.append(
            Warning_(code="own_rows_wild", params={"ids": ", ".join(measured.ids), "share": measured.spread})
        )
    return _prediction(
        request,
        run,
        throughput=measured.throughput,
        interval=(low, high),
        basis="measured",
        software=row.framework,
        global_batch=measured.global_batch,
        breakdown=breakdown,
        sources=tuple(f"{MEASUREMENTS}{id}" for id in measured.ids),
        warnings=tuple(warnings),
    )


def _from_transferred(request: Request, run: _Run, transferred: Transferred) -> Prediction:
    """Settings and memory by the formulas, whose parts but for the exchange are stretched to the speed."""
    compute_s = run.global_batch / transferred.throughput - run.exchange_s
    scale = compute_s / (run.step.total_s - run.exchange_s)
    factor = math.exp(transferred.half_width)
    return _prediction(
        request,
        run.choice,
        throughput=transferred.throughput,
        interval=(transferred.throughput / factor, transferred.throughput * factor),
        basis="transferred",
        software=transferred.software,
        global_batch=run.global_batch,
        breakdown={
            part: seconds if part in EXCHANGE else seconds * scale for part, seconds in run.step.parts_s.items()
        },
        sources=transfer_sources(request, transferred.ids),
        warnings=(*request.warnings, *transferred.warnings, *_run_warnings(request, run)),
    )


def _from_formula(
    request: Request, run: _Run, catalog: Catalog, evidence: Evidence, constants: Constants
) -> Prediction:
    setup = request.setup
    choice, step = run.choice, run.step
    half_width, novelty = estimated_half_width(
        _unit(request),
        setup.gpu,
        request.precision,
        choice.layout,
        run.shares,
        catalog,
        evidence,
        constants,
        setup.workload.vision,
    )
    spec = setup.workload.transformer
    if spec is not None and spec.experts:
        half_width = math.hypot(half_width, constants.half_width_experts)
    warnings = [*request.warnings, *novelty]
    if is_fused(setup.workload) and setup.software is None:
        warnings.append(Warning_(code="software_assumed", params={"software": software_of(request, choice.layout)}))
    if request.adapters:
        half_width = math.hypot(half_width, constants.half_width_regime)
    if not choice.layout.is_plain:
        layout = choice.layout
        spread = {"shards": layout.shards, "tensor": layout.tensor, "pipeline": layout.pipeline}
        code = "hybrid_shards" if layout.sharding == "sharded" else "split_model"
        warnings.append(Warning_(code=code, params=spread))
    if setup.checkpointing is None and choice.checkpointing != setup.workload.checkpointing:
        recomputation = {"recipe": setup.workload.checkpointing, "used": choice.checkpointing}
        warnings.append(Warning_(code="checkpointing_raised", params=recomputation))
    warnings += _run_warnings(request, run)
    return _prediction(
        request,
        choice,
        throughput=run.throughput,
        interval=(run.throughput * math.exp(-half_width), run.throughput * math.exp(half_width)),
        basis="estimated",
        software=software_of(request, choice.layout) if is_fused(setup.workload) else "eager",
        global_batch=run.global_batch,
        breakdown=step.parts_s,
        sources=formula_sources(request),
        warnings=tuple(warnings),
    )


def _run_warnings(request: Request, run: _Run) -> tuple[Warning_, ...]:
    """What is to be known of a run's settings, whatever its speed was taken from."""
    setup, choice = request.setup, run.choice
    warnings = [*_batch_warning(request, run.global_batch)]
    if TIGHT_SHARE < choice.memory_bytes / choice.capacity_bytes <= 1.0:
        memory = {"memory_gb": choice.memory_bytes / BYTES_PER_GB, "capacity_gb": choice.capacity_bytes / BYTES_PER_GB}
        warnings.append(Warning_(code="tight_memory", params={**memory, "gpu": setup.gpu.name}))
    shares = run.shares
    if shares["communication"] > REGIME_SHARE:
        warnings.append(Warning_(code="slow_links", params={"share": shares["communication"], "gpus": setup.gpus}))
    if shares["launch"] > REGIME_SHARE:
        warnings.append(Warning_(code="launch_bound", params={"share": shares["launch"]}))
    return tuple(warnings)


def _batch_warning(request: Request, used: int) -> tuple[Warning_, ...]:
    workload = request.setup.workload
    found = []
    if request.setup.global_batch is None and used != workload.global_batch:
        params = {"recipe": workload.global_batch, "used": used}
        found.append(Warning_(code="global_batch_adjusted", params=params))
    factor = samples_factor(workload.id, used)
    if factor > MORE_SAMPLES:
        more = {"used": used, "share": factor - 1.0, "workload": workload.name}
        found.append(Warning_(code="batch_needs_more_samples", params=more))
    return tuple(found)


def _prediction(
    request: Request,
    run: Choice,
    *,
    throughput: float,
    interval: tuple[float, float],
    basis: Basis,
    software: str,
    global_batch: int,
    breakdown: Mapping[str, float],
    sources: tuple[str, ...],
    warnings: tuple[Warning_, ...],
) -> Prediction:
    return Prediction(
        throughput=throughput,
        throughput_low=interval[0],
        throughput_high=interval[1],
        throughput_unit=_unit(request),
        basis=basis,
        memory_gb=run.memory_bytes / BYTES_PER_GB,
        capacity_gb=run.capacity_bytes / BYTES_PER_GB,
        fits=run.fits,
        min_gpus=run.min_gpus,
        precision=request.precision,
        seq_len=request.seq_len,
        micro_batch=run.micro_batch,
        global_batch=global_batch,
        checkpointing=run.checkpointing,
        layout=run.layout,
        software=software,
        optimizer=_optimizer(request, run),
        trained_parameters=trained_parameters(request),
        breakdown_s=MappingProxyType(dict(breakdown)),
        sources=sources,
        estimate=basis != "measured",
        warnings=warnings,
    )


def _optimizer(request: Request, run: Choice) -> Optimizer | None:
    if request.setup.workload.transformer is None:
        return None
    return optimizer_of(memory_setup(request, run.checkpointing, run.layout))


def _unit(request: Request) -> Unit:
    return "tokens_per_s" if request.setup.workload.unit == "tokens" else "samples_per_s"
