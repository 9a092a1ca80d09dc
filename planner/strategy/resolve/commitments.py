"""Commitments of a scenario: their terms, and where the rest of the work goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from planner.errors import InputError
from planner.scenario.schema import CommitmentInput, Scenario
from planner.strategy.problem import Commitment, RentedOffer

TERM_MONTHS: Final = {"reserved_1y": 12, "reserved_3y": 36}


def with_commitments(scenario: Scenario, offers: list[RentedOffer]) -> list[RentedOffer]:
    """Offers, those that the scenario may commit to with terms and overflow.

    Raises
    ------
    InputError
        An offer that isn't sold by the year, a start after the horizon, or no offer for what isn't covered.
    """
    return [
        replace(offer, commitment=_commitment(scenario, offer, scenario.rental.commitments[offer.id], offers))
        if offer.id in scenario.rental.commitments
        else offer
        for offer in offers
    ]


def _commitment(
    scenario: Scenario, offer: RentedOffer, asked: CommitmentInput, offers: list[RentedOffer]
) -> Commitment:
    field = f"rental.commitments.{offer.id}"
    if offer.term not in TERM_MONTHS:
        raise InputError("not_committed", field=field, value=offer.term, known=list(TERM_MONTHS))
    if asked.from_month > scenario.horizon_months:
        months = scenario.horizon_months
        raise InputError("month_after_horizon", field=f"{field}.from_month", value=asked.from_month, months=months)
    term = TERM_MONTHS[offer.term]
    if asked.elapsed_months >= term:
        raise InputError("term_over", field=f"{field}.elapsed_months", value=asked.elapsed_months, months=term)
    first = asked.from_month - 1 - asked.elapsed_months
    starts = range(first, scenario.horizon_months, term) if asked.renew else (first,)
    return Commitment(
        nodes=asked.nodes,
        upfront=asked.payment == "upfront",
        starts=tuple(starts),
        term_months=term,
        overflow=_overflow(field, offer, asked, offers),
    )


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
