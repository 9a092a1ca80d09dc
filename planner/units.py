"""Conversion constants: every change of unit in the engine goes through one of these names."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numeric: TypeAlias = float | npt.NDArray[np.float64]
"""A scalar or an array of float64: formulas take and return either."""

S_PER_MIN = 60.0
S_PER_H = 3600.0
H_PER_DAY = 24.0
S_PER_DAY = S_PER_H * H_PER_DAY
H_PER_YEAR = 8760.0
MONTHS_PER_YEAR = 12.0
H_PER_MONTH = H_PER_YEAR / MONTHS_PER_YEAR  # 730, for billing and commitments alike

W_PER_KW = 1000.0
G_PER_KG = 1000.0

BYTES_PER_GB = 1e9
BYTES_PER_GIB = float(2**30)
BYTES_PER_MIB = float(2**20)

FLOP_PER_TFLOP = 1e12
FLOP_PER_MAC = 2.0
MACS_PER_GMAC = 1e9
US_PER_S = 1e6
MS_PER_S = 1000.0
HZ_PER_MHZ = 1e6
BITS_PER_BYTE = 8.0
MILLION = 1e6

HALF_CENT_USD = 0.005
"""Below it money is nothing, or the same."""
