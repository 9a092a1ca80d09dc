"""Money of a scenario: how machines are paid for, the fiscal calendar, and a ceiling on cash."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.scenario.base import Model
from planner.scenario.values import Amount, Price, Rate, Switch, check_positive, check_whole
from planner.validation import FieldError

FiscalMonth = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=12)]
Ceiling = Price
TermMonths = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=240)]
FinancedShare = Annotated[float, BeforeValidator(check_positive), Field(le=1)]
LeaseFactor = Annotated[float, BeforeValidator(check_positive), Field(le=1)]


class RunningContract(Model):
    """What is left to pay of a loan or a lease that was agreed before the plan begins, for all its machines."""

    kind: Literal["loan", "lease"] = "loan"
    from_month: TermMonths = 1
    payments: TermMonths
    nominal_usd_per_month: Price


class LeaseTerms(Model):
    """A lease of one machine; amounts are those of the contract, the same in every month."""

    term_months: TermMonths | None = None
    nominal_payment_usd_per_month: Price | None = None
    lease_factor_per_month: LeaseFactor | None = None  # of the price of cards and host
    in_advance: Switch = False
    at_end: Literal["return", "buy"] = "return"
    nominal_buyout_usd: Amount | None = None


def _check_lease(terms: LeaseTerms) -> None:
    if terms.term_months is None:
        raise FieldError("term_months", expected="the months of the lease")
    if terms.nominal_payment_usd_per_month is None and terms.lease_factor_per_month is None:
        raise FieldError("nominal_payment_usd_per_month", expected="this payment, or 'lease_factor_per_month'")
    if terms.nominal_payment_usd_per_month is not None and terms.lease_factor_per_month is not None:
        raise FieldError("lease_factor_per_month", expected="either it or 'nominal_payment_usd_per_month', not both")
    if terms.at_end == "buy" and terms.nominal_buyout_usd is None:
        raise FieldError("nominal_buyout_usd", expected="the price at the end of the lease, as 'at_end' is 'buy'")
    if terms.at_end == "return" and terms.nominal_buyout_usd is not None:
        raise FieldError("nominal_buyout_usd", expected="none, or 'at_end: buy'")


class LeaseOffer(LeaseTerms):
    """A lease to compare with what is planned."""

    @model_validator(mode="after")
    def _complete(self) -> LeaseOffer:
        _check_lease(self)
        return self


class FinanceInput(LeaseTerms):
    """How machines of a type are paid for: in cash, by a loan, or leased."""

    kind: Literal["cash", "loan", "lease"] = "cash"
    financed_share: FinancedShare = 1.0
    nominal_interest_per_year: Rate | None = None
    lease_offer: LeaseOffer | None = None

    @model_validator(mode="after")
    def _consistent(self) -> FinanceInput:
        loan, lease = ("financed_share", "nominal_interest_per_year"), tuple(LeaseTerms.model_fields)
        belong = {"cash": (), "loan": (*loan, "term_months"), "lease": lease}[self.kind]
        for name in sorted(self.model_fields_set & {*loan, *lease} - set(belong)):
            raise FieldError(name, expected=f"none with 'kind: {self.kind}'")
        if self.kind == "lease":
            _check_lease(self)
            if self.lease_offer is not None:
                raise FieldError("lease_offer", expected="none with 'kind: lease': it is compared with buying anyway")
        if self.kind == "loan":
            if self.term_months is None:
                raise FieldError("term_months", expected="the months over which the loan is paid back")
            if self.nominal_interest_per_year is None:
                raise FieldError("nominal_interest_per_year", expected="the interest of the loan")
        return self

    @property
    def lease(self) -> LeaseTerms | None:
        """The lease in force, or the one offered."""
        return self if self.kind == "lease" else self.lease_offer
