"""What is known of a measured model on some hardware: one speed, how sure it is, and where its time goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from planner.catalog.records import Catalog, Gpu, PartialGpu
from planner.performance.constants import Constants
from planner.performance.scaling import Link, jitter_factor
from planner.performance.transfer.cards import PrecisionClass, card_of_gpu
from planner.performance.transfer.models import KnownModel, Transfer
from planner.performance.transfer.speed import alone, parts_alone, several, units_of_sample

Novelty = Literal["known", "new-stack", "new-gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Speed of a known model. Its parts are matmul, elementwise, launch, communication, waiting."""

    speed: float  # of all GPUs together, in the model's unit a second
    half_width: float  # of the 80 % interval, on the log of the speed
    novelty: Novelty
    parts_s: Mapping[str, float]  # of a step, on every GPU

    @property
    def step_s(self) -> float:
        """Time of one step, on every GPU. [s]"""
        return sum(self.parts_s.values())


def answer(
    model: KnownModel,
    *,
    gpu: Gpu | PartialGpu,
    precision: PrecisionClass,
    batch: float,
    stack: str,
    link: Link,
    catalog: Catalog,
    constants: Constants,
    transfer: Transfer,
) -> Answer | None:
    """Speed of a known model on some GPUs; None where the catalog lacks the GPU's bandwidth or rates.

    Parameters
    ----------
    model : KnownModel
        A model in one size of input, of `transfer.models`.
    gpu : Gpu or PartialGpu
        Any GPU of the catalog.
    precision : PrecisionClass
        Of the arithmetic.
    batch : float
        Samples of a step on one GPU; `model.usual_batch` where it isn't known. [-]
    stack : str
        Software, as `published.stack_of` names it; `published.UNKNOWN_STACK` for any.
    link : Link
        Says also on how many GPUs, see `scaling.link_of`.
    catalog, constants, transfer
        Cards, the estimator's constants, and how far off such answers are.
    """
    card = card_of_gpu(gpu, precision, constants)
    if card is None:
        return None
    single = alone(model.terms, card, precision, batch, stack)
    units = batch * units_of_sample(model.unit, model.input)
    speed = several(single, units, model.exchanged_m_parameters, precision, link, constants)
    new_card = gpu.id not in model.cards
    new_stack = stack not in dict(model.terms.sources)
    widths = [model.half_width_new_card if new_card else model.half_width_known_card]
    if link.gpus > 1:
        widths.append(transfer.half_width_several_gpus)
    if new_stack:
        widths.append(constants.half_width_new_gpu)
    parts = parts_alone(model.terms, card, precision, batch)
    compute_s, step_s = units / single, link.gpus * units / speed
    share = compute_s / sum(parts.values())
    waiting_s = step_s * (1 - 1 / jitter_factor(link, constants))
    return Answer(
        speed=speed,
        half_width=float(np.hypot.reduce(widths)),
        novelty="new-gpu" if new_card else "new-stack" if new_stack else "known",
        parts_s=MappingProxyType(
            {
                **{name: share * seconds for name, seconds in parts.items()},
                "communication": max(step_s - compute_s - waiting_s, 0.0),
                "waiting": waiting_s,
            }
        ),
    )
