"""Errors of groups of scored rows: in all, by any key, the worst rows, and the rows most like a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.validate.score import ScoredRow, summarise

Likeness = Literal["gpu_and_family", "gpu", "family", "table"]
"""How near a group is to a question: both the same, one of them, or only the same kind of table."""

FEWEST = 3
"""Rows of a group below which it says too little, and a wider one is taken."""
_FAMILY = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGroup:
    """Errors of the rows of a group that count; None where none does."""

    key: str
    n: int
    median_ape: float | None  # [%]
    p90_ape: float | None  # [%]
    bias: float | None  # median error with its sign, positive when predicted too high [%]
    coverage_80: float | None  # share of the measured values within the interval [-]
    median_half_width: float | None  # [%]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """The rows most like a question, and how they are alike."""

    likeness: Likeness
    errors: ErrorGroup


def errors_of(rows: Sequence[ScoredRow], key: str = "") -> ErrorGroup:
    """Errors of some rows, those that don't count left out."""
    found = summarise(rows)
    signed = [row.error for row in rows if row.counts and row.error is not None]
    return ErrorGroup(
        key=key,
        n=found.n,
        median_ape=found.median_ape,
        p90_ape=found.p90_ape,
        bias=float(np.median(signed)) if signed else None,
        coverage_80=found.coverage_80,
        median_half_width=found.median_half_width,
    )


def error_groups(rows: Sequence[ScoredRow], key_of: Callable[[ScoredRow], str]) -> tuple[ErrorGroup, ...]:
    """Errors by a key, the worst median first; groups without a row that counts are left out."""
    members: dict[str, list[ScoredRow]] = {}
    for row in rows:
        if row.counts:
            members.setdefault(key_of(row), []).append(row)
    found = [errors_of(group, key) for key, group in members.items()]
    return tuple(sorted(found, key=lambda group: (-(group.median_ape or 0.0), group.key)))


def worst_rows(rows: Sequence[ScoredRow], count: int) -> tuple[ScoredRow, ...]:
    """The rows that count with the largest errors, the worst first."""
    counted = [row for row in rows if row.counts]
    return tuple(sorted(counted, key=lambda row: (-(row.ape or 0.0), row.id))[:count])


def family(model: str) -> str:
    """The first letters of a model's name, by which its relatives are known.

    >>> family("BERT-large-SQuAD-finetune"), family("mpt-70b"), family("ResNet50")
    ('bert', 'mpt', 'resnet')
    """
    found = _FAMILY.search(model.casefold())
    return found[0] if found else model.casefold()


def rows_alike(
    rows: Sequence[ScoredRow], gpu: str, models: Collection[str], gpu_of: Callable[[ScoredRow], str]
) -> Alike | None:
    """Errors of the rows most like a question: same GPU and family, else GPU, else family, else all of them.

    Parameters
    ----------
    rows : sequence of ScoredRow
        Rows of the kind of the question, such as speeds of language models.
    gpu : str
        Id of the GPU asked about.
    models : collection of str
        Names of the model asked about.
    gpu_of : callable
        Id of a row's GPU, or its own word where the catalog doesn't know it.

    Returns
    -------
    Alike or None
        The first of these groups with at least `FEWEST` rows; None where even all rows are fewer.
    """
    families = {family(model) for model in models}
    counted = [row for row in rows if row.counts]
    of_gpu = [row for row in counted if gpu_of(row) == gpu]
    of_family = [row for row in counted if family(row.model) in families]
    both = [row for row in of_gpu if family(row.model) in families]
    groups: tuple[tuple[Likeness, list[ScoredRow]], ...] = (
        ("gpu_and_family", both), ("gpu", of_gpu), ("family", of_family), ("table", counted),
    )  # fmt: skip
    for likeness, group in groups:
        if len(group) >= FEWEST:
            return Alike(likeness=likeness, errors=errors_of(group))
    return None
