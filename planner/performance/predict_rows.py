"""Predictions of whole tables of measured runs, each from its configuration alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from planner.catalog.records import Catalog
from planner.errors import InputError
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow, MemoryRow
from planner.performance.constants import constants_of
from planner.performance.memory import MemorySetup, peak_memory
from planner.performance.memory_rows import memory_kind_of_row, memory_setup_of_row
from planner.performance.rows.predict import Run, complete_row, predict_runs
from planner.performance.rows.published import measured_before, shipped_speeds
from planner.performance.rows.subject import RowError, model_of
from planner.performance.rows.width import Widths
from planner.performance.stacks import load_stacks
from planner.units import BYTES_PER_GB

_OF_MODEL = (
    "model", "n_params", "n_layers", "d_model", "n_heads", "n_kv_heads", "d_ff", "gated_mlp", "vocab", "seq_len",
)  # fmt: skip


def predict_language_rows(
    rows: Sequence[LanguageRow], catalog: Catalog, *, published: bool = True
) -> list[RowPrediction]:
    """Speed of each row, from its configuration and what is known of its training code. [tokens/s]

    Parameters
    ----------
    rows : sequence of LanguageRow
        What was measured is not looked at.
    catalog : Catalog
        GPUs, models and the estimator's constants.
    published : bool
        Whether other published rows of a row's own configuration may answer it.

    Returns
    -------
    list of RowPrediction
        In the order of the rows; those that aren't understood say why.
    """
    constants, stacks = constants_of(catalog.assumptions), load_stacks()
    widths, speeds = Widths(catalog, stacks, constants), shipped_speeds() if published else {}
    found: list[RowPrediction] = []
    runs: list[Run] = []
    places: list[int] = []
    for at, row in enumerate(rows):
        found.append(RowPrediction(predicted=None))
        try:
            runs.append(complete_row(row, catalog, stacks, constants))
            places.append(at)
        except RowError as error:
            found[at] = RowPrediction(predicted=None, skipped=str(error))
    for at, speed in zip(places, predict_runs(runs, constants), strict=True):
        choices = tuple(dict.fromkeys(speed.run.subject.choices))  # layouts to choose from share some
        measured = measured_before(speed, constants, speeds)
        if measured is not None:
            found[at] = dataclasses.replace(measured, choices=choices)
            continue
        slower, faster = widths.half_widths(speed)
        found[at] = RowPrediction(
            predicted=speed.tokens_per_s,
            low=speed.tokens_per_s * math.exp(-slower),
            high=speed.tokens_per_s * math.exp(faster),
            novelty=widths.novelty(speed),
            choices=choices,
        )
    return found


def predict_memory_rows(rows: Sequence[MemoryRow], catalog: Catalog) -> list[RowPrediction]:
    """Peak memory of one GPU of each row, as the tool shows it that the row names. [GB of 1e9 bytes]"""
    constants = constants_of(catalog.assumptions)
    factor = math.exp(constants.half_width_memory)
    found = []
    for row in rows:
        try:
            cells, choices = _cells(row, catalog)
            setup, kind = memory_setup_of_row(cells), memory_kind_of_row(cells)
        except RowError as error:
            found.append(RowPrediction(predicted=None, skipped=str(error)))
            continue
        except InputError as error:
            column = error.field.rpartition(": ")[2]  # without the row's name, so that rows with one fault are counted
            reason = str(InputError(error.code, field=column, **error.params))
            found.append(RowPrediction(predicted=None, skipped=reason))
            continue
        predicted = peak_memory(setup, constants).shown_bytes(kind) / BYTES_PER_GB
        found.append(
            RowPrediction(
                predicted=predicted,
                low=predicted / factor,
                high=predicted * factor,
                novelty="new-stack",
                choices=(*choices, *_memory_choices(row, setup)),
            )
        )
    return found


def _memory_choices(row: MemoryRow, setup: MemorySetup) -> tuple[str, ...]:
    """What was filled in where the row says nothing."""
    taken = {
        "micro_batch_seqs": f"micro-batch {setup.micro_batch:g}",
        "precision": "4-bit weights" if setup.quantised else "precision bf16",
        "activation_checkpointing": "recomputation none",
        "memory_kind": "what the allocator took",
    }
    choices = [words for column, words in taken.items() if getattr(row, column) in (None, "")]
    if not row.software_tier and not row.compile_flash_notes:
        choices.append(f"software {setup.software}")
    if not row.parallelism and (row.n_gpus or 1) > 1:
        choices.append("nothing shared between the GPUs")
    return tuple(choices)


def _cells(row: MemoryRow, catalog: Catalog) -> tuple[dict[str, str], list[str]]:
    """A row as text by column, and what was filled in by the rules of the table of speeds."""
    cells = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        cells[field.name] = "" if value is None else str(int(value) if isinstance(value, bool) else value)
    choices: list[str] = []
    shared = {name: getattr(row, name) for name in _OF_MODEL}
    spec, parameters = model_of(LanguageRow(id=row.id, line=row.line, **shared), catalog, choices)
    known: dict[str, object] = {
        "n_layers": spec.layers,
        "d_model": spec.d_model,
        "n_heads": spec.heads,
        "n_kv_heads": spec.kv_heads,
        "d_ff": spec.d_ff,
        "vocab": spec.vocab,
        "gated_mlp": int(spec.gated_mlp),
        "n_params": parameters,
    }
    return cells | {column: str(value) for column, value in known.items() if not cells[column]}, choices
