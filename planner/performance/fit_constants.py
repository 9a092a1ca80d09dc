"""Fits constants to log errors: a soft-L1 loss, with Gaussian priors on logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.fit_steps import priors
from planner.performance.robust import robust
from planner.performance.step_inputs import Vector


def fit_constants(
    names: Sequence[str],
    log_errors: Callable[[Constants], Vector],
    weights: Vector,
    noise: float,
    start: Constants,
    catalog: Catalog,
) -> Constants:
    """Constants that minimise the loss, from the centres of their priors; all others stay.

    Parameters
    ----------
    names : sequence of str
        What is fitted.
    log_errors : function
        Log of predicted over measured of each row, by the constants.
    weights : array
        Of the rows.
    noise : float
        Log error that counts as one unit of misfit.
    start : Constants
        What isn't fitted.
    catalog : Catalog
        For the priors.
    """
    centres, deviations = priors(names, catalog)

    def constants_at(logs: Vector) -> Constants:
        return replace(start, **{name: math.exp(log) for name, log in zip(names, logs, strict=True)})

    def residuals(logs: Vector) -> Vector:
        misfit = log_errors(constants_at(logs)) / noise
        return np.concatenate([weights * robust(misfit), (logs - centres) / deviations])

    solution = least_squares(residuals, centres, xtol=1e-8, ftol=1e-8)
    return constants_at(np.asarray(solution.x, dtype=np.float64))
