"""Names of models: those of the catalog in the words of the tables that transfer rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.catalog.records import Catalog, Workload
from planner.measurements.rows import SampleRow
from planner.performance.measured import names_of
from planner.performance.transfer.models import KnownModel, load_transfer


def in_words_of_tables(rows: Sequence[SampleRow], catalog: Catalog) -> list[SampleRow]:
    """Rows with their models as the shipped tables call them, or with their arithmetic where these don't have them.

    So a model of the catalog may be called by any of its names.
    """
    by_name = {name: workload for workload in catalog.workloads.values() for name in names_of(workload)}
    known = load_transfer().models
    return [_in_words_of_tables(row, known, by_name) for row in rows]


def _in_words_of_tables(
    row: SampleRow, known: Mapping[str, tuple[KnownModel, ...]], by_name: Mapping[str, Workload]
) -> SampleRow:
    """A row with its model as the shipped tables call it, or with its arithmetic where they don't have it."""
    name = (row.model or "").casefold()
    workload = None if name in known else by_name.get(name)
    if workload is None:
        return row
    measured = next((model for model in workload.evidence_models if model.casefold() in known), None)
    if measured is not None:
        return replace(row, model=measured)
    if workload.vision is None or row.fwd_gmacs_per_sample is not None:
        return row
    spec = workload.vision
    return replace(
        row,
        fwd_gmacs_per_sample=spec.gmacs,
        activations_m_per_sample=spec.activations_m,
        input=row.input or spec.input,
        n_params=row.n_params or workload.parameters.value,
    )
