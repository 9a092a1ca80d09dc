"""Fits the constants of the transformer step to measured rows, and predicts rows that were left out of the fit.

Every fit starts at the centre of the priors, which are the ranges low to high of the assumptions, read as 80 % of a
log-normal. Each stack has an offset of its own with a narrow prior, so that one code's habits don't bend the physics.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from planner.catalog.records import Catalog, Workload
from planner.measurements.rows import LanguageRow
from planner.measurements.table import read_table
from planner.performance.constants import Constants, assumption_id
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER, Evidence, Measurement
from planner.performance.robust import group_weights, robust
from planner.performance.rows.predict import Arrays, Run, complete_row
from planner.performance.stacks import Stack
from planner.performance.step import step_times
from planner.performance.step_inputs import Vector

NOISE = 0.06  # log error that counts as one unit of misfit
OFFSET_DEVIATION = 0.07  # of stacks around the formulas, on the log
SHRINKAGE = 2.0  # models of a stack on a GPU that count as much as the prior that it has no offset of its own
EIGHTY_PERCENT = 1.2816  # standard deviations from the middle to either end of an 80 % range
KEPT_OUT_GPU = "rtx-4090"
KEPT_OUT_SOURCES = frozenset({"lambda-benchmark-v0"})  # PyTorch 1.4-1.10: no stack of today
LAMBDA_FRAMEWORK = "lambda-benchmark"

FITTED = (
    "gemm_efficiency",
    "gemm_efficiency_compiled",
    "gemm_efficiency_vendor",
    "gemm_share_blackwell",
    "gemm_share_no_tensor_cores",
    "gemm_share_volta_compiled",
    "gemm_bytes_factor",
    "fp8_efficiency",
    "fp8_cast_bytes",
    "expert_efficiency",
    "expert_bytes_factor",
    "attention_efficiency",
    "unfused_attention_share",
    "unfused_score_passes",
    "score_passes_vendor",
    "cache_gain",
    "elementwise_factor_fused",
    "elementwise_factor_unfused",
    "elementwise_factor_vendor",
    "elementwise_factor_vendor_unfused",
    "loss_bytes_per_logit",
    "recompute_share",
    "recompute_share_vendor",
    "head_share_pipeline",
    "generator_factor",
    "unpadded_share",
    "kernel_gap_us",
    "kernel_launch_us",
    "launch_share_vendor",
    "launch_share_modern",
    "nvlink_share_fsdp",
    "network_share",
    "all_reduce_gain_vendor",
    "overlap_exposed",
    "tensor_exposed",
    "tensor_exposed_eager",
    "context_exposed",
    "expert_exposed",
    "pipeline_exposed",
    "shared_optimizer_exposed",
    "shared_optimizer_exposed_eager",
    "gather_latency_us",
    "node_jitter_per_doubling",
    "optimizer_factor",
)

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOffsets:
    """Log by which stacks are faster than the formulas, and further on a GPU; rows behind each."""

    by_stack: Mapping[str, float]
    by_gpu: Mapping[tuple[str, str], float]
    rows: Mapping[str, int]

    def of(self, stack: str, gpu: str) -> float:
        """Offset of a stack on a GPU; 0 for what was never measured."""
        return self.by_stack.get(stack, 0.0) + self.by_gpu.get((stack, gpu), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFit:
    """What a fit gives."""

    constants: Constants
    offsets: StackOffsets


def language_rows(catalog: Catalog, evidence: Evidence) -> list[LanguageRow]:
    """Measured rows of transformers: the table of language models, and BERT on one GPU from the table of samples."""
    table = read_table((MEASUREMENTS_FOLDER / LANGUAGE_FILE).read_bytes(), file=LANGUAGE_FILE)
    rows = [row for row in table.rows if isinstance(row, LanguageRow) and row.measured]
    known = {row.id for row in evidence.measurements}
    rows = [row for row in rows if row.id in known]
    workloads = {model: workload for workload in catalog.workloads.values() for model in workload.evidence_models}
    rows += [
        _bert_row(m, workloads[m.model])
        for m in evidence.measurements
        if m.unit == "samples_per_s"
        and m.gpus == 1
        and m.use != "compare"
        and m.source not in KEPT_OUT_SOURCES
        and m.precision in ("fp16", "bf16")
        and m.model in workloads
        and workloads[m.model].transformer is not None
    ]
    return [row for row in rows if row.gpu != KEPT_OUT_GPU]


def _bert_row(m: Measurement, workload: Workload) -> LanguageRow:
    """A row of fine-tuning counted in samples, as one counted in tokens."""
    spec = workload.transformer
    assert spec is not None and m.seq_len is not None
    return LanguageRow(
        id=m.id,
        line=0,
        source=m.source,
        date=m.date,
        gpu=m.gpu,
        n_gpus=1,
        gpus_per_node=1,
        task="full-finetune",
        framework=f"{LAMBDA_FRAMEWORK} {m.framework}",
        model=m.model,
        n_params=workload.parameters.value,
        n_layers=spec.layers,
        d_model=spec.d_model,
        n_heads=spec.heads,
        n_kv_heads=spec.kv_heads,
        d_ff=spec.d_ff,
        vocab=spec.vocab,
        seq_len=m.seq_len,
        global_batch_seqs=m.micro_batch,
        micro_batch_seqs=m.micro_batch,
        precision=m.precision,
        parallelism="single",
        activation_checkpointing="none",
        compile_flash_notes="no flash-attn",
        software_tier="eager",
        tokens_per_s_total=m.throughput * m.seq_len,
    )


class FitRows:
    """Rows with their runs as columns, one plan each: where several are possible, the fastest by the prior."""

    def __init__(
        self, rows: Sequence[LanguageRow], catalog: Catalog, stacks: tuple[Stack, ...], constants: Constants
    ) -> None:
        bare = tuple(replace(stack, offset=0.0, by_gpu={}) for stack in stacks)
        runs = [complete_row(row, catalog, bare, constants) for row in rows]
        arrays = Arrays(runs, constants)
        fastest = arrays.fastest(arrays.log_speed(step_times(arrays.inputs, constants)))
        self.runs: list[Run] = runs
        self.inputs = arrays.inputs.take(fastest)
        self.log_work: Vector = arrays.log_work[fastest]
        self.log_measured: Vector = np.log([row.measured or math.nan for row in rows])
        self.stack = np.array([run.subject.stack.id or f"source {run.row.source}" for run in runs])
        self.gpu = np.array([run.subject.gpu.id for run in runs])
        self.model = np.array([run.row.model or "" for run in runs])
        self.source = np.array([run.row.source or "" for run in runs])

    def __len__(self) -> int:
        return len(self.runs)

    def log_ratio(self, constants: Constants, rows: Indices) -> Vector:
        """Log of the formulas' speed over the measured one."""
        seconds = step_times(self.inputs.take(rows), constants).total_s
        return np.asarray(self.log_work[rows] - np.log(seconds) - self.log_measured[rows], dtype=np.float64)


def priors(names: Sequence[str], catalog: Catalog) -> tuple[Vector, Vector]:
    """Centres and standard deviations of the logs of constants, from the ranges of their assumptions."""
    centres, deviations = [], []
    for name in names:
        figure = catalog.assume(assumption_id(name))
        assert figure.low is not None and figure.high is not None
        low, high = math.log(figure.low), math.log(figure.high)
        centres.append((low + high) / 2)
        deviations.append((high - low) / 2 / EIGHTY_PERCENT)
    return np.array(centres), np.array(deviations)


def fit_steps(data: FitRows, rows: Indices, start: Constants, catalog: Catalog) -> StepFit:
    """Constants and stack offsets that minimise a soft-L1 loss of the log errors, with Gaussian priors on logs.

    A group of rows (one source, GPU and model) weighs as the square root of their number: they repeat each other.
    """
    centres, deviations = priors(FITTED, catalog)
    stacks, of_stack = np.unique(data.stack[rows], return_inverse=True)
    groups = list(zip(data.source[rows], data.gpu[rows], data.model[rows], strict=True))
    weights = group_weights(groups)
    count = len(FITTED)

    def constants_at(logs: Vector) -> Constants:
        return replace(start, **{name: math.exp(log) for name, log in zip(FITTED, logs, strict=True)})

    def residuals(values: Vector) -> Vector:
        misfit = (data.log_ratio(constants_at(values[:count]), rows) + values[count:][of_stack]) / NOISE
        return np.concatenate(
            [weights * robust(misfit), (values[:count] - centres) / deviations, values[count:] / OFFSET_DEVIATION]
        )

    first = np.concatenate([centres, np.zeros(len(stacks))])
    solution = least_squares(residuals, first, xtol=1e-6, ftol=1e-6, max_nfev=60).x
    constants = constants_at(np.asarray(solution[:count], dtype=np.float64))
    by_stack = {str(stack): float(value) for stack, value in zip(stacks, solution[count:], strict=True)}
    rest = data.log_ratio(constants, rows) + solution[count:][of_stack]
    return StepFit(
        constants=constants,
        offsets=StackOffsets(
            by_stack=by_stack, by_gpu=_by_gpu(data, rows, rest), rows=dict(Counter(map(str, data.stack[rows])))
        ),
    )


def _by_gpu(data: FitRows, rows: Indices, rest: Vector) -> dict[tuple[str, str], float]:
    """What is left of each stack's GPU: the median of its models' medians, shrunk towards 0 where they are few."""
    models: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, left in zip(rows, rest, strict=True):
        models[str(data.stack[row]), str(data.gpu[row])][str(data.model[row])].append(float(left))
    found = {}
    for key, of_model in models.items():
        medians = [float(np.median(values)) for values in of_model.values()]
        found[key] = -float(np.median(medians)) * len(medians) / (len(medians) + SHRINKAGE)
    return found


def predicted_log_ratio(data: FitRows, rows: Indices, fit: StepFit) -> Vector:
    """Log of predicted over measured, with what the fit knows of stack and GPU."""
    known = [fit.offsets.of(str(data.stack[row]), str(data.gpu[row])) for row in rows]
    return np.asarray(data.log_ratio(fit.constants, rows) + np.array(known), dtype=np.float64)


def left_out(
    data: FitRows, groups: Mapping[str, Indices], start: Constants, catalog: Catalog, within: Indices | None = None
) -> dict[str, Vector]:
    """Log ratios of groups of rows, each predicted by a fit that saw nothing of the group.

    Parameters
    ----------
    data : FitRows
        All rows.
    groups : mapping
        Rows of each group.
    start : Constants
        What isn't fitted.
    catalog : Catalog
        For the priors.
    within : array of int, optional
        Rows that are scored; all of a group where not said.
    """
    everything = np.arange(len(data))
    found = {}
    for name, rows in groups.items():
        fit = fit_steps(data, np.setdiff1d(everything, rows), start, catalog)
        scored = rows if within is None else np.intersect1d(rows, within)
        found[name] = predicted_log_ratio(data, scored, fit)
    return found


def write_stacks(offsets: StackOffsets, path: Path) -> None:
    """Replace the fitted numbers of the stacks file, leaving everything else as it stands."""
    lines, current = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  - id: "):
            if current:
                lines += _numbers(current, offsets)
            current = line.removeprefix("  - id: ").strip()
        if not line.startswith(("    offset:", "    rows:", "    by_gpu:")):
            lines.append(line)
    lines += _numbers(current, offsets)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _numbers(stack: str, offsets: StackOffsets) -> list[str]:
    if stack not in offsets.by_stack:
        return []
    by_gpu = {gpu: value for (of, gpu), value in sorted(offsets.by_gpu.items()) if of == stack}
    listed = ", ".join(f"{gpu}: {value:.4f}" for gpu, value in by_gpu.items())
    return [
        f"    offset: {offsets.by_stack[stack]:.4f}",
        f"    rows: {offsets.rows[stack]}",
        f"    by_gpu: {{{listed}}}",
    ]
