"""How far each figure may fall from what is planned: ranges of the scenario's own, and those assumed where none is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner.catalog.records import Catalog, Market
from planner.errors import InputError
from planner.scenario.schema import Scenario
from planner.scenario.uncertainty import RangeInput
from planner.strategy.offers import RentedOffer
from planner.strategy.parameters import Parameter
from planner.validation import near

_ASSUMED: Final = (
    (re.compile(r"jobs\.[^.]+\.runs_per_month"), "range_share_demand"),
    (re.compile(r"jobs\.[^.]+\.attempts_per_run"), "range_share_attempts"),
    (re.compile(r"site\.electricity_usd_per_kwh"), "range_share_electricity"),
    (re.compile(r"(site|offers\..+)\.grid_kg_co2e_per_kwh"), "range_share_grid"),
    (re.compile(r"interruptions_per_gpu_year|.+\.(interrupted_share_per_month|failures_per_year)"),
     "range_share_interruptions"),
)  # fmt: skip
"""Figures that are drawn though no range of them is known, and the assumption how far."""
_MARKETS: Final = (
    (re.compile(r"machines\..+\.(gpu|host)_price_usd"), "hardware"),
    (re.compile(r"machines\..+\.residual_(gpu|host)\.\d+"), "resale"),
)
"""Figures with ranges of their own that move together."""
_PRICE_BY_TERM: Final = {"on_demand": "range_share_price_on_demand", "spot": "range_share_price_spot"}
_DEMAND: Final = "demand"
_SLACK: Final = 1e-9
_AT_MOST_ONE: Final = re.compile(r"discount_rate|tax\.rate|.*(_share|_share_per_month|_share_per_year|utilisation)")


def with_likely(
    parameters: Sequence[Parameter],
    scenario: Scenario,
    catalog: Catalog,
    offers: Sequence[tuple[RentedOffer, Market]],
) -> tuple[Parameter, ...]:
    """The parameters with what is drawn of them.

    Raises
    ------
    InputError
        A range of something that no figure of the plan has for its path, that leaves out what is planned, or that
        goes beyond what the figure can be.
    """
    known = [parameter.id for parameter in parameters]
    for path in scenario.uncertainty:
        if path not in known:
            raise InputError("unknown_path", field=f"uncertainty.{path}", found=path, near=near(path, known))
    prices = {f"offers.{offer.id}.price_usd_per_h": (offer.term, market) for offer, market in offers}
    return tuple(_own(found, scenario.uncertainty) for found in (_assumed(one, prices, catalog) for one in parameters))


def _assumed(parameter: Parameter, prices: Mapping[str, tuple[str, Market]], catalog: Catalog) -> Parameter:
    def share(id: str) -> float:
        return catalog.assume(id).value

    if parameter.id in prices:
        term, market = prices[parameter.id]
        return replace(
            parameter,
            assumed_share=share(_PRICE_BY_TERM.get(term, "range_share_price_committed")),
            market=market,
            correlation=share("range_correlation_prices"),
        )
    for path, together in _MARKETS:
        if path.fullmatch(parameter.id):
            return replace(parameter, market=together, correlation=share("range_correlation_prices"))
    for path, id in _ASSUMED:
        if path.fullmatch(parameter.id):
            demand = id == "range_share_demand"
            return replace(
                parameter,
                assumed_share=share(id),
                market=_DEMAND if demand else "",
                correlation=share("range_correlation_demand") if demand else 0.0,
            )
    return parameter


def _own(parameter: Parameter, ranges: Mapping[str, RangeInput]) -> Parameter:
    asked = ranges.get(parameter.id)
    if asked is None:
        return parameter
    field, value = f"uncertainty.{parameter.id}", parameter.value
    low, high = asked.ends(value)
    slack = _SLACK * abs(value)
    if not low - slack <= value <= high + slack:
        raise InputError("range_without_planned", field=field, value=value, low=low, high=high)
    least, most = parameter.floor, 1.0 if _AT_MOST_ONE.fullmatch(parameter.id) else None
    if asked.share is not None:
        low, high = max(low, least), high if most is None else min(high, most)
    if asked.distribution == "lognormal" and low <= 0:
        raise InputError("range_beyond", field=f"{field}.low", value=low, expected="above 0 for 'lognormal'")
    if low < least:
        raise InputError("range_beyond", field=f"{field}.low", value=low, expected=f"at least {least:g}")
    if most is not None and high > most:
        raise InputError("range_beyond", field=f"{field}.high", value=high, expected=f"at most {most:g}")
    return replace(parameter, low=low, high=high, shape=asked.distribution, assumed_share=0.0)
