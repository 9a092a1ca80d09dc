"""Time value of money."""

from __future__ import annotations

import numpy as np

from planner.units import MONTHS_PER_YEAR, Numeric


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
