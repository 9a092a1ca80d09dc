"""How rows weigh in fits: those that are far off count less, and so do those of a large group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def robust(errors: Array) -> Array:
    """Residuals whose squares grow like the errors themselves where these are large: soft L1, for some rows only."""
    softened: Array = np.sign(errors) * np.sqrt(2.0 * (np.sqrt(1.0 + errors * errors) - 1.0))
    return softened


def robust_slope(errors: Array) -> Array:
    """How `robust` grows with each error."""
    root = np.sqrt(1.0 + errors * errors)
    slope: Array = np.sqrt((root + 1.0) / 2.0) / root
    return slope


def group_weights(groups: Sequence[Hashable]) -> Array:
    """Weights of rows that, squared and summed, give the root of a group's size: rows of a group repeat each other."""
    sizes = Counter(groups)
    return np.array([sizes[group] ** -0.25 for group in groups])
