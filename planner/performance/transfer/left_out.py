"""What is known of models from some of the published rows, as if the others had never been measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.fit import written
from planner.performance.transfer.fit_links import LinkFit, Pair, pairs_of
from planner.performance.transfer.fit_terms import fit_singles
from planner.performance.transfer.models import Transfer, load_transfer, transfer_of
from planner.performance.transfer.singles import Singles, singles
from planner.performance.transfer.software import in_suite


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """A catalog with its constants, told apart by its content."""

    content_hash: str
    catalog: Catalog = field(compare=False)
    constants: Constants = field(compare=False)


@lru_cache(maxsize=2)
def _rows(facts: _Facts) -> tuple[Singles, list[Pair]]:
    found = singles(facts.catalog, facts.constants)
    return found, pairs_of(found.workloads, facts.catalog, facts.constants)


def refitted(ids: Collection[str], catalog: Catalog, constants: Constants) -> Transfer | None:
    """All models fitted to the published rows of these ids alone; None where no suite of models is left.

    Half-widths stay as they are: those of new cards are of fits that hadn't seen the card anyway.
    """
    found, pairs = _rows(_Facts(content_hash=catalog.content_hash, catalog=catalog, constants=constants))
    kept = np.array([at for at, row in enumerate(found.rows) if row.id in ids], dtype=np.int64)
    rows = tuple(found.rows[at] for at in kept)
    if not any(in_suite(row.stack) for row in rows):
        return None
    rest = replace(found, rows=rows, measured=found.measured.take(kept))
    links = LinkFit(pairs, found.workloads, catalog, constants)
    together = links.fit(np.array([at for at, pair in enumerate(pairs) if pair.row.id in ids], dtype=np.int64))
    whole = load_transfer()
    known = {(model.model, model.input): model.widths for models in whole.models.values() for model in models}
    widths = [known[workload.model, workload.input] for workload in found.workloads]
    return transfer_of(written(rest, fit_singles(rest, catalog), together, widths, whole.exchange_widths, catalog))
