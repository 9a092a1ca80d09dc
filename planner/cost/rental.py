"""What rented machines are billed for: sessions, whole nodes, egress beyond the free allowance."""

from __future__ import annotations

import numpy as np

from planner.units import Numeric

_ROUNDING_SLACK = 1e-9  # so that 50.2 h in whole minutes isn't pushed to the next one by the last binary digit


def billed_session_s(
    startup_s: Numeric, work_s: Numeric, idle_tail_s: Numeric, billing_unit_s: Numeric, minimum_s: Numeric
) -> Numeric:
    """Billed time of one session: rounded up to the billing unit, then raised to the minimum.

    Parameters
    ----------
    startup_s, work_s, idle_tail_s : numeric
        Start-up, work with its checkpoints, and time until the machine is given back. [s]
    billing_unit_s, minimum_s : numeric
        Billing unit (greater than 0) and minimum charge. [s]

    Returns
    -------
    numeric
        Billed time. [s]

    Examples
    --------
    >>> float(billed_session_s(690.0, 180_000.0, 0.0, 60.0, 60.0)) / 3600
    50.2
    """
    used = startup_s + work_s + idle_tail_s
    units = np.ceil(used / billing_unit_s - _ROUNDING_SLACK)
    rounded = np.where(used > 0, np.maximum(units, 1.0), 0.0) * billing_unit_s
    return np.maximum(rounded, minimum_s)


def billed_egress_gb(used_gb: Numeric, free_gb: Numeric) -> Numeric:
    """Egress of one month and provider beyond its free allowance; what is not used lapses. [GB]"""
    return np.maximum(used_gb - free_gb, 0.0)
