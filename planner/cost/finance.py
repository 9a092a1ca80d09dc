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
