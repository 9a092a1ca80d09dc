"""Training steps as rows of the public tables of measurements, and files that are whole or not there."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from planner.errors import InputError
from planner.measure.results import Report, TrainingStep
from planner.report.export import safe_cell

Kind = Literal["language", "samples", "memory"]

LANGUAGE_COLUMNS = (
    "id", "source", "date", "gpu", "n_gpus", "gpus_per_node", "task", "framework", "model", "n_params", "n_layers",
    "d_model", "n_heads", "n_kv_heads", "d_ff", "gated_mlp", "vocab", "seq_len", "global_batch_seqs",
    "micro_batch_seqs", "grad_accum", "precision", "optimizer", "parallelism", "activation_checkpointing",
    "compile_flash_notes", "software_tier", "tokens_per_s_total", "notes", "spread",
)  # fmt: skip
SAMPLE_COLUMNS = (
    "id", "source", "date", "gpu", "n_gpus", "gpus_per_node", "task", "model", "n_params", "fwd_gmacs_per_sample",
    "input", "batch_per_gpu", "precision", "framework", "throughput", "throughput_unit", "notes",
    "activation_checkpointing", "spread",
)  # fmt: skip
MEMORY_COLUMNS = (
    "id", "source", "date", "gpu", "n_gpus", "gpus_per_node", "task", "framework", "model", "n_params", "n_layers",
    "d_model", "n_heads", "n_kv_heads", "d_ff", "gated_mlp", "vocab", "seq_len", "micro_batch_seqs", "precision",
    "optimizer", "parallelism", "activation_checkpointing", "compile_flash_notes", "software_tier", "loss_kind",
    "memory_kind", "peak_memory_gb", "notes",
)  # fmt: skip


def table_files(out: Path, report: Report) -> dict[Path, str]:
    """Contents of the files of a report by path: none for a table without rows.

    `runs.csv` has the speeds of language models, `runs-samples.csv` those of other models, `runs-memory.csv` the peaks
    of language models. They are apart because a table has one measured column.
    """
    rows: dict[Kind, list[dict[str, Any]]] = {"language": [], "samples": [], "memory": []}
    for number, step in enumerate(report.steps, start=1):
        if step.shape.unit == "tokens":
            rows["language"].append(_language_row(report, step, number))
            rows["memory"] += _memory_rows(report, step, number)
        else:
            rows["samples"].append(_sample_row(report, step, number))
    columns: Mapping[Kind, Sequence[str]] = {
        "language": LANGUAGE_COLUMNS, "samples": SAMPLE_COLUMNS, "memory": MEMORY_COLUMNS,
    }  # fmt: skip
    return {path_of(out, kind): _csv(columns[kind], found) for kind, found in rows.items() if found}


def path_of(out: Path, kind: Kind) -> Path:
    """File of a table beside the one that was named."""
    return out if kind == "language" else out.with_name(f"{out.stem}-{kind}{out.suffix}")


def write_files(files: Mapping[Path, str], replace: Callable[[Path, Path], None] = os.replace) -> None:
    """Write files so that each is whole or as it was before.

    Raises
    ------
    InputError
        One can't be written.
    """
    for path, text in files.items():
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                    stream.write(text)
                Path(name).chmod(0o644)
                replace(Path(name), path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            reason = error.strerror or "an error"
            raise InputError("cannot_write", field="--out", value=str(path), reason=reason) from None


def check_writable(out: Path) -> None:
    """Find out before measuring for an hour whether the result can be kept.

    Raises
    ------
    InputError
        The folder isn't there or can't be written to, or the name is that of a folder.
    """
    try:
        if out.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        reason = error.strerror or "an error"
        raise InputError("cannot_write", field="--out", value=str(out), reason=reason) from None


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(column, "")) for column in columns])
    return stream.getvalue()


def _common(report: Report, step: TrainingStep, number: int) -> dict[str, Any]:
    return {
        "id": f"{step.shape.workload}-{number}",
        "source": "planner-measure",
        "date": report.date,
        "gpu": report.device.gpu,
        "n_gpus": 1,
        "gpus_per_node": 1,
        "framework": step.framework,
        "model": step.shape.model,
        "n_params": step.shape.parameters,
        "activation_checkpointing": step.checkpointing,
        "notes": _notes(report, step),
        "spread": _rounded(step.timing.spread),
    }


def _language_row(report: Report, step: TrainingStep, number: int) -> dict[str, Any]:
    shape = step.shape
    return _common(report, step, number) | {
        "task": "pretrain",
        "n_layers": shape.layers,
        "d_model": shape.d_model,
        "n_heads": shape.heads,
        "n_kv_heads": shape.heads,
        "d_ff": shape.d_ff,
        "gated_mlp": 0,
        "vocab": shape.vocab,
        "seq_len": shape.seq_len,
        "global_batch_seqs": step.batch,
        "micro_batch_seqs": step.batch,
        "grad_accum": 1,
        "precision": step.precision,
        "optimizer": step.optimizer,
        "parallelism": "single",
        "compile_flash_notes": "scaled_dot_product_attention; no torch.compile",
        "software_tier": "eager",
        "tokens_per_s_total": _rounded(step.per_s),
    }


def _sample_row(report: Report, step: TrainingStep, number: int) -> dict[str, Any]:
    bert = step.shape.seq_len is not None
    return _common(report, step, number) | {
        "task": "train",
        "fwd_gmacs_per_sample": step.shape.gmacs,
        "input": step.shape.input,
        "batch_per_gpu": step.batch,
        "precision": "amp-fp16" if step.amp and step.precision == "fp16" else step.precision,
        "throughput": _rounded(step.per_s),
        "throughput_unit": "sequences/s" if bert else "images/s",
    }


def _memory_rows(report: Report, step: TrainingStep, number: int) -> list[dict[str, Any]]:
    row = _language_row(report, step, number) | {"loss_kind": "unfused"}
    peaks = {"allocated": step.allocated_gb, "reserved": step.reserved_gb}
    return [
        row | {"id": f"{row['id']}-{kind}", "memory_kind": kind, "peak_memory_gb": _rounded(peak)}
        for kind, peak in peaks.items()
        if peak is not None
    ]


def _notes(report: Report, step: TrainingStep) -> str:
    device = report.device
    parts = [
        f"{step.timing.samples} samples, spread {step.timing.spread:.1%}",
        f"AMP {'on' if step.amp else 'off'}",
        device.name,
        f"CUDA {device.cuda_version or 'none'}",
        f"driver {report.driver or 'unknown'}",
    ]
    if step.mean_w is not None and step.j_per_step is not None:
        parts.append(f"{step.mean_w:.4g} W and {step.j_per_step:.4g} J a step")
    return "; ".join(parts)


def _rounded(value: float) -> float:
    """Six digits: more than any timing has."""
    return float(f"{value:.6g}")
