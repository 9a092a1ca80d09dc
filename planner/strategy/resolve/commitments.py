"""Commitments of a scenario: their terms, and where the rest of the work goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from planner.errors import InputError
from planner.scenario.rental import CommitmentInput
from planner.scenario.schema import Scenario
from planner.strategy.offers import Commitment, RentedOffer
from planner.strategy.parameters import ParameterTable
from planner.units import H_PER_DAY, H_PER_MONTH, S_PER_DAY

TERM_MONTHS: Final = {"reserved_1y": 12, "reserved_3y": 36}
BLOCK: Final = "capacity_block"
_ROUNDING_S = 1e-6


def with_commitments(scenario: Scenario, offers: list[RentedOffer], table: ParameterTable) -> list[RentedOffer]:
    """Offers, those that the scenario may commit to with terms and overflow.

    Raises
    ------
    InputError
        An offer that isn't sold by the year or in blocks, keys that don't go with its term, a start after the horizon,
        days that aren't whole billing units, or no offer for what isn't covered.
    """
    return [
        _committed(offer, _commitment(scenario, offer, scenario.rental.commitments[offer.id], offers, table), offers)
        if offer.id in scenario.rental.commitments
        else offer
        for offer in offers
    ]


def _committed(offer: RentedOffer, commitment: Commitment, offers: list[RentedOffer]) -> RentedOffer:
    """The offer with its commitment. Days are the unit of a block: sessions inside are rounded as those beyond it."""
    if offer.term == BLOCK:
        other = offers[commitment.overflow]
        offer = replace(offer, billing_unit_s_at=other.billing_unit_s_at, minimum_s_at=other.minimum_s_at)
    return replace(offer, commitment=commitment)


def _commitment(
    scenario: Scenario, offer: RentedOffer, asked: CommitmentInput, offers: list[RentedOffer], table: ParameterTable
) -> Commitment:
    field = f"rental.commitments.{offer.id}"
    if offer.term not in (*TERM_MONTHS, BLOCK):
        raise InputError("not_committed", field=field, value=offer.term, known=[*TERM_MONTHS, BLOCK])
    _check_keys(field, offer, asked)
    if offer.term == BLOCK:
        starts, term_h = _blocks(field, offer, asked, scenario.horizon_months, table)
    else:
        if asked.from_month > scenario.horizon_months:
            months = scenario.horizon_months
            raise InputError("month_after_horizon", field=f"{field}.from_month", value=asked.from_month, months=months)
        term = TERM_MONTHS[offer.term]
        if asked.elapsed_months >= term:
            raise InputError("term_over", field=f"{field}.elapsed_months", value=asked.elapsed_months, months=term)
        first = asked.from_month - 1 - asked.elapsed_months
        starts = tuple(range(first, scenario.horizon_months, term)) if asked.renew else (first,)
        term_h = term * H_PER_MONTH
    return Commitment(
        nodes=asked.nodes,
        upfront=asked.payment == "upfront" or offer.term == BLOCK,
        starts=starts,
        term_h=term_h,
        overflow=_overflow(field, offer, asked, offers),
        first_paid=asked.first_term_paid,
    )


def _check_keys(field: str, offer: RentedOffer, asked: CommitmentInput) -> None:
    """That the keys given go with the term, and that those of a block are there."""
    given = asked.model_fields_set
    block = offer.term == BLOCK
    for key in ("from_month", "elapsed_months", "first_term_paid", "renew") if block else ("days", "months"):
        if key in given:
            value = getattr(asked, key)
            raise InputError("commitment_key", field=f"{field}.{key}", value=value, offer=offer.id, term=offer.term)
    if block and "payment" in given and asked.payment != "upfront":
        raise InputError("block_upfront", field=f"{field}.payment", value=asked.payment)
    for key in ("days", "months") if block else ():
        if getattr(asked, key) is None:
            raise InputError("block_incomplete", field=f"{field}.{key}", offer=offer.id)


def _blocks(
    field: str, offer: RentedOffer, asked: CommitmentInput, horizon_months: int, table: ParameterTable
) -> tuple[tuple[int, ...], float]:
    """Months before each block, and how long one lasts. [h]"""
    assert asked.days is not None and asked.months is not None
    for month in asked.months:
        if month > horizon_months:
            raise InputError("month_after_horizon", field=f"{field}.months", value=month, months=horizon_months)
        if asked.months.count(month) > 1:
            raise InputError("block_month_twice", field=f"{field}.months", value=month)
    unit_s, minimum_s = table.value(offer.billing_unit_s_at), table.value(offer.minimum_s_at)
    block_s = asked.days * S_PER_DAY
    beyond_s = block_s % unit_s
    if min(beyond_s, unit_s - beyond_s) > _ROUNDING_S or block_s < minimum_s:
        least = max(minimum_s, unit_s) / S_PER_DAY
        params = {"value": asked.days, "offer": offer.id, "unit": unit_s / S_PER_DAY, "least": least}
        raise InputError("block_step", field=f"{field}.days", **params)
    return tuple(month - 1 for month in sorted(asked.months)), asked.days * H_PER_DAY


def _overflow(field: str, offer: RentedOffer, asked: CommitmentInput, offers: list[RentedOffer]) -> int:
    """The offer that is named, else the on-demand one of the same instance."""
    if asked.overflow is None:
        fitting = [other for other in offers if other.term == "on_demand" and other.instance == offer.instance]
        if not fitting:
            raise InputError("no_overflow", field=f"{field}.overflow", offer=offer.id)
        return offers.index(min(fitting, key=lambda other: other.id))
    found = next((index for index, other in enumerate(offers) if other.id == asked.overflow), None)
    if found is None:
        raise InputError("overflow_not_in_plan", field=f"{field}.overflow", value=asked.overflow)
    other = offers[found]
    if other.term != "on_demand" or (other.gpu, other.gpu_count) != (offer.gpu, offer.gpu_count):
        raise InputError("overflow_differs", field=f"{field}.overflow", value=asked.overflow, offer=offer.id)
    return found
