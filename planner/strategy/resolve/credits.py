"""Credits of a scenario with their providers and months, those that lapse first at the front."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import InputError, UnknownIdError
from planner.scenario.credits import CreditInput
from planner.scenario.schema import Scenario
from planner.strategy.offers import Credit, RentedProvider
from planner.strategy.parameters import ParameterTable
from planner.strategy.resolve.figures import Figures
from planner.validation import near


def resolve_credits(
    scenario: Scenario, figures: Figures, table: ParameterTable, providers: Sequence[RentedProvider]
) -> tuple[Credit, ...]:
    """Credits in the order in which they are used up.

    Raises
    ------
    InputError
        One that begins after the horizon.
    UnknownIdError
        A provider that neither the catalog nor a quote of the scenario has.
    """
    quoted = {entry.provider or id for id, entry in scenario.offers.items() if id not in figures.catalog.offers}
    known = sorted({*figures.catalog.providers, *quoted})
    places = {provider.id: index for index, provider in enumerate(providers)}
    found = []
    for id, entry in scenario.rental.credits.items():
        field = f"rental.credits.{id}"
        if entry.from_month > scenario.horizon_months:
            months = scenario.horizon_months
            raise InputError("month_after_horizon", field=f"{field}.from_month", value=entry.from_month, months=months)
        for name in entry.providers or ():
            if name not in known:
                close = near(name, known)
                raise UnknownIdError("provider", name, close, field=f"{field}.providers")
        found.append(
            Credit(
                id=id,
                amount_at=table.add(f"{field}.amount_usd", figures.usd(entry.amount_usd, field=field), "USD"),
                providers=_where(entry, places),
                from_month=entry.from_month,
                last_month=entry.expires_month or scenario.horizon_months,
                rental_only=entry.covers == "rental",
            )
        )
    return tuple(sorted(found, key=lambda credit: credit.last_month))


def _where(entry: CreditInput, places: dict[str, int]) -> frozenset[int] | None:
    """Indices of the providers of a credit that the plan can rent from; None for all."""
    if entry.providers is None:
        return None
    return frozenset(places[name] for name in entry.providers if name in places)
