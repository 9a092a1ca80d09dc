"""Terms of all models and what is left beside them, found together: the most likely given rows and priors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from planner.performance.transfer.likeness import ROW_SPREAD, Array, Codes, Places, covariance
from planner.performance.transfer.terms import log_speeds

_ROUNDS = 12
_LONGEST_STEP = 1.0  # of a log in one round
_TAIL = 4.0  # degrees of freedom of the rows' own errors: outliers count for less


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measured rows: where they ran, which terms they have, and logs of their speeds."""

    places: Places
    workload: Codes  # index of the terms
    basis: Array  # rows by terms, see terms.basis_of
    log_speed: Array

    def take(self, rows: Codes) -> Measured:
        """Some of the rows."""
        return Measured(
            places=self.places.take(rows),
            workload=self.workload[rows],
            basis=self.basis[rows],
            log_speed=self.log_speed[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is expected of the terms: centres by workload, and standard deviations of logs."""

    centres: Array  # workloads by terms; rows of NaN for those without measurements
    deviations: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """Fitted terms (workloads by terms), and the weight of each row in what is left beside them."""

    terms: Array
    weights: Array
    rows: Measured

    def log_speed(self, asked: Measured) -> Array:
        """Logs of predicted speeds; what was measured of the asked rows is not looked at."""
        explained, _ = log_speeds(self.terms[asked.workload], asked.basis)
        return explained + covariance(asked.places, self.rows.places) @ self.weights


def fit(rows: Measured, prior: Prior, start: Array | None = None, rounds: int = _ROUNDS) -> Posterior:
    """Gauss-Newton steps of terms and residuals together, with heavy tails of the rows' own errors.

    Parameters
    ----------
    rows : Measured
        What was measured.
    prior : Prior
        Of the terms.
    start : array, optional
        Terms to start from, those of a fit to more rows; else the centres of the prior.
    rounds : int
        Steps; fewer suffice from a good start.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning," MIT Press, 2006, sec. 2.7:
       explicit basis functions with a Gaussian prior beside a Gaussian process.
    """
    terms = prior.centres.copy() if start is None else start.copy()
    variance = prior.deviations**2
    likeness = covariance(rows.places, rows.places)
    same = rows.workload[:, None] == rows.workload[None, :]
    certainty = np.ones(len(rows.log_speed))
    weights = np.zeros(len(rows.log_speed))
    for _ in range(rounds):
        explained, slopes = log_speeds(terms[rows.workload], rows.basis)
        moved = (slopes * (terms - prior.centres)[rows.workload]).sum(axis=1)
        total = likeness + (slopes * variance) @ slopes.T * same + np.diag(ROW_SPREAD**2 / certainty)
        weights = cho_solve(cho_factor(total, lower=True), rows.log_speed - explained + moved)
        target = prior.centres.copy()
        np.add.at(target, rows.workload, variance * slopes * weights[:, None])
        terms = terms + np.clip(target - terms, -_LONGEST_STEP, _LONGEST_STEP)
        own = ROW_SPREAD / certainty * weights  # error of the row by itself, in its standard deviations
        certainty = np.minimum((_TAIL + 1) / (_TAIL + own**2), 1.0)
    return Posterior(terms=terms, weights=weights, rows=rows)
