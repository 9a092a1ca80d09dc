"""How machines are paid for, as the kernel needs it, and what a finance reader's views are cut by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """Part of every purchase is borrowed and paid back in level nominal instalments; columns of the table."""

    term_months: int
    share_at: int
    interest_at: int
    inflation_at: int

    @property
    def last_payment(self) -> int:
        """Months from a purchase to the last instalment."""
        return self.term_months


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Machines are leased in the place of purchases; columns of the table.

    Either `payment_at`, of one machine and month, or `factor_at`, a month's payment over the price.
    """

    term_months: int
    in_advance: bool
    payment_at: int | None
    factor_at: int | None
    buyout_at: int | None  # None: given back at the end
    inflation_at: int

    @property
    def last_payment(self) -> int:
        """Months from the start of a lease to its last payment."""
        return self.term_months - 1 if self.in_advance else self.term_months


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What is left to pay of a loan or lease that was agreed before the plan begins; it is paid in every way."""

    name: str
    kind: Literal["loan", "lease"]
    from_month: int
    payments: int
    amount_at: int  # column of the nominal payment for all its machines
    inflation_at: int

    @property
    def last_month(self) -> int:
        """Month of the last payment."""
        return self.from_month + self.payments - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyViews:
    """What the money of a plan is compared with and cut by; none of it changes a total."""

    baseline: Literal["local", "cloud", "hybrid"] | None = None
    ceiling_usd_per_quarter: float | None = None
    starts: tuple[int, int] | None = None  # year and month of month 1
    fiscal_year_starts: int | None = None

    @property
    def asked(self) -> bool:
        """Whether the scenario says anything of it."""
        return self != MoneyViews()
