"""CostLine over time: named, additive, traceable money as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Group = Literal["capex", "residual", "opex", "financing"]
TaxKind = Literal["tax_purchase", "tax_lease", "tax_local", "tax_rented"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One cost line: a quantity over time at one unit price, per row of parameter values.

    `price_at`, `driver_at` and `minor_at` are the columns of the parameter table it rests on. Drivers decide the
    quantity; minor ones (start-up, billing unit) are cited but don't make the line an estimate.
    """

    id: str
    group: Group
    resource: str
    job: str
    unit: str
    unit_price: Array  # [rows], USD
    quantity: Array  # [rows, H + 1]; column 0 is the start of the plan, column k the end of month k
    kwh: Array | None = None
    kg_co2e: Array | None = None
    taxed: TaxKind | None = None
    price_at: tuple[int, ...]
    driver_at: tuple[int, ...] = ()
    minor_at: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """What the id begins with, e.g. `rental`."""
        return self.id.partition(".")[0]

    @property
    def amount(self) -> Array:
        """Money by row and time, undiscounted. [USD]"""
        return self.unit_price[:, None] * self.quantity
