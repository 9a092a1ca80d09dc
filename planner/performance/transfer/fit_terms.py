"""Fits terms to rows of single cards, and says how far off they are on cards and software left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.fit_steps import priors
from planner.performance.transfer.likeness import Array, Codes
from planner.performance.transfer.posterior import Measured, Posterior, Prior, fit
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.spread import Spreads

_SHARES = (
    "transfer_matmul_share", "transfer_traffic_share", "transfer_vector_share", "transfer_step_share",
    "transfer_fixed_share",
)  # fmt: skip
_STEP = 3  # the term that a batch shares
_ROUNDS_LEFT_OUT = 5  # from the terms of all rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Rows that were left out, NaN for those that nothing is known of then."""

    errors: Array  # logs of predicted over measured
    spreads: Array  # standard deviations of these, as expected by what is left; NaN where they weren't asked for


def term_deviations(catalog: Catalog) -> Array:
    """Standard deviations of the logs of the terms before any row of theirs is seen, in the order of `terms.TERMS`."""
    return priors(_SHARES, catalog)[1]


def prior_of(rows: Measured, workloads: int, catalog: Catalog) -> Prior:
    """Expected shares of the median time of each workload, at the card for which terms are scaled."""
    shares, deviations = priors(_SHARES, catalog)
    centres = np.full((workloads, len(_SHARES)), np.nan)
    for at in np.unique(rows.workload):
        own = rows.workload == at
        centres[at] = shares - np.median(rows.log_speed[own])
        centres[at, _STEP] -= np.log(np.median(rows.basis[own, _STEP]))
    return Prior(centres=centres, deviations=deviations)


def fit_singles(found: Singles, catalog: Catalog) -> Posterior:
    """Terms of all workloads."""
    return fit(found.measured, prior_of(found.measured, len(found.workloads), catalog))


def left_out(
    found: Singles, whole: Posterior, groups: Mapping[str, Codes], catalog: Catalog, *, with_spreads: bool = False
) -> LeftOut:
    """Log errors (predicted over measured) of rows, each predicted without any row of its group.

    Parameters
    ----------
    found : Singles
        All rows.
    whole : Posterior
        Fit to all of them, from whose terms the others start.
    groups : mapping of str to array of int
        Rows of each group.
    catalog : Catalog
        For the priors.
    with_spreads : bool
        Whether expected deviations are worked out too.
    """
    count = len(found.rows)
    errors, spreads = np.full(count, np.nan), np.full(count, np.nan)
    for rows in groups.values():
        kept = np.setdiff1d(np.arange(count), rows)
        asked = rows[np.isin(found.measured.workload[rows], found.measured.workload[kept])]
        if not len(asked) or not len(kept):
            continue
        known = found.measured.take(kept)
        prior = prior_of(known, len(found.workloads), catalog)
        start = np.where(np.isnan(prior.centres), prior.centres, whole.terms)
        hidden = found.measured.take(asked)
        fitted = fit(known, prior, start, _ROUNDS_LEFT_OUT)
        errors[asked] = fitted.log_speed(hidden) - hidden.log_speed
        if with_spreads:
            spreads[asked] = Spreads(known, fitted.terms, prior.deviations).of(hidden)
    return LeftOut(errors=errors, spreads=spreads)


def groups_by(names: list[str]) -> dict[str, Codes]:
    """Rows by name."""
    return {name: np.flatnonzero(np.array(names) == name) for name in sorted(set(names))}
