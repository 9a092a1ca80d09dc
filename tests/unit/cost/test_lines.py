"""Cost lines over time."""

from __future__ import annotations

import numpy as np

from planner.cost.lines import CostLine


def test_amount_is_quantity_times_unit_price_by_row() -> None:
    line = CostLine(
        id="rental.work.offer",
        group="opex",
        resource="offer",
        job="work",
        unit="node-hour",
        unit_price=np.array([2.0, 3.0]),
        course=np.array([[0.0, 10.0, 20.0]]),
        price_at=(0,),
    )
    assert line.amount.tolist() == [[0.0, 20.0, 40.0], [0.0, 30.0, 60.0]]
    assert line.kind == "rental"
