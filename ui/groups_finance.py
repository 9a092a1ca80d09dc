"""How machines are paid for, as inputs of the Plan page: in cash, by a loan, or leased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui.i18n import t
from ui.inputs import Choice, Field, Input, Switch

KINDS: dict[str, tuple[str, ...]] = {
    "cash": (),
    "loan": ("term_months", "nominal_interest_per_year", "financed_share"),
    "lease": (
        "term_months",
        "nominal_payment_usd_per_month",
        "lease_factor_per_month",
        "in_advance",
        "at_end",
        "nominal_buyout_usd",
    ),
}
"""Ways to pay, with the keys that go with each."""
ENDS = ("return", "buy")


def finance(id: str, machine: Mapping[str, Any]) -> list[Input | None]:
    """The way to pay and what it needs; what belongs to another way only where it stands there by mistake."""
    here = f"machines.{id}.finance"
    given = machine.get("finance")
    given = given if isinstance(given, Mapping) else {}
    kind = str(given.get("kind", "cash"))
    asked = _cells(id, here)
    shown = [name for name in asked if name in KINDS.get(kind, ()) or name in given]
    if given.get("at_end") != "buy" and "nominal_buyout_usd" not in given:
        shown = [name for name in shown if name != "nominal_buyout_usd"]
    choice = Choice(
        path=f"{here}.kind",
        label=t("hardware.finance", machine=id),
        options=tuple(KINDS),
        words=lambda kind: t(f"finance_kind.{kind}") if kind in KINDS else str(kind),
        default="cash",
        help=t("hardware.finance_help"),
        also=(here,),
        clears=lambda kind: [f"{here}.{name}" for name in asked if name not in KINDS.get(str(kind), ())],
    )
    cells = [choice, *(asked[name] for name in shown)]
    return [*cells, None] if len(cells) % 2 else list(cells)


def _cells(id: str, here: str) -> dict[str, Input]:
    """Every input by its key."""
    return {
        "term_months": Field(
            path=f"{here}.term_months",
            label=t("hardware.term", machine=id),
            help=t("hardware.term_help"),
            expected_missing=t("hardware.term_expected"),
        ),
        "nominal_interest_per_year": Field(
            path=f"{here}.nominal_interest_per_year",
            label=t("hardware.interest", machine=id),
            kind="percent",
            help=t("hardware.interest_help"),
            expected_missing=t("hardware.interest_expected"),
        ),
        "financed_share": Field(
            path=f"{here}.financed_share",
            label=t("hardware.financed", machine=id),
            kind="percent",
            help=t("hardware.financed_help"),
            default=t("field.default", value=100),
        ),
        "nominal_payment_usd_per_month": Field(
            path=f"{here}.nominal_payment_usd_per_month",
            label=t("hardware.payment", machine=id),
            kind="money",
            help=t("hardware.payment_help"),
            expected_missing=t("hardware.payment_expected"),
        ),
        "lease_factor_per_month": Field(
            path=f"{here}.lease_factor_per_month",
            label=t("hardware.factor", machine=id),
            kind="percent",
            help=t("hardware.factor_help"),
        ),
        "in_advance": Switch(
            path=f"{here}.in_advance",
            label=t("hardware.in_advance", machine=id),
            default=False,
            help=t("hardware.in_advance_help"),
        ),
        "at_end": Choice(
            path=f"{here}.at_end",
            label=t("hardware.at_end", machine=id),
            options=ENDS,
            words=lambda choice: t(f"lease_end.{choice}") if choice in ENDS else str(choice),
            default=ENDS[0],
            help=t("hardware.at_end_help"),
        ),
        "nominal_buyout_usd": Field(
            path=f"{here}.nominal_buyout_usd",
            label=t("hardware.buyout", machine=id),
            kind="money",
            help=t("hardware.buyout_help"),
        ),
    }
