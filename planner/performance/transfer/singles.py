"""Published speeds of single cards, as the rows that terms are fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.cards import Card, PrecisionClass, card_of
from planner.performance.transfer.likeness import Array, Codes, Places
from planner.performance.transfer.posterior import Measured
from planner.performance.transfer.published import PublishedRow, PublishedTable
from planner.performance.transfer.software import in_suite, release_of
from planner.performance.transfer.terms import basis_of

_FEWEST_ROWS = 3
_USUAL_STEP_S = 0.25  # of models whose batch no row states
_PRECISIONS: tuple[PrecisionClass, ...] = ("16-bit", "tf32", "fp32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A model in one size of input."""

    model: str
    input: str
    unit: str
    usual_batch: float  # where a row doesn't say

    @property
    def id(self) -> str:
        """Its name with its input."""
        return f"{self.model} {self.input}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Singles:
    """Rows of one GPU whose cards and batches are known, beside their rows as arrays."""

    workloads: tuple[Workload, ...]
    rows: tuple[PublishedRow, ...]
    measured: Measured
    table: PublishedTable  # all rows


def code(names: Sequence[str]) -> Codes:
    """Names as numbers."""
    known = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.int64)


def places_of(
    models: Codes,
    gpus: Codes,
    precisions: Sequence[PrecisionClass],
    stacks: Sequence[str],
    software: Codes,
    cards: Array,
) -> Places:
    """Runs as arrays, their names as codes already but for precision and release."""
    return Places(
        model=models,
        gpu=gpus,
        precision=np.array([_PRECISIONS.index(precision) for precision in precisions], dtype=np.int64),
        software=software,
        release=np.array([release_of(stack) for stack in stacks]),
        other=np.array([0.0 if in_suite(stack) else 1.0 for stack in stacks]),
        features=cards,
    )


def usual_batch(rows: Sequence[PublishedRow]) -> float:
    """The middle of the batches of a workload; where no row says one, what takes about as long as steps usually do."""
    batches = [row.batch for row in rows if row.batch]
    if batches:
        return float(median(batches))
    return float(f"{max(_USUAL_STEP_S * median(row.speed for row in rows), 1):.3g}")


def singles(table: PublishedTable, catalog: Catalog, constants: Constants) -> Singles:
    """Published rows of one GPU, but for cards whose rates the catalog lacks, and models with fewer than three."""
    found: dict[tuple[str, str], list[tuple[PublishedRow, Card]]] = {}
    for row in table.rows:
        card = card_of(catalog, row.gpu, row.precision, constants)
        if card is not None and row.gpus == 1 and not row.channels_last and not row.flagged:
            found.setdefault((row.model, row.input), []).append((row, card))
    kept = {key: rows for key, rows in sorted(found.items()) if len(rows) >= _FEWEST_ROWS}
    workloads = tuple(
        Workload(
            model=model, input=size, unit=rows[0][0].unit, usual_batch=usual_batch([row for row, _ in rows]),
        )
        for (model, size), rows in kept.items()
    )  # fmt: skip
    at_workload = [at for at, rows in enumerate(kept.values()) for _ in rows]
    pairs = [pair for rows in kept.values() for pair in rows]
    rows = tuple(row for row, _ in pairs)
    basis = [
        basis_of(card, row.precision, row.batch or workloads[at].usual_batch)
        for (row, card), at in zip(pairs, at_workload, strict=True)
    ]
    places = places_of(
        code([row.model for row in rows]),
        code([row.gpu for row in rows]),
        [row.precision for row in rows],
        [row.stack for row in rows],
        code([row.stack for row in rows]),
        np.array([card.features for _, card in pairs]),
    )
    return Singles(
        workloads=workloads,
        rows=rows,
        measured=Measured(
            places=places,
            workload=np.array(at_workload, dtype=np.int64),
            basis=np.array(basis),
            log_speed=np.log([row.speed for row in rows]),
        ),
        table=table,
    )
