"""What is known of a measured model on some hardware: one speed, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from planner.catalog.records import Gpu, PartialGpu
from planner.performance.constants import Constants
from planner.performance.scaling import Link
from planner.performance.transfer.cards import Card, PrecisionClass, card_of_gpu
from planner.performance.transfer.likeness import Places, covariance
from planner.performance.transfer.links import exchange, kind_of, units_of_sample
from planner.performance.transfer.models import KnownModel, Transfer
from planner.performance.transfer.posterior import Measured
from planner.performance.transfer.singles import places_of
from planner.performance.transfer.software import UNKNOWN_STACK, source_of_stack
from planner.performance.transfer.spread import Spreads
from planner.performance.transfer.terms import basis_of, part_times
from planner.performance.transfer.widths import exchange_width, single_width, strangeness

Novelty = Literal["known", "new-stack", "new-gpu"]

_NEW = -1  # code of a name that no measured run has


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Speed of a known model."""

    speed: float  # of all GPUs together, in the model's unit a second
    half_width: float  # of the 80 % interval, on the log of the speed
    novelty: Novelty


def answer(
    model: KnownModel,
    *,
    gpu: Gpu | PartialGpu,
    precision: PrecisionClass,
    batch: float,
    stack: str,
    link: Link,
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
        Software, as `software.stack_of` names it; `software.UNKNOWN_STACK` for any.
    link : Link
        Says also on how many GPUs, see `scaling.link_of`.
    constants, transfer
        The estimator's constants, and what the fit found.
    """
    card = card_of_gpu(gpu, precision, constants)
    if card is None:
        return None
    units = batch * units_of_sample(model.unit, model.input, constants.sentence_tokens)
    factor = math.exp(-residual(transfer, model.model, card, gpu.id, precision, stack)) * units
    matmul, traffic, vector, step, unit = (factor * part for part in part_times(model.terms, card, precision, batch))
    compute_s = matmul + traffic + vector + step + unit
    more = exchange(
        compute_s, model.exchanged_m_parameters, model.waits, precision, gpu, link, transfer.links, constants
    )
    step_s = compute_s + more.communication_s + more.waiting_s
    source = source_of_stack(stack)
    new_gpu = gpu.id not in model.cards
    new_stack = source not in model.sources
    # A known source that wasn't run on this card in this precision: no surer than on a card like it.
    not_run = not new_stack and (gpu.id, precision, source) not in model.runs
    width = single_width(
        model.widths,
        new_gpu=new_gpu or not_run,
        new_stack=new_stack,
        datacenter=gpu.segment == "datacenter",
        strange=_strangeness(transfer, card) if new_gpu else 0.0,
        of_stack=transfer.stack_factor * spread(transfer, model, card, gpu.id, precision, stack, batch)
        if new_stack
        else 0.0,
        launch_share=step / compute_s,
        constants=constants,
    )
    if gpu.vendor not in transfer.vendors:
        width = math.hypot(width, constants.half_width_new_vendor)
    if link.gpus > 1:
        share = (more.communication_s + more.waiting_s) / step_s
        width = math.hypot(width, exchange_width(kind_of(gpu), share, transfer.exchange_widths, constants))
    return Answer(
        speed=link.gpus * units / step_s,
        half_width=width,
        novelty="new-gpu" if new_gpu else "new-stack" if new_stack else "known",
    )


@lru_cache(maxsize=20_000)
def residual(
    transfer: Transfer, model: str, card: Card, gpu_id: str, precision: PrecisionClass, stack: str
) -> float:  # fmt: skip
    """How much faster a model is than its terms say, by what like runs leave unexplained. [log]

    Of software that isn't known the newest release of the suite is taken.
    """
    known = transfer.newest_stack if stack == UNKNOWN_STACK else stack
    place = _place(transfer, model, card, gpu_id, precision, known)
    return float((covariance(place, transfer.places) @ transfer.weights)[0])


@lru_cache(maxsize=20_000)
def spread(
    transfer: Transfer, model: KnownModel, card: Card, gpu_id: str, precision: PrecisionClass, stack: str, batch: float
) -> float:  # fmt: skip
    """Standard deviation that the measured rows leave to a model's speed; software that isn't known is new. [log]"""
    asked = Measured(
        places=_place(transfer, model.model, card, gpu_id, precision, stack),
        workload=np.array([model.at]),
        basis=np.array([basis_of(card, precision, batch)]),
        log_speed=np.full(1, np.nan),
    )
    return float(_spreads(transfer).of(asked)[0])


@lru_cache(maxsize=2_000)
def _strangeness(transfer: Transfer, card: Card) -> float:
    return strangeness(np.array(card.features), transfer.features)


@lru_cache(maxsize=4)
def _spreads(transfer: Transfer) -> Spreads:
    return Spreads(transfer.rows, transfer.terms, transfer.term_deviations)


def _place(
    transfer: Transfer, model: str, card: Card, gpu_id: str, precision: PrecisionClass, stack: str
) -> Places:  # fmt: skip
    place = places_of(
        np.array([transfer.model_codes[model]]),
        np.array([transfer.gpu_codes.get(gpu_id, _NEW)]),
        [precision],
        [stack],
        np.array([transfer.stack_codes.get(stack, _NEW)]),
        np.array([card.features]),
    )
    if not (transfer.places.other[transfer.places.model == place.model] == 0).any():
        return replace(place, other=np.ones(1))  # a model that the suite lacks is like itself in other software
    return place
