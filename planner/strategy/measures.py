"""What a plan comes to by time, in the measures that limits are set on."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.kernel import Evaluation

COST: Final = 0
"""All lines, undiscounted. [USD]"""
PAID: Final = 1
"""Cash paid: purchases, running costs, financing less what is borrowed; resale isn't set against it. [USD]"""
CAPEX: Final = 2
"""Cash paid for purchases. [USD]"""
KWH: Final = 3
"""Energy at the meter. [kWh]"""
KG_CO2E: Final = 4
"""Emissions. [kg]"""
MEASURES: Final = 5
NOT_CASH: Final = "opportunity"


def by_time(evaluation: Evaluation, times: int) -> Array:
    """Measures of an evaluation by time, from the start of the plan. [rows, measures, times]

    Parameters
    ----------
    evaluation : Evaluation
        From the kernel.
    times : int
        At least as many as its lines have; later ones are 0.
    """
    result = np.zeros((len(evaluation.discount), MEASURES, times))
    for line in evaluation.lines:
        amount = line.amount
        span = slice(0, amount.shape[1])
        result[:, COST, span] += amount
        cash = line.kind != NOT_CASH
        if cash and line.group != "residual":
            result[:, PAID, span] += amount
        if cash and line.group == "capex":
            result[:, CAPEX, span] += amount
        if line.kwh is not None and line.kg_co2e is not None:
            result[:, KWH, span] += line.kwh
            result[:, KG_CO2E, span] += line.kg_co2e
    return result
