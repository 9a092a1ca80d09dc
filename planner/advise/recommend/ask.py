"""The question: a budget, a use, a size of model and data; read from text as a user writes it."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

from planner.advise.recommend.uses import USES, Use
from planner.catalog.query import find_site
from planner.catalog.records import Catalog, Figure
from planner.errors import InputError, UnknownIdError
from planner.scenario.money import Money, parse_money
from planner.strategy.resolve.figures import Figures

MOST_MONTHS = 84
LEAST_USD, MOST_USD = 0.01, 1e12
_ALIKE = 0.7  # below it, two ids have little more than letters in common
_LEAST_AMOUNT = 1e-6  # of any currency; less is worth nothing whatever the rate
_FEWEST_PARAMETERS = 1e4
_MOST_SAMPLES = 1e12
_NO_UNIT = 1e13  # counts from here on are written without k, M or B
_SIZE = re.compile(r"(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*([kKMBG]?)")
_FACTORS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9}
_AMOUNT = re.compile(r"(?a)\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*[A-Za-z]{3}\s*")
_BUDGET_EXPECTED = 'an amount and a currency without thousands separators, such as "8000 CNY"'
_RANGE = f"an amount worth {LEAST_USD:g} to 1e{math.log10(MOST_USD):.0f} USD"
_MONTHS_EXPECTED = f"a whole number from 1 to {MOST_MONTHS}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a user asks. None leaves model, data, time and place to what is usual for the use and budget.

    `parameters` counts weights of the model, `samples` items of the data set (sequences for language models).
    """

    budget: Money
    use: Use
    parameters: float | None = None
    samples: float | None = None
    months: int | None = None
    site: str | None = None


def parse_budget(text: str, *, field: str = "--budget") -> Money:
    """Money of a text such as "8000 CNY" or "8000 cny".

    Raises
    ------
    InputError
        When it isn't an amount above zero with a currency.
    """
    try:
        money = parse_money(str(text).upper())
    except ValueError:
        expected = _RANGE if _AMOUNT.fullmatch(str(text)) else _BUDGET_EXPECTED
        raise InputError("recommend_budget", field=field, value=str(text), expected=expected) from None
    if money.amount <= 0:
        raise InputError("recommend_budget", field=field, value=str(text), expected="an amount greater than 0")
    if money.amount < _LEAST_AMOUNT:
        raise InputError("recommend_budget", field=field, value=str(text), expected=_RANGE)
    return money


def parse_months(text: str, *, field: str) -> int:
    """How long the work goes on. [months]

    Raises
    ------
    InputError
        When it isn't a whole number that may be asked.
    """
    found = str(text).strip()
    if not (found.isascii() and found.isdecimal() and 1 <= int(found[:6]) <= MOST_MONTHS):  # more digits are too many
        raise InputError("recommend_size", field=field, value=str(text), expected=_MONTHS_EXPECTED)
    return int(found)


def parse_size(text: str, *, field: str) -> float:
    """A count such as 100k, 100M or 1.3B.

    Raises
    ------
    InputError
        When it isn't a number with an optional k, M or B.
    """
    match = _SIZE.fullmatch(str(text).strip())
    if match is None:
        raise InputError("recommend_size", field=field, value=str(text), expected="a number such as 100k, 100M or 1.3B")
    return float(match[1]) * _FACTORS[match[2]]


def check_ask(ask: Ask, catalog: Catalog) -> Figure:
    """Refuse what can't be; returns the value of a unit of the budget's currency in USD.

    Raises
    ------
    InputError, UnknownIdError
        Naming the option, what was found and what is expected.
    """
    if ask.budget.currency != "USD" and ask.budget.currency not in catalog.fx:
        known = ", ".join(sorted({"USD", *catalog.fx}))
        raise InputError(
            "recommend_budget",
            field="--budget",
            value=ask.budget.currency,
            expected=f"a known currency, one of {known}",
        )
    rate = Figures(catalog).rate(ask.budget.currency, field="--budget")
    if not LEAST_USD * (1 - 1e-9) <= ask.budget.amount * rate.value <= MOST_USD:
        value = f"{ask.budget.amount:g} {ask.budget.currency}"
        raise InputError("recommend_budget", field="--budget", value=value, expected=_RANGE)
    if ask.use not in USES:
        raise InputError("unknown_choice", field="--use", value=ask.use, expected=f"one of {', '.join(USES)}")
    largest = max(workload.parameters.value for workload in catalog.workloads.values())
    expected = f"from {_short(_FEWEST_PARAMETERS)} to {_short(largest)}, the largest model of the catalog"
    _check_range(ask.parameters, "--parameters", _FEWEST_PARAMETERS, largest, expected)
    _check_range(ask.samples, "--samples", 1.0, _MOST_SAMPLES, f"from 1 to {_short(_MOST_SAMPLES)}")
    if ask.months is not None and not 1 <= ask.months <= MOST_MONTHS:
        raise InputError("recommend_size", field="--months", value=str(ask.months), expected=_MONTHS_EXPECTED)
    if ask.site is not None:
        _check_site(ask.site, catalog)
    return rate


def _check_site(site: str, catalog: Catalog) -> None:
    """Refuse an unknown place, naming those that it begins, or whose name it is; else where all of them stand."""
    try:
        find_site(catalog, site, field="--site")
    except UnknownIdError as error:
        words = {known.id: f"{known.id} {known.name}".casefold() for known in catalog.sites.values()}
        alike = [id for id, text in words.items() if site.casefold() in text] if len(site) > 1 else []
        alike += difflib.get_close_matches(site.casefold(), catalog.sites, n=3, cutoff=_ALIKE)
        near = list(dict.fromkeys(alike))[:3]
        listed = "" if near else "python -m planner catalog list sites"
        raise UnknownIdError("site", site, near, field=error.field, listed=listed) from None


def _check_range(value: float | None, field: str, low: float, high: float, expected: str) -> None:
    if value is not None and not low <= value <= high:
        raise InputError("recommend_size", field=field, value=_short(value), expected=expected)


def _short(value: float) -> str:
    if value >= _NO_UNIT:
        return f"{value:.4g}"
    for factor, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g}{unit}"
    return f"{value:.4g}"
