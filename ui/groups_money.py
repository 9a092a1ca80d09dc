"""Money of the Plan page: horizon, rates, tax, people; by subject limits, calendar, changing prices, credits."""

from __future__ import annotations

from planner.catalog.records import Catalog
from planner.scenario.paths import get_value
from ui import formatting
from ui.group_parts import Document, Group, Subject, assumed, with_empty, word
from ui.i18n import t
from ui.inputs import Choice, Field, Input, Switch
from ui.limit_words import FIELDS as LIMITS

MOST_CREDITS = 3
"""Rows of credits that are there to be filled in."""
_WAYS = ("local", "cloud", "hybrid")
_MONTHS = tuple(range(1, 13))


def money(document: Document, catalog: Catalog) -> Group:
    """How long, and how money is counted."""
    rate = get_value(document, "discount_rate")
    if rate is None and "discount_rate" in catalog.assumptions:
        rate = catalog.assume("discount_rate").value
    main: list[Input] = [
        Field(path="horizon_months", label=t("money.horizon"), help=t("money.horizon_help")),
        Field(
            path="discount_rate",
            label=t("money.discount"),
            kind="percent",
            help=t("money.discount_help"),
            default=assumed(catalog, "discount_rate", percent=True),
        ),
        Field(
            path="tax.rate",
            label=t("money.tax"),
            kind="percent",
            help=t("money.tax_help"),
            default=assumed(catalog, "tax_rate", percent=True),
        ),
        Choice(
            path="currency",
            label=t("money.currency"),
            options=sorted({"USD", *catalog.fx, *document.get("currencies", {})}),
            words=str,
            default="USD",
            help=t("money.currency_help"),
        ),
        Field(
            path="staff.cost_usd_per_fte_year",
            label=t("money.wage"),
            kind="money",
            help=t("money.wage_help"),
            default=assumed(catalog, "staff_usd_per_fte_year"),
        ),
        Switch(path="tax.recoverable", label=t("money.recoverable"), default=False, help=t("money.recoverable_help")),
    ]
    advanced: list[Input] = [
        Field(
            path="staff.fte_per_machine",
            label=t("money.fte_machine"),
            help=t("money.fte_help"),
            default=t("field.by_default"),
        ),
        Field(
            path="staff.fte_cloud",
            label=t("money.fte_cloud"),
            help=t("money.fte_help"),
            default=assumed(catalog, "fte_cloud"),
        ),
        Switch(path="owned_value_counts", label=t("money.owned"), default=True, help=t("money.owned_help")),
        Choice(
            path="baseline",
            label=t("money.baseline"),
            options=[None, *_WAYS],
            words=lambda id: t(f"way.{id}") if id in _WAYS else str(id or t("money.usual_baseline")),
            help=t("money.baseline_help"),
        ),
    ]
    months = get_value(document, "horizon_months")
    shown = formatting.rate(rate) if isinstance(rate, int | float) else word(rate)
    limits = sum(get_value(document, path) is not None for path in LIMITS)
    summary = {0: "money.summary", 1: "money.summary_limit"}.get(limits, "money.summary_limits")
    return Group(
        id="money",
        icon=":material/payments:",
        summary=t(summary, months=word(months), rate=shown, limits=limits),
        main=main,
        advanced=advanced,
        more=[
            Subject(id="limits", make=_limits),
            Subject(id="calendar", make=_calendar),
            Subject(id="prices", make=lambda: _prices(catalog)),
            Subject(id="credits", make=lambda: _credits(document)),
        ],
    )


def _limits() -> list[Input]:
    """One field for each limit."""
    return [
        Field(
            path=path,
            label=t(f"limits.{name}"),
            kind="number" if name in ("energy", "co2") else "money",
            help=t(f"limits.{name}_help"),
            default=t("limits.none"),
        )
        for path, name in LIMITS.items()
    ]


def _calendar() -> list[Input]:
    return [
        Field(
            path="plan_starts",
            label=t("money.plan_starts"),
            kind="text",
            help=t("money.plan_starts_help"),
            default=t("money.no_calendar"),
        ),
        Choice(
            path="fiscal_year_starts",
            label=t("money.fiscal"),
            options=[None, *_MONTHS],
            words=lambda month: t(f"month.{month}") if month in _MONTHS else str(month or t("money.usual_fiscal")),
            help=t("money.fiscal_help"),
            expected=t("money.fiscal_expected"),
        ),
    ]


def _prices(catalog: Catalog) -> list[Input]:
    return [
        Field(
            path="inflation_per_year",
            label=t("money.inflation"),
            kind="percent",
            help=t("money.inflation_help"),
            default=assumed(catalog, "inflation_per_year", percent=True),
        ),
        Field(
            path="hardware_price_change_per_year",
            label=t("money.hardware_change"),
            kind="percent",
            help=t("money.hardware_change_help"),
            default=assumed(catalog, "hardware_price_change_per_year", percent=True),
            expected=t("money.change_expected"),
        ),
        Field(
            path="rental.price_change_per_year",
            label=t("money.rental_change"),
            kind="percent",
            help=t("money.rental_change_help"),
            default=assumed(catalog, "rental_price_change_per_year", percent=True),
            expected=t("money.change_expected"),
        ),
    ]


def _credits(document: Document) -> list[Input]:
    given = get_value(document, "rental.credits")
    cells: list[Input] = []
    for id in with_empty(given, "credit", MOST_CREDITS):
        here = f"rental.credits.{id}"
        cells += [
            Field(
                path=f"{here}.amount_usd",
                label=t("money.credit", credit=id),
                kind="money",
                help=t("money.credit_help"),
                default=t("money.no_credit"),
                expected_missing=t("money.credit_expected"),
            ),
            Field(
                path=f"{here}.expires_month",
                label=t("money.credit_expires", credit=id),
                help=t("money.credit_expires_help"),
                default=t("money.never_expires"),
            ),
        ]
    return cells
