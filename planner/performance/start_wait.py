"""Waiting for rented instances that aren't always there: each try succeeds with the same probability."""

from __future__ import annotations

import numpy as np

from planner.units import Numeric

_ROUNDING = 1e-12  # of a number of tries, below which it counts as whole


def mean_start_wait_s(available_share: Numeric, retry_s: Numeric) -> Numeric:
    """Expected wait until a request for instances is granted.

    The tries that fail before the first that succeeds are geometric, whatever failed before.

    Parameters
    ----------
    available_share : numeric
        Probability that a try is granted, in (0, 1]. [-]
    retry_s : numeric
        Time from a refused try to the next. [s]

    Returns
    -------
    numeric
        Wait from the first try on. [s]

    References
    ----------
    .. [1] W. Feller, An Introduction to Probability Theory and Its Applications, vol. 1, 3rd ed., 1968, ch. XI.2.

    Examples
    --------
    >>> mean_start_wait_s(0.25, 600)
    1800.0
    """
    return retry_s * (1.0 - available_share) / available_share


def percentile_start_wait_s(available_share: Numeric, retry_s: Numeric, share: float) -> Numeric:
    """Wait that a share of the requests doesn't exceed: whole numbers of retries.

    Parameters
    ----------
    available_share, retry_s : numeric
        As for `mean_start_wait_s`. [-], [s]
    share : float
        Of the requests, in (0, 1). [-]

    Returns
    -------
    numeric
        Wait. [s]

    Examples
    --------
    Of requests that are granted in a quarter of the tries, nine in ten wait for at most eight more tries:
    1 - 0.75^9 = 0.925, and 1 - 0.75^8 = 0.900 is just below.

    >>> float(percentile_start_wait_s(0.25, 600, 0.9))
    4800.0
    """
    refused = np.maximum(1.0 - np.asarray(available_share, dtype=float), np.finfo(float).tiny)
    tries = np.ceil(np.log1p(-share) / np.log(refused) - _ROUNDING)
    return np.asarray(retry_s * np.maximum(tries - 1.0, 0.0))


def longer_wait_probability(available_share: Numeric, retry_s: Numeric, wait_s: Numeric) -> Numeric:
    """Probability that a request waits longer than some time.

    Parameters
    ----------
    available_share, retry_s : numeric
        As for `mean_start_wait_s`. [-], [s]
    wait_s : numeric
        The time; below 0 every request waits longer. [s]

    Returns
    -------
    numeric
        Share of the requests. [-]

    Examples
    --------
    >>> float(longer_wait_probability(0.25, 600, 1200))  # three tries refused
    0.421875
    """
    tries = np.floor(np.asarray(wait_s, dtype=float) / retry_s + _ROUNDING) + 1.0
    return np.asarray((1.0 - np.asarray(available_share, dtype=float)) ** np.maximum(tries, 0.0))
