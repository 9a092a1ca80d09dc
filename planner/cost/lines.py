"""CostLine over time: named, additive, traceable money as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.cost.course import Array, Course, dense, scaled

Group = Literal["capex", "residual", "opex", "financing"]
TaxKind = Literal["tax_purchase", "tax_lease", "tax_local", "tax_rented"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One cost line: a quantity over time at a unit price, per row of parameter values.

    Where prices change over time, `unit_price` is that of the plan's beginning and `price_factor` its course.
    `price_at`, `driver_at` and `minor_at` are the columns of the parameter table it rests on. Drivers decide the
    quantity; minor ones (start-up, billing unit) are cited but don't make the line an estimate.
    """

    id: str
    group: Group
    resource: str
    job: str
    unit: str
    unit_price: Array  # [rows], USD
    course: Course  # its quantity, [rows, H + 1]; column 0 is the start of the plan, column k the end of month k
    price_factor: Array | None = None  # [rows, H + 1], on the unit price; None: it is the same at all times
    reduces: str = ""  # id of the line that this one takes something off
    kwh_course: Course | None = None
    kg_co2e_course: Course | None = None
    taxed: TaxKind | None = None
    price_at: tuple[int, ...]
    driver_at: tuple[int, ...] = ()
    minor_at: tuple[int, ...] = ()

    @property
    def quantity(self) -> Array:
        """Quantity by row and time."""
        return dense(self.course)

    @property
    def kwh(self) -> Array | None:
        """Energy at the meter by row and time."""
        return None if self.kwh_course is None else dense(self.kwh_course)

    @property
    def kg_co2e(self) -> Array | None:
        """Emissions by row and time."""
        return None if self.kg_co2e_course is None else dense(self.kg_co2e_course)

    @property
    def kind(self) -> str:
        """What the id begins with, e.g. `rental`."""
        return self.id.partition(".")[0]

    @property
    def bears_on(self) -> str:
        """Kind of the line, or of the one that it reduces: both are for the same work."""
        return self.reduces.partition(".")[0] or self.kind

    @property
    def price(self) -> Array:
        """Unit price by row and time. [USD]"""
        return np.broadcast_to(self._prices(), self.quantity.shape)

    @property
    def amount_course(self) -> Course:
        """Money by row and time, undiscounted, in the fewest numbers. [USD]"""
        return scaled(self.course, self.unit_price) if self.price_factor is None else self.amount

    @property
    def amount(self) -> Array:
        """Money by row and time, undiscounted. [USD]"""
        return self._prices() * self.quantity

    @property
    def mean_price(self) -> Array:
        """Unit price by row, where it changes the mean of what is paid. [USD]"""
        if self.price_factor is None:
            return self.unit_price
        quantity = self.quantity.sum(axis=1)
        paid = self.amount.sum(axis=1)
        return np.asarray(np.divide(paid, quantity, out=self.unit_price.astype(float), where=quantity != 0))

    def _prices(self) -> Array:
        prices = self.unit_price[:, None]
        return np.asarray(prices if self.price_factor is None else prices * self.price_factor)
