"""Samples to a target by the global batch: a larger one needs more of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from planner.performance.robust import robust

Array = npt.NDArray[np.float64]

# Judgements, made with the published rows in view: slope and log of the curvature that are expected, their spreads.
_SLOPE, _SLOPE_SPREAD = 0.05, 0.15
_LOG_CURVATURE, _LOG_CURVATURE_SPREAD = -2.5, 0.8
_ROW_SPREAD: Final = 0.06
_MOST_EVALUATIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLaw:
    """Samples (or epochs) to a target by the global batch."""

    log_samples: float  # at the reference batch
    reference_batch: float
    slope: float
    curvature: float  # never negative

    def log_at(self, batch: Array) -> Array:
        """Log of the samples to the target, quadratic in the log of the batch.

        `log S = log S0 + slope x + curvature x²` with `x = log(batch / reference)`. That more samples are needed
        beyond a batch that depends on the target, and ever more, is what C. Shallue et al. measured [1]_.

        Parameters
        ----------
        batch : array
            Samples of a step of all GPUs together. [-]

        Returns
        -------
        array
            Log of samples, or of epochs where the published rows count these. [-]

        References
        ----------
        .. [1] C. Shallue et al., "Measuring the Effects of Data Parallelism on Neural Network Training," JMLR 20
           (2019), arXiv:1811.03600.
        """
        x = np.log(batch / self.reference_batch)
        logs: Array = self.log_samples + self.slope * x + self.curvature * x * x
        return logs


def fit_batch_law(batch: Array, samples: Array) -> BatchLaw:
    """Law of a benchmark from its rows; each batch counts by the root of its rows, outliers less."""
    x, y = np.log(batch), np.log(samples)
    reference = float(np.median(x))
    _, inverse, counts = np.unique(batch, return_inverse=True, return_counts=True)
    weight = counts[inverse] ** -0.5
    x = x - reference

    def residuals(values: Array) -> Array:
        error = (values[0] + values[1] * x + np.exp(values[2]) * x * x - y) / _ROW_SPREAD
        priors = [(values[1] - _SLOPE) / _SLOPE_SPREAD, (values[2] - _LOG_CURVATURE) / _LOG_CURVATURE_SPREAD]
        return np.concatenate([weight * robust(error), priors])

    start = np.array([np.median(y), _SLOPE, _LOG_CURVATURE])
    found = least_squares(residuals, start, method="lm", max_nfev=_MOST_EVALUATIONS).x
    return BatchLaw(
        log_samples=float(found[0]),
        reference_batch=float(np.exp(reference)),
        slope=float(found[1]),
        curvature=float(np.exp(found[2])),
    )
