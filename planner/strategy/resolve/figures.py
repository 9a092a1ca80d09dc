"""Figures while a problem is resolved: given, by default, converted, or computed from others with their range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from planner.catalog.records import Catalog, Figure
from planner.cost.capex import interpolate_ratio
from planner.errors import InputError
from planner.scenario.money import Money
from planner.scenario.schema import CurrencyInput
from planner.strategy.parameters import by_default, given


class Figures:
    """Looks figures up in the scenario and the catalog, in the user's currencies."""

    def __init__(self, catalog: Catalog, currencies: Mapping[str, CurrencyInput] | None = None) -> None:
        self.catalog = catalog
        self._rates: dict[str, Figure] = {code: rate.usd_per_unit for code, rate in catalog.fx.items()}
        self._rates.setdefault("USD", Figure(value=1.0, sources=("scenario",)))
        for code, entry in (currencies or {}).items():
            if code == "USD":
                raise InputError("usd_rate_fixed", field="currencies.USD", value=entry.usd_per_unit)
            self._rates[code] = given(entry.usd_per_unit)

    def rate(self, currency: str, *, field: str) -> Figure:
        """USD per unit of a currency.

        Raises
        ------
        InputError
            When the currency has no rate.
        """
        if currency not in self._rates:
            raise InputError("unknown_currency", field=field, value=currency, known=sorted(self._rates))
        return self._rates[currency]

    def usd(self, money: Money, *, field: str) -> Figure:
        """Money of the scenario in USD; in another currency it rests on the exchange rate."""
        if money.currency == "USD":
            return given(money.amount)
        rate = self.rate(money.currency, field=field)
        sources = ("scenario", *(source for source in rate.sources if source != "scenario"))
        return Figure(
            value=money.amount * rate.value,
            low=None if rate.low is None else money.amount * rate.low,
            high=None if rate.high is None else money.amount * rate.high,
            sources=sources,
            as_of=rate.as_of,
            estimate=rate.estimate,
        )

    def assumed(self, id: str) -> Figure:
        """An assumption, cited as such."""
        return by_default(id, self.catalog.assume(id))

    def given_or(self, value: float | None, default: Callable[[], Figure]) -> Figure:
        """The user's number, else a default."""
        return default() if value is None else given(value)

    def usd_or(self, money: Money | None, default: Callable[[], Figure], *, field: str) -> Figure:
        """The user's money in USD, else a default."""
        return default() if money is None else self.usd(money, field=field)


def combined(formula: Callable[..., float], *figures: Figure) -> Figure:
    """A figure computed from others; each goes to its ends in turn, deviations added in quadrature."""
    values = [figure.value for figure in figures]
    centre = float(formula(*values))
    below = above = 0.0
    ranged = False
    for position, figure in enumerate(figures):
        ends = []
        for end in (figure.low, figure.high):
            if end is not None:
                ranged = True
                ends.append(float(formula(*values[:position], end, *values[position + 1 :])) - centre)
        below += min([0.0, *ends]) ** 2
        above += max([0.0, *ends]) ** 2
    return Figure(
        value=centre,
        low=centre - below**0.5 if ranged else None,
        high=centre + above**0.5 if ranged else None,
        sources=tuple(dict.fromkeys(source for figure in figures for source in figure.sources)),
        as_of=oldest([figure.as_of for figure in figures]),
        estimate=any(figure.estimate for figure in figures),
    )


def oldest(dates: Sequence[str | None]) -> str | None:
    """The oldest known date: a computed figure is as old as its oldest part."""
    known = [date for date in dates if date is not None]
    return min(known) if known else None


def interpolated(ratios: Mapping[int, Figure], age_months: int) -> Figure:
    """Residual figure at an age: value and range linear between the ages of the curve.

    Raises
    ------
    InputError
        Beyond the last age given.
    """
    ages = sorted(ratios)
    value = interpolate_ratio({age: ratios[age].value for age in ages}, age_months)
    nearest = min(ages, key=lambda age: abs(age - age_months))
    ends: list[float | None] = []
    for end in ("low", "high"):
        if age_months == 0 or all(getattr(ratios[age], end) is None for age in ages):
            ends.append(None)
            continue
        known = {age: getattr(ratios[age], end) for age in ages if getattr(ratios[age], end) is not None}
        ends.append(interpolate_ratio(known, min(age_months, max(known))))
    return Figure(
        value=value,
        low=ends[0],
        high=ends[1],
        sources=ratios[nearest].sources,
        as_of=ratios[nearest].as_of,
        estimate=any(ratio.estimate for ratio in ratios.values()),
    )
