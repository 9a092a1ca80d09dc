"""Rows of the tables that can be validated: one measured run each, with an unknown cell as None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

Schema = Literal["llm_throughput", "memory_peaks", "dl_throughput", "mlperf_time_to_train"]
Unit = Literal["tokens_per_s", "samples_per_s", "gb", "min"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What every table tells of a run; `line` lines of the file."""

    id: str
    line: int
    source: str | None = None
    gpu: str | None = None
    n_gpus: int | None = None
    framework: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelRow(_Row):
    """A run of a model that the row describes."""

    date: str | None = None
    gpus_per_node: int | None = None
    task: str | None = None
    model: str | None = None
    n_params: float | None = None
    precision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TransformerRow(_ModelRow):
    """A run of a language model: its shape, and how it is trained."""

    n_layers: int | None = None
    d_model: int | None = None
    n_heads: int | None = None
    n_kv_heads: int | None = None
    d_ff: int | None = None
    gated_mlp: bool | None = None
    vocab: int | None = None
    seq_len: int | None = None
    micro_batch_seqs: int | None = None
    optimizer: str | None = None
    parallelism: str | None = None
    activation_checkpointing: str | None = None
    compile_flash_notes: str | None = None
    software_tier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRow(_TransformerRow):
    """One run of a language model. Fields are named as the columns; batches count sequences.

    Columns that only repeat the measured speed in other words (per GPU, MFU, step time) are left out on purpose: no
    prediction can be made from them.
    """

    interconnect_intra: str | None = None
    interconnect_inter: str | None = None
    network_gbit_per_s: float | None = None
    global_batch_seqs: int | None = None
    grad_accum: float | None = None
    async_tp: str | None = None
    fp8_recipe: str | None = None
    tokens_per_s_total: float | None = None

    @property
    def measured(self) -> float | None:
        """Speed of all GPUs together. [tokens/s]"""
        return self.tokens_per_s_total

    def without_measured(self) -> LanguageRow:
        """The configuration alone: what a prediction may be made from."""
        return replace(self, tokens_per_s_total=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow(_TransformerRow):
    """Peak memory of one run on one of its GPUs. Fields are named as the columns; 1 GB is 1e9 bytes."""

    loss_kind: str | None = None
    memory_kind: str | None = None
    peak_memory_gb: float | None = None

    @property
    def measured(self) -> float | None:
        """Peak of one GPU. [1e9 bytes]"""
        return self.peak_memory_gb

    def without_measured(self) -> MemoryRow:
        """The configuration alone: what a prediction may be made from."""
        return replace(self, peak_memory_gb=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow(_ModelRow):
    """One training run of a model that isn't a large language model. Fields are named as the columns.

    Columns that repeat the measured speed in other words (step time), or that follow from it, are left out on purpose.
    """

    fwd_gmacs_per_sample: float | None = None
    activations_m_per_sample: float | None = None
    input: str | None = None
    batch_per_gpu: float | None = None
    throughput_unit: str | None = None
    throughput: float | None = None

    @property
    def measured(self) -> float | None:
        """Speed of all GPUs together. [samples/s, or what `throughput_unit` says]"""
        return self.throughput

    def without_measured(self) -> SampleRow:
        """The configuration alone: what a prediction may be made from."""
        return replace(self, throughput=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow(_Row):
    """One training to a target quality, as benchmarks of MLPerf are. Fields are named as the columns.

    Columns that repeat the measured time in other words (throughput, samples or epochs to the target) are left out on
    purpose.
    """

    round: str | None = None
    division: str | None = None
    submitter: str | None = None
    system: str | None = None
    nodes: int | None = None
    benchmark: str | None = None
    global_batch_size: float | None = None
    minutes: float | None = None

    @property
    def model(self) -> str | None:
        """What is trained, as groups of other tables name it."""
        return self.benchmark

    @property
    def task(self) -> str | None:
        """Nothing: a benchmark says it."""
        return None

    @property
    def measured(self) -> float | None:
        """Time to the target. [min]"""
        return self.minutes

    def without_measured(self) -> TimeRow:
        """The configuration alone: what a prediction may be made from."""
        return replace(self, minutes=None)


Row: TypeAlias = LanguageRow | MemoryRow | SampleRow | TimeRow

MEASURED: Mapping[Schema, str] = MappingProxyType(
    {
        "llm_throughput": "tokens_per_s_total",
        "memory_peaks": "peak_memory_gb",
        "dl_throughput": "throughput",
        "mlperf_time_to_train": "minutes",
    }
)
"""The column that tells which table it is, and holds what is compared."""

UNITS: Mapping[Schema, Unit] = MappingProxyType(
    {
        "llm_throughput": "tokens_per_s",
        "memory_peaks": "gb",
        "dl_throughput": "samples_per_s",
        "mlperf_time_to_train": "min",
    }
)

FLAG = "flag="
"""In the notes of a row that whoever wrote it down doubts."""


def is_flagged(row: Row) -> bool:
    """Whether whoever wrote the row down doubts it: it is predicted, and left out of every summary."""
    return FLAG in (row.notes or "")
