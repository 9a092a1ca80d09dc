"""How far off transferred speeds may be by what they rest on: standard deviations of the fit's own process."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from planner.performance.transfer.likeness import ROW_SPREAD, Array, covariance, variance
from planner.performance.transfer.posterior import Measured
from planner.performance.transfer.terms import log_speeds


class Spreads:
    """Standard deviations of logs of speeds that rest on some rows.

    Parameters
    ----------
    rows : Measured
        What was measured.
    terms : array
        Fitted terms, workloads by terms. [log s]
    deviations : array
        Standard deviations of the prior of each term. [-]

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning," MIT Press, 2006, sec. 2.7:
       the variance of a prediction with explicit basis functions, here the slopes of the terms at their fit.
    """

    def __init__(self, rows: Measured, terms: Array, deviations: Array) -> None:
        self._rows, self._terms, self._variance = rows, terms, deviations**2
        self._slopes = self._slopes_of(rows)
        total = self._shared(rows, self._slopes) + ROW_SPREAD**2 * np.eye(len(rows.workload))
        self._factor = cho_factor(total, lower=True)

    def of(self, asked: Measured) -> Array:
        """Of each asked run, the spread of a row by itself included; its measured speed is not looked at. [-]"""
        slopes = self._slopes_of(asked)
        shared = self._shared(asked, slopes)
        explained = np.einsum("ij,ji->i", shared, cho_solve(self._factor, shared.T))
        before = variance(asked.places) + (slopes**2 * self._variance).sum(axis=1)
        left: Array = np.sqrt(np.maximum(before - explained, 0.0) + ROW_SPREAD**2)
        return left

    def _slopes_of(self, runs: Measured) -> Array:
        _, slopes = log_speeds(self._terms[runs.workload], runs.basis)
        return slopes

    def _shared(self, runs: Measured, slopes: Array) -> Array:
        """Covariance of runs with the rows: of terms where the workload is one, and of what these leave unexplained."""
        same = runs.workload[:, None] == self._rows.workload[None, :]
        total: Array = covariance(runs.places, self._rows.places) + (slopes * self._variance) @ self._slopes.T * same
        return total
