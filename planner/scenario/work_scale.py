"""A scenario with more or less of the same work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from planner.scenario.paths import get_value

_DIGITS: Final = 6


def scaled_runs(document: Mapping[str, Any], jobs: Sequence[str], factor: float) -> dict[str, Any]:
    """Overrides that multiply the runs of some jobs, rounded down to six digits.

    Parameters
    ----------
    document : mapping
        A checked scenario document.
    jobs : sequence of str
        Ids.
    factor : float
        Above 0.
    """
    overrides: dict[str, Any] = {}
    for job in jobs:
        path = f"jobs.{job}.runs_per_month"
        overrides[path] = _floor(float(get_value(document, path)) * factor)
        by_month = get_value(document, f"jobs.{job}.runs_by_month")
        if by_month:
            overrides[f"jobs.{job}.runs_by_month"] = {
                month: _floor(float(runs) * factor) for month, runs in by_month.items()
            }
    return overrides


def _floor(value: float) -> float:
    """Down to six digits, so that the next above is never meant.

    >>> _floor(123.45678)
    123.456
    """
    if value == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return round(math.floor(value / step * (1 + 1e-12)) * step, 12)
