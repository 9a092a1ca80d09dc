"""What is easily computed instead of an estimate: a constant MFU, and ratios between data sheets.

Speeds are logs of tokens/s. Every baseline knows the measured rows that the estimator's fit saw, and no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.catalog.records import TransformerSpec
from planner.performance.device import generation_of, known
from planner.performance.fit_steps import Indices
from planner.performance.rows.predict import Run
from planner.performance.step_inputs import Vector
from planner.units import BYTES_PER_GB, FLOP_PER_TFLOP
from planner.workload.transformer import (
    attention_output_width,
    head_parameters,
    layer_matmul_parameters,
    query_width,
)

USUAL_MFU = 0.4
_FAMILY = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the baselines know of a run."""

    model: str
    stack: str
    gpu: str
    gpu_class: str  # generation and segment
    segment: str
    precision: str
    gpus: int
    flop_per_token: float
    peak_flop_per_s: float  # dense, of one GPU in the precision of the run
    bandwidth_bytes_per_s: float

    @property
    def family(self) -> str:
        """First word of the model's name, without its version."""
        return family_of(self.model)

    @property
    def log_ceiling(self) -> float:
        """Log of the speed at an MFU of 1. [tokens/s]"""
        return math.log(self.gpus * self.peak_flop_per_s / self.flop_per_token)


def family_of(model: str) -> str:
    """First word of a model's name, without its version."""
    found = _FAMILY.match(model.casefold())
    return found[0] if found else ""


def flop_per_token(spec: TransformerSpec, seq_len: int) -> float:
    """6 FLOP a weight that multiplies a token, and 12 L d s for attention, a mask not taken off. [FLOP]

    Of experts those count that a token passes. `d` is the width of the queries, or its mean with that of the values
    where they differ. Recomputation isn't counted.

    References
    ----------
    .. [1] A. Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways," 2022, app. B, arXiv:2204.02311.
    """
    weights = spec.layers * layer_matmul_parameters(spec) + head_parameters(spec)
    return 6 * weights + 6 * spec.layers * seq_len * (query_width(spec) + attention_output_width(spec))


def facts_of(run: Run, stack: str) -> Facts:
    """What a baseline needs of a completed row of a stack."""
    subject = run.subject
    gpu = subject.gpu
    return Facts(
        model=re.sub(r"\s*\(.*\)\s*$", "", run.row.model or "").casefold(),
        stack=stack,
        gpu=gpu.id,
        gpu_class=f"{generation_of(gpu)} {gpu.segment}",
        segment=str(gpu.segment),
        precision=subject.precision,
        gpus=run.row.n_gpus or 1,
        flop_per_token=flop_per_token(subject.spec, subject.seq_len),
        peak_flop_per_s=gpu.dense_tflop_per_s[subject.precision].value * FLOP_PER_TFLOP,
        bandwidth_bytes_per_s=known(gpu.memory_bandwidth_gb_per_s) * BYTES_PER_GB,
    )


def usual_mfu(asked: Sequence[Facts]) -> Vector:
    """40 % of the peak on every GPU."""
    return np.array([facts.log_ceiling + math.log(USUAL_MFU) for facts in asked])


def mfu_by_gpu(asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector) -> Vector:
    """One MFU a GPU: the median of what the same code reached on it.

    Without any such row: what it reached on GPUs of the class, on any; then other codes on this GPU, its class, its
    segment, any.
    """
    keys = (("stack", "gpu"), ("stack", "gpu_class"), ("stack",), ("gpu",), ("gpu_class",), ("segment",), ())
    return _by_first(asked, given, log_measured, keys)


def mfu_by_class(asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector) -> Vector:
    """One MFU a generation and segment: the median of all its rows; without any, of its segment, or all."""
    return _by_first(asked, given, log_measured, (("gpu_class",), ("segment",), ()))


def _by_first(
    asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector, keys: Sequence[tuple[str, ...]]
) -> Vector:
    """Speed at the median MFU of the given rows that agree in the first of the keys in which any do."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for facts, speed in zip(given, log_measured, strict=True):
        for key in keys:
            groups.setdefault(_named(facts, key), []).append(float(speed) - facts.log_ceiling)
    medians = {name: float(np.median(values)) for name, values in groups.items()}

    def of(facts: Facts) -> float:
        return next(medians[name] for name in (_named(facts, key) for key in keys) if name in medians)

    return np.array([facts.log_ceiling + of(facts) for facts in asked])


def _named(facts: Facts, key: tuple[str, ...]) -> tuple[str, ...]:
    return (*key, *(getattr(facts, name) for name in key))


def peak_ratio(asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector) -> Vector:
    """Speed on the GPU with the nearest peak, times the ratio of peaks."""
    return _by_ratio(asked, given, log_measured, "peak_flop_per_s")


def bandwidth_ratio(asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector) -> Vector:
    """Speed on the GPU with the nearest bandwidth, times the ratio of bandwidths."""
    return _by_ratio(asked, given, log_measured, "bandwidth_bytes_per_s")


def _by_ratio(asked: Sequence[Facts], given: Sequence[Facts], log_measured: Vector, rate: str) -> Vector:
    """Speed of the nearest GPU times a ratio of rates.

    Looked at are given rows of the model's family, or else all. Of these the GPU with the nearest rate counts, by the
    log of the ratio; on it the same model where it was run, and the same precision where there is any. Of what is left
    the median is taken, in FLOP/s of one GPU, so that other models and numbers of GPUs can stand in.
    """
    rates = np.log([getattr(facts, rate) for facts in given])
    flop = log_measured + np.log([facts.flop_per_token / facts.gpus for facts in given])
    columns = {name: np.array([getattr(facts, name) for facts in given]) for name in ("model", "family", "precision")}
    found: dict[tuple[str, str, str], float] = {}

    def alike(rows: Indices, name: str, facts: Facts) -> Indices:
        same = rows[columns[name][rows] == getattr(facts, name)]
        return same if len(same) else rows

    def of(facts: Facts) -> float:
        rows = alike(np.arange(len(given)), "family", facts)
        distance = np.abs(rates[rows] - math.log(getattr(facts, rate)))
        rows = rows[distance <= distance.min() + 1e-9]
        rows = alike(alike(rows, "model", facts), "precision", facts)
        return float(np.median(flop[rows] - rates[rows])) + math.log(getattr(facts, rate))

    for facts in asked:
        key = (facts.model, facts.gpu, facts.precision)
        if key not in found:
            found[key] = of(facts)
    return np.array(
        [
            found[facts.model, facts.gpu, facts.precision] + math.log(facts.gpus / facts.flop_per_token)
            for facts in asked
        ]
    )
