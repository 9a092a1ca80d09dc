"""Terms of a known model from some of the published rows, as if the others had never been measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.fit import FEWEST_ROWS, Group, fit_exchange, groups
from planner.performance.transfer.models import KnownModel
from planner.performance.transfer.terms import fit_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """A catalog with its constants, told apart by its content."""

    content_hash: str
    catalog: Catalog = field(compare=False)
    constants: Constants = field(compare=False)


@lru_cache(maxsize=2)
def _groups(facts: _Facts) -> dict[tuple[str, str], Group]:
    return {(group.model, group.input): group for group in groups(facts.catalog, facts.constants)}


def refitted(model: KnownModel, ids: Collection[str], catalog: Catalog, constants: Constants) -> KnownModel | None:
    """The model fitted to the published rows of these ids alone; None where these are too few.

    Half-widths stay as they are: of new cards they are of fits that hadn't seen the card anyway.
    """
    whole = _groups(_Facts(content_hash=catalog.content_hash, catalog=catalog, constants=constants))
    group = whole.get((model.model, model.input))
    if group is None:
        return None
    kept = [at for at, row in enumerate(group.rows) if row.id in ids]
    rest = replace(group, rows=tuple(group.rows[at] for at in kept), cards=tuple(group.cards[at] for at in kept))
    singles = rest.alone()
    if len(singles) < FEWEST_ROWS:
        return None
    return replace(
        model,
        terms=fit_terms(rest.samples(singles)),
        exchanged_m_parameters=fit_exchange(rest, catalog, constants),
        usual_batch=rest.usual_batch,
        cards=frozenset(rest.rows[at].gpu for at in singles),
    )
