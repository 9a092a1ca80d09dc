"""Time value of money, and prices that change over time."""

from __future__ import annotations

import numpy as np

from planner.units import MONTHS_PER_YEAR, Numeric


def price_factor(change_per_year: Numeric, month: Numeric) -> Numeric:
    """Price after some months over today's, where prices change by the same share every year.

    Parameters
    ----------
    change_per_year : numeric
        Real change a year, above -1. [1/year]
    month : numeric
        Months since the start of the plan. [-]

    Returns
    -------
    numeric
        Factor above 0. [-]

    Examples
    --------
    >>> round(float(price_factor(-0.28, 18)), 6)
    0.61094
    """
    return (1.0 + change_per_year) ** (np.asarray(month, dtype=float) / MONTHS_PER_YEAR)


def discount_factor(discount_rate: Numeric, month: Numeric) -> Numeric:
    """Present value of one unit of money at the end of a month; month 0 is the start of the plan.

    Parameters
    ----------
    discount_rate : numeric
        Real rate a year, at least 0. [1/year]
    month : numeric
        Months since the start of the plan. [-]

    Returns
    -------
    numeric
        Factor in (0, 1]. [-]

    Examples
    --------
    >>> round(float(discount_factor(0.05, 36)), 6)
    0.863838
    """
    return (1.0 + discount_rate) ** (-np.asarray(month, dtype=float) / MONTHS_PER_YEAR)


def instalment(interest_per_year: Numeric, term_months: int) -> Numeric:
    """Level payment at the end of each month that pays back one unit of money borrowed.

    Parameters
    ----------
    interest_per_year : numeric
        Effective rate a year, at least 0. [1/year]
    term_months : int
        Payments, at least 1.

    Returns
    -------
    numeric
        Payment a month over the amount borrowed. [-]

    Examples
    --------
    >>> round(float(instalment(0.05, 36)), 8)
    0.02992106
    """
    monthly = (1.0 + np.asarray(interest_per_year, dtype=float)) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        payment = monthly / -np.expm1(-term_months * np.log1p(monthly))
    return np.where(monthly > 0.0, payment, 1.0 / term_months)


def real_share(inflation_per_year: Numeric, months: Numeric) -> Numeric:
    """What is left, in constant prices, of an amount fixed so many months before it is paid. [-]

    Examples
    --------
    >>> round(float(real_share(0.02, 36)), 6)
    0.942322
    """
    return (1.0 + np.asarray(inflation_per_year, dtype=float)) ** (-np.asarray(months, dtype=float) / MONTHS_PER_YEAR)
