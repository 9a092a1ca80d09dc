"""Predictions of whole tables of runs: a share of the peak for speed, bytes a parameter for memory."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog.query import find_gpu, find_workload
from planner.catalog.records import Catalog, Gpu
from planner.errors import InputError, UnknownIdError
from planner.performance.evidence import Evidence
from planner.units import BYTES_PER_GB
from planner.measurements.parallelism import parse_parallelism
from planner.validate.predictor import RowPrediction
from planner.measurements.rows import LanguageRow, MemoryRow

MFU = 0.4
SPREAD = 2.0  # of the interval, either way
FLOP_PER_PARAMETER = 6.0  # and token, forward and backward
ATTENTION_FLOP = 12.0  # a token, layer, channel and earlier token: the mask left out of account
STATE_BYTES = 16.0  # a parameter: weights, gradients, Adam
ADAPTER_BYTES = 2.0  # a parameter whose weights are only read
_TERA = 1e12
_PRECISION = "bf16"


def predict_language_rows(rows: Sequence[LanguageRow], catalog: Catalog, evidence: Evidence) -> list[RowPrediction]:
    """Speed of each row: 40 % of the dense peak, whatever it is. [tokens/s]"""
    return [_language(row, catalog) for row in rows]


def predict_memory_rows(rows: Sequence[MemoryRow], catalog: Catalog) -> list[RowPrediction]:
    """Peak memory of each row: the training state alone, over the GPUs that share it. [GB]"""
    return [_memory(row, catalog) for row in rows]


def _language(row: LanguageRow, catalog: Catalog) -> RowPrediction:
    try:
        gpu = find_gpu(catalog, row.gpu or "", field="gpu")
    except (InputError, UnknownIdError) as error:
        return RowPrediction(predicted=None, skipped=str(error))
    parameters = _parameters(row, catalog)
    peak, choices = _peak_flop_per_s(row, gpu)
    flop = FLOP_PER_PARAMETER * parameters
    if row.n_layers and row.d_model and row.seq_len:
        flop += ATTENTION_FLOP * row.n_layers * row.d_model * row.seq_len
    return _spread(MFU * peak * (row.n_gpus or 1) / flop, choices)


def _memory(row: MemoryRow, catalog: Catalog) -> RowPrediction:
    adapter = (row.task or "") in ("lora", "qlora")
    spread = parse_parallelism(row.parallelism) if row.parallelism else None
    shards = (row.n_gpus or 1) if spread is not None and spread.kind == "fsdp" else 1
    state = (ADAPTER_BYTES if adapter else STATE_BYTES) * _parameters(row, catalog) / shards
    return _spread(state / BYTES_PER_GB, ())


def _parameters(row: LanguageRow | MemoryRow, catalog: Catalog) -> float:
    if row.n_params is not None:
        return row.n_params
    if row.n_layers is not None and row.d_model is not None:
        return 12.0 * row.n_layers * row.d_model**2 + (row.vocab or 0) * row.d_model
    return find_workload(catalog, row.model or "").parameters.value


def _peak_flop_per_s(row: LanguageRow, gpu: Gpu) -> tuple[float, tuple[str, ...]]:
    rates = gpu.dense_tflop_per_s
    for name in (row.precision or _PRECISION, _PRECISION, "fp16", "fp32"):
        for precision, rate in rates.items():
            if precision == name:
                return rate.value * _TERA, () if name == row.precision else (f"precision {name}",)
    return max(rate.value for rate in rates.values()) * _TERA, ()


def _spread(value: float, choices: tuple[str, ...]) -> RowPrediction:
    return RowPrediction(predicted=value, low=value / SPREAD, high=value * SPREAD, choices=choices)
