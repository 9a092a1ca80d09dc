"""How often own machines fail, and the share of their hours that is left."""

from __future__ import annotations

from planner.units import H_PER_MONTH, H_PER_YEAR, Numeric


def uptime_share(failures_per_year: Numeric, repair_h: Numeric, powered_h_per_month: Numeric) -> Numeric:
    """Share of a machine's powered hours in which it isn't away for repair.

    Parameters
    ----------
    failures_per_year : numeric
        In 8,760 hours that the machine is switched on and works. [1/year]
    repair_h : numeric
        From a failure until the machine is back, on the clock on the wall. [h]
    powered_h_per_month : numeric
        Hours that it would be switched on; a repair takes the same share of them as of all hours. [h/month]

    References
    ----------
    .. [1] R. E. Barlow and F. Proschan, "Mathematical Theory of Reliability," 1965: MTBF / (MTBF + MTTR).

    Examples
    --------
    Once a year for a week:

    >>> round(uptime_share(1.0, 168.0, 730.0), 4)
    0.9812
    """
    return 1.0 / (1.0 + failures_per_year / H_PER_YEAR * repair_powered_h(repair_h, powered_h_per_month))


def repair_powered_h(repair_h: Numeric, powered_h_per_month: Numeric) -> Numeric:
    """Powered hours that a machine misses for a repair. [h]"""
    return repair_h * powered_h_per_month / H_PER_MONTH
