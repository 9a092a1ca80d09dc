"""What is known of models from some of the published rows, as if the others had never been measured."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.fit import written
from planner.performance.transfer.fit_links import LinkFit, Pair, pairs_of
from planner.performance.transfer.fit_terms import fit_singles
from planner.performance.transfer.models import Transfer, load_transfer, transfer_of
from planner.performance.transfer.published import PublishedTable
from planner.performance.transfer.singles import Singles, singles
from planner.performance.transfer.software import in_suite
from planner.performance.transfer.widths import ModelWidths


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """A table of speeds, and a catalog, told apart by its content, with its constants."""

    table: PublishedTable
    constants: Constants
    content_hash: str
    catalog: Catalog = field(compare=False)


@lru_cache(maxsize=2)
def _rows(facts: _Facts) -> tuple[Singles, list[Pair]]:
    found = singles(facts.table, facts.catalog, facts.constants)
    return found, pairs_of(found, facts.catalog, facts.constants)


def refitted(table: PublishedTable, ids: Collection[str], catalog: Catalog, constants: Constants) -> Transfer | None:
    """All models fitted to the rows of these ids alone; None where no suite of models is left.

    Half-widths stay as they are: those of new cards are of fits that hadn't seen the card anyway. Models that the
    shipped table lacks get the widest of all.

    Parameters
    ----------
    table : PublishedTable
        The published rows.
    ids : collection of str
        Those of its rows that may be looked at.
    catalog, constants
        Cards, and the estimator's constants.
    """
    if not any(row.id in ids for row in table.rows):
        return None
    facts = _Facts(table=table, constants=constants, content_hash=catalog.content_hash, catalog=catalog)
    found, pairs = _rows(facts)
    kept = np.array([at for at, row in enumerate(found.rows) if row.id in ids], dtype=np.int64)
    rows = tuple(found.rows[at] for at in kept)
    if not any(in_suite(row.stack) for row in rows):
        return None
    rest = replace(found, rows=rows, measured=found.measured.take(kept))
    links = LinkFit(pairs, found, catalog, constants)
    together = links.fit(np.array([at for at, pair in enumerate(pairs) if pair.row.id in ids], dtype=np.int64))
    whole = load_transfer()
    known = {(model.model, model.input): model.widths for models in whole.models.values() for model in models}
    widest = _widest(list(known.values()))
    widths = [known.get((workload.model, workload.input), widest) for workload in found.workloads]
    fitted = fit_singles(rest, catalog)
    return transfer_of(written(rest, fitted, together, widths, whole.stack_factor, whole.exchange_widths, catalog))


def _widest(widths: Sequence[ModelWidths]) -> ModelWidths:
    return ModelWidths(
        known=max(each.known for each in widths),
        new_gpu=max(each.new_gpu for each in widths),
        new_desktop_gpu=max(each.new_desktop_gpu for each in widths),
    )
