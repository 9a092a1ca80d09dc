"""Published speeds of language models by configuration, in which rows of tables may have been measured before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TypeAlias

from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow, is_flagged
from planner.measurements.table import read_table
from planner.performance.constants import Constants
from planner.performance.data_file import read_content
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER
from planner.performance.repeated import Published, repeated
from planner.performance.rows.predict import SpeedPrediction
from planner.performance.stacks import STACKS_FILE, find_stack, stacks_of

_NUMBERS = (
    "n_gpus", "gpus_per_node", "n_params", "n_layers", "d_model", "vocab", "seq_len", "global_batch_seqs",
    "micro_batch_seqs",
)  # fmt: skip
_WORDS = (
    "model", "task", "precision", "parallelism", "activation_checkpointing", "optimizer", "software_tier", "async_tp",
    "fp8_recipe", "compile_flash_notes",
)  # fmt: skip
_NEEDED = ("model", "precision", "seq_len", "global_batch_seqs", "micro_batch_seqs")
"""Without these a row doesn't say its configuration, and two that leave them open may be two things."""


Speeds: TypeAlias = Mapping[Hashable, tuple[Published, ...]]
"""Rows by configuration."""


def measured_before(prediction: SpeedPrediction, constants: Constants, speeds: Speeds) -> RowPrediction | None:
    """What other published rows of exactly a row's configuration and software say; None without one."""
    subject = prediction.run.subject
    row = subject.row
    key = _configuration(row, subject.gpu.id, subject.stack.id)
    if key is None:
        return None
    return repeated(
        speeds.get(key, ()), id=row.id, date=row.date, origin=row.source or "",
        half_width=constants.half_width_measured, novelty="same-stack",
    )  # fmt: skip


def _configuration(row: LanguageRow, gpu: str, stack: str) -> Hashable | None:
    if not stack or any(getattr(row, column) is None for column in _NEEDED):
        return None
    words = tuple((getattr(row, column) or "").casefold() for column in _WORDS)
    return (gpu, stack, words, tuple(getattr(row, column) for column in _NUMBERS))


def shipped_speeds() -> Speeds:
    """Speeds of the shipped table by their configuration."""
    return _speeds((MEASUREMENTS_FOLDER / LANGUAGE_FILE).read_bytes(), read_content(STACKS_FILE))


@lru_cache(maxsize=2)
def _speeds(rows: bytes, stacks_file: bytes) -> Speeds:
    table, stacks = read_table(rows, file=LANGUAGE_FILE), stacks_of(stacks_file)
    found: dict[Hashable, list[Published]] = {}
    for row in table.rows:
        if not isinstance(row, LanguageRow) or row.measured is None or row.gpu is None or is_flagged(row):
            continue
        key = _configuration(row, row.gpu, find_stack(row.framework, row.source, stacks).id)
        if key is not None:
            one = Published(id=row.id, date=row.date or "", origin=row.source or "", speed=row.measured)
            found.setdefault(key, []).append(one)
    return {key: tuple(rows) for key, rows in found.items()}
