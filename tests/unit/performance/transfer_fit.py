"""The fit of transfer to all published rows and its errors on those left out, worked out once for all tests."""

from __future__ import annotations

from functools import lru_cache

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.performance.constants import Constants, constants_of
from planner.performance.transfer.fitted import Fitted, fit_everything
from planner.performance.transfer.held_out import Score, scores


@lru_cache
def catalog() -> Catalog:
    return load_catalog()


def constants() -> Constants:
    return constants_of(catalog().assumptions)


@lru_cache
def fitted() -> Fitted:
    """The fit of all published rows, a few seconds."""
    return fit_everything(catalog(), constants())


@lru_cache
def left_out_scores() -> dict[str, Score]:
    return {score.split: score for score in scores(fitted(), catalog(), constants())}
