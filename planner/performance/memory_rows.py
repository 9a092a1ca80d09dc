"""Published peaks of memory: a row of a table in the schema of `data/measurements/memory_peaks.csv`, as a setup."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from planner.catalog.records import TransformerSpec
from planner.errors import InputError
from planner.performance.evidence import MEASUREMENTS_FOLDER
from planner.performance.memory.peak import MemoryKind
from planner.performance.memory.setup import LossKind, MemorySetup, Recomputation, StateSharding
from planner.units import BYTES_PER_GB
from planner.workload.settings import SOFTWARE, Method, Optimizer, Software

MEMORY_FILE = "memory_peaks.csv"

T = TypeVar("T")

# Families whose attention and feed-forward blocks read the same input side by side, by the start of the name.
PARALLEL_FAMILIES = ("falcon", "gpt-j", "gpt-neox", "phi-1", "phi-2", "pythia", "stablelm-3b", "stablelm-7b")

_METHODS: Mapping[str, Method] = {"pretrain": "full", "full-finetune": "full", "lora": "lora", "qlora": "qlora"}
_LOSSES: Mapping[str, LossKind | None] = {
    "": None,
    "unfused": "plain",
    "plain": "plain",
    "fused": "fused",
    "chunked": "chunked",
}
_KINDS: Mapping[str, MemoryKind] = {
    "": "allocator",
    "allocated": "allocated",
    "reserved": "allocator",
    "nvidia-smi": "reserved",
}
_RECOMPUTATIONS: Mapping[str, Recomputation] = {
    "": "none",
    "none": "none",
    "selective": "selective",
    "selective-per-op": "selective",
    "full": "full",
}
_OPTIMIZERS: Mapping[str, Optimizer | None] = {
    "": None,
    "adam": None,
    "adamw": None,
    "adamw-8bit": "adamw-8bit",
    "adamw8bit": "adamw-8bit",
    "sgd": "sgd-momentum",
}
_WEIGHT_BITS: Mapping[str, int] = {"nf4": 4, "nf4-dq": 4, "fp4": 4, "int8": 8, "bf16-mixed": 32, "fp16-mixed": 32}
_PRECISIONS = frozenset({"bf16", "fp16", "fp8", "tf32", "fp32", "amp-fp16", "amp-bf16", *_WEIGHT_BITS})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A measured peak with the run it was reached in."""

    id: str
    source: str
    model: str
    setup: MemorySetup
    kind: MemoryKind  # what was read
    peak_bytes: float

    @property
    def group(self) -> tuple[str, str, str]:
        """Model, method and software: rows of a group differ in batch, sequence or shards only."""
        method = f"{self.setup.method}, {self.setup.frozen_bits} bit" if self.setup.method != "full" else "full"
        return self.model, method, f"{self.setup.software}, {self.setup.checkpointing}"


def load_memory_rows(path: Path | None = None) -> tuple[MemoryRow, ...]:
    """Rows of a table, by default the shipped one.

    Raises
    ------
    InputError
        A cell that can't be read; `field` names row and column.
    """
    text = (path or MEASUREMENTS_FOLDER / MEMORY_FILE).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(memory_row(row) for row in csv.DictReader(io.StringIO("\n".join(lines))))


def memory_row(row: Mapping[str, str]) -> MemoryRow:
    """One row of a table of peaks, by its column names."""
    setup = memory_setup_of_row(row)
    return MemoryRow(
        id=row.get("id") or "",
        source=row.get("source", ""),
        model=row.get("model") or "",
        setup=setup,
        kind=memory_kind_of_row(row),
        peak_bytes=_number(row, "peak_memory_gb") * BYTES_PER_GB,
    )


def memory_kind_of_row(row: Mapping[str, str]) -> MemoryKind:
    """What was read; where it isn't said, what the allocator had taken."""
    return _one_of(row, "memory_kind", _KINDS)


def memory_setup_of_row(row: Mapping[str, str]) -> MemorySetup:
    """The run of a row. Empty cells: eager code, the loss of the software, nothing recomputed or shared.

    Raises
    ------
    InputError
        A cell that can't be read or can't be meant; `field` names row and column.
    """
    precision = row.get("precision") or "bf16"
    if precision not in _PRECISIONS:
        raise _unreadable(row, "precision", "one of " + ", ".join(sorted(_PRECISIONS)))
    method = _one_of(row, "task", _METHODS)
    degrees = _degrees(row.get("parallelism") or "")
    sharding, shards = _sharding(row, degrees)
    heads = int(_number(row, "n_heads"))
    spec = TransformerSpec(
        layers=int(_number(row, "n_layers")),
        d_model=int(_number(row, "d_model")),
        heads=heads,
        kv_heads=int(_number(row, "n_kv_heads", heads)),
        d_ff=int(_number(row, "d_ff")),
        gated_mlp=row.get("gated_mlp") in ("1", "true", "True"),
        vocab=int(_number(row, "vocab")),
        seq_len=int(_number(row, "seq_len")),
        encoder=False,
        tied_embeddings=False,
        parallel_blocks=(row.get("model") or "").lower().startswith(PARALLEL_FAMILIES),
    )
    return MemorySetup(
        spec=spec,
        parameters=_number(row, "n_params"),
        seq_len=spec.seq_len,
        micro_batch=_number(row, "micro_batch_seqs", 1),
        element_bytes=4.0 if precision in ("fp32", "tf32") else 2.0,
        method=method,
        weight_bits=None if method == "full" else _WEIGHT_BITS.get(precision),
        double_quantised=precision.endswith("-dq"),
        optimizer=_one_of(row, "optimizer", _OPTIMIZERS),
        sharding=sharding,
        shards=shards,
        tensor=degrees.get("tp", 1),
        pipeline=degrees.get("pp", 1),
        chunks=degrees.get("vp", degrees.get("interleave", 1)),
        context=degrees.get("cp", 1),
        checkpointing=_one_of(row, "activation_checkpointing", _RECOMPUTATIONS),
        software=_software(row),
        loss_kind=_one_of(row, "loss_kind", _LOSSES),
    )


def _software(row: Mapping[str, str]) -> Software:
    for software in SOFTWARE:
        if row.get("software_tier") == software:
            return software
    notes = row.get("compile_flash_notes") or ""
    return "compiled" if "compile" in notes and "no torch.compile" not in notes else "eager"


def _degrees(parallelism: str) -> dict[str, int]:
    """Degrees by their short names, as in `fsdp8-cp4`, `tp8-pp8-vp4` or `tp2-zero1(4)-dp8`."""
    found = re.findall(r"(fsdp|zero[123]|ddp|dp|tp|pp|cp|vp|interleave)[-=(]?(\d+)", parallelism)
    return {name: int(degree) for name, degree in found}


def _sharding(row: Mapping[str, str], degrees: Mapping[str, int]) -> tuple[StateSharding, int]:
    parallelism = row.get("parallelism") or ""
    gpus = int(_number(row, "n_gpus", 1))
    replicas = max(1, gpus // (degrees.get("tp", 1) * degrees.get("pp", 1)))
    stages: Mapping[str, StateSharding] = {
        "zero1": "optimizer", "zero2": "gradients", "zero3": "sharded", "fsdp": "sharded",
    }  # fmt: skip
    for name, sharding in stages.items():
        if name in parallelism or name.replace("zero", "zero-") in parallelism:
            return sharding, degrees.get(name, replicas)
    return "replicated", 1


def _number(row: Mapping[str, str], column: str, missing: float | None = None) -> float:
    text = (row.get(column) or "").strip()
    if not text and missing is not None:
        return missing
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e18:
        raise _unreadable(row, column, "a number above 0")
    return value


def _one_of(row: Mapping[str, str], column: str, known: Mapping[str, T]) -> T:
    text = (row.get(column) or "").strip().lower()
    if text not in known:
        raise _unreadable(row, column, "one of " + ", ".join(name for name in known if name))
    return known[text]


def _unreadable(row: Mapping[str, str], column: str, expected: str) -> InputError:
    field = f"{row.get('id') or 'row'}: {column}"
    found = repr(row[column]) if row.get(column) else "nothing"
    return InputError("unknown_choice", field=field, value=found, expected=expected)
