"""Rows of a table of measurements, as short as they can be said."""

from __future__ import annotations

from typing import Any

from planner.catalog.load import load_catalog
from planner.measurements.rows import LanguageRow
from planner.performance.constants import constants_of
from planner.performance.rows.layout import plans_of
from planner.performance.rows.subject import Subject, subject_of
from planner.performance.stacks import load_stacks
from planner.performance.step_inputs import StepPlan

CATALOG = load_catalog()
CONSTANTS = constants_of(CATALOG.assumptions)
STACKS = load_stacks()

LLAMA: dict[str, Any] = {
    "n_params": 6_738_415_616,
    "n_layers": 32,
    "d_model": 4096,
    "n_heads": 32,
    "d_ff": 11008,
    "vocab": 32000,
}
NO_SHAPE: dict[str, Any] = dict.fromkeys(LLAMA)


def language_row(**changes: Any) -> LanguageRow:
    """Seven billion parameters on eight A100 in code that was never measured."""
    usual: dict[str, Any] = {
        "id": "a",
        "line": 2,
        "gpu": "a100-sxm4-80gb",
        "n_gpus": 8,
        "task": "pretrain",
        "model": "own-7b",
        "seq_len": 2048,
        "precision": "bf16",
        "software_tier": "eager",
        **LLAMA,
    }
    return LanguageRow(**{**usual, **changes})


def subject(**changes: Any) -> Subject:
    """What such a row ran."""
    return subject_of(language_row(**changes), CATALOG, STACKS)


def plans(**changes: Any) -> list[StepPlan]:
    """Its possible layouts."""
    return [plan for plan, _ in plans_of(subject(**changes), CONSTANTS)]


def only_plan(**changes: Any) -> StepPlan:
    """The one layout of a row that leaves no choice; nothing is recomputed unless said or left open."""
    (found,) = plans(**{"activation_checkpointing": "none", **changes})
    return found
