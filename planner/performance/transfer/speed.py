"""Speed of a known model on a card, alone and beside others."""

from __future__ import annotations

import re

import numpy as np

from planner.performance.constants import Constants
from planner.performance.scaling import Link, data_parallel_step_s
from planner.performance.transfer.cards import Card, PrecisionClass
from planner.performance.transfer.terms import Terms, log_time, part_times, samples_of

ELEMENT_BYTES: dict[PrecisionClass, float] = {"16-bit": 2.0, "tf32": 4.0, "fp32": 4.0}
_M = 1e6
_TOKENS_OF_A_SENTENCE = 50.0  # of translation, both languages; our estimate, of which the parameters exchanged make up


def alone(terms: Terms, card: Card, precision: PrecisionClass, batch: float, stack: str) -> float:
    """Samples a second of one card. Of software that isn't known, the usual of that model is taken.

    Parameters
    ----------
    terms : Terms
        Fitted to the model's rows.
    card : Card
        Rates in that precision.
    batch : float
        Samples of a step. [-]
    stack : str
        Where it was measured: some software is faster.
    """
    offsets = dict(terms.sources)
    row = samples_of(
        [card],
        names=[""],
        element_bytes=[ELEMENT_BYTES[precision]],
        batches=[batch],
        sources=[stack],
        speeds=[1.0],
        known_sources=(stack,),
    )
    return float(np.exp(-log_time(np.array(terms.logs), np.array([offsets.get(stack, 0.0)]), row)[0]))


def parts_alone(terms: Terms, card: Card, precision: PrecisionClass, batch: float) -> dict[str, float]:
    """Seconds of a step on one card by what takes them, in the usual software: matmul, elementwise, launch."""
    row = samples_of(
        [card],
        names=[""],
        element_bytes=[ELEMENT_BYTES[precision]],
        batches=[batch],
        sources=[""],
        speeds=[1.0],
        known_sources=("",),
    )
    matmul, traffic, vector, step, unit = (float(part[0]) * batch for part in part_times(np.array(terms.logs), row))
    return {"matmul": matmul, "elementwise": traffic + vector, "launch": step + unit}


def units_of_sample(unit: str, size: str) -> float:
    """Units that a speed counts in one sample of a batch: tokens of a text, values of a sound. [-]"""
    if unit == "sample":
        return 1.0
    length = re.search(r"(?:tgt_len|segment|seq)=?(\d+)", size)
    return float(length[1]) if length else _TOKENS_OF_A_SENTENCE


def several(
    speed_alone: float, units: float, exchanged_m_parameters: float, precision: PrecisionClass, link: Link,
    constants: Constants,
) -> float:  # fmt: skip
    """Units a second of all cards of a run in which each step exchanges the gradients once.

    Parameters
    ----------
    speed_alone : float
        Of one card. [units/s]
    units : float
        What one card works off in a step, in the unit of the speed. [-]
    exchanged_m_parameters : float
        Parameters whose gradients are exchanged. [millions]
    precision, link, constants
        For the bytes of a gradient, and the time it takes.
    """
    if link.gpus == 1:
        return speed_alone
    gradients = exchanged_m_parameters * _M * ELEMENT_BYTES[precision]
    step_s = data_parallel_step_s(units / speed_alone, gradients, link, constants)
    return link.gpus * units / step_s
