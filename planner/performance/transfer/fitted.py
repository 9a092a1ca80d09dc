"""All that is fitted of published speeds, with its errors: done once, then written down or scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.calibrated import SingleErrors, host_errors, single_errors
from planner.performance.transfer.fit_links import FittedLinks, LinkFit, Pair, pairs_of
from planner.performance.transfer.fit_terms import fit_singles
from planner.performance.transfer.likeness import Array
from planner.performance.transfer.posterior import Posterior
from planner.performance.transfer.published import shipped_table
from planner.performance.transfer.singles import Singles, singles


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Single cards and several: rows, what fits all of them, and errors of groups left out."""

    found: Singles
    whole: Posterior
    errors: SingleErrors
    pairs: tuple[Pair, ...]
    links: FittedLinks
    host_errors: Array  # of each pair, its host left out
    exchange_shares: Array  # of its step


def fit_everything(catalog: Catalog, constants: Constants) -> Fitted:
    """Fit all published rows, and leave each card, source and host out in turn."""
    found = singles(shipped_table(), catalog, constants)
    whole = fit_singles(found, catalog)
    pairs = pairs_of(found, catalog, constants)
    search = LinkFit(pairs, found, catalog, constants)
    links = search.fit(np.arange(len(pairs)))
    of_hosts, shares = host_errors(pairs, search, constants)
    return Fitted(
        found=found,
        whole=whole,
        errors=single_errors(found, whole, catalog),
        pairs=tuple(pairs),
        links=links,
        host_errors=of_hosts,
        exchange_shares=shares,
    )
