"""From wall power to the meter and to emissions."""

from __future__ import annotations

from planner.units import W_PER_KW, Numeric


def metered_kwh(wall_w: Numeric, hours: Numeric, pue: Numeric) -> Numeric:
    """Energy at the meter of the site: the wall energy of the machines times PUE.

    Parameters
    ----------
    wall_w : numeric
        Power of the machine at the wall. [W]
    hours : numeric
        Time at that power. [h]
    pue : numeric
        Facility energy over IT energy, at least 1. [-]

    Returns
    -------
    numeric
        Energy. [kWh]

    Examples
    --------
    >>> metered_kwh(7112.0, 500.0, 1.5)
    5334.0
    """
    return wall_w * hours * pue / W_PER_KW
