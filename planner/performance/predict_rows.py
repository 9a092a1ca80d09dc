"""Predictions of whole tables of measured runs, each from its configuration alone."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog.records import Catalog
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow
from planner.performance.constants import constants_of
from planner.performance.rows.predict import RowError, Run, complete_row, predict_runs
from planner.performance.stacks import load_stacks

_MEMORY_HALF_WIDTH = 0.08  # of peak memory in unseen software; of the rows in the fit 0.03 to 0.05


def predict_language_rows(rows: Sequence[LanguageRow], catalog: Catalog) -> list[RowPrediction]:
    """Speed of each row. [tokens/s]

    Parameters
    ----------
    rows : sequence of LanguageRow
        Without what was measured.
    catalog : Catalog
        GPUs, models and the estimator's constants.

    Returns
    -------
    list of RowPrediction
        In the order of the rows; those that aren't understood say why.
    """
    constants, stacks = constants_of(catalog.assumptions), load_stacks()
    found: list[RowPrediction | None] = [None] * len(rows)
    runs: list[Run] = []
    places: list[int] = []
    for at, row in enumerate(rows):
        try:
            runs.append(complete_row(row, catalog, stacks, constants))
            places.append(at)
        except RowError as error:
            found[at] = RowPrediction(predicted=None, skipped=str(error))
    for at, speed in zip(places, predict_runs(runs, constants), strict=True):
        found[at] = _with_interval(speed, constants)
    return [prediction for prediction in found if prediction is not None]
