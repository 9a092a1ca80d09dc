"""A loss under which rows that are far off count less."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def robust(errors: Array) -> Array:
    """Residuals whose squares grow like the errors themselves where these are large: soft L1, for some rows only."""
    softened: Array = np.sign(errors) * np.sqrt(2.0 * (np.sqrt(1.0 + errors * errors) - 1.0))
    return softened
