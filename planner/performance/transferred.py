"""Finds what a plan can take over from the same model's speed on other cards, where those say enough."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision, Workload
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.performance.evidence import Evidence, Measurement
from planner.performance.fitting import Choice
from planner.performance.repeated import MOST_SOURCES
from planner.performance.request import Request, Warning_
from planner.performance.scaling import link_of
from planner.performance.transfer.answer import answer
from planner.performance.transfer.cards import Card, PrecisionClass, card_of, card_of_gpu
from planner.performance.transfer.models import KnownModel, Transfer, load_transfer
from planner.performance.transfer.published import input_key, table_of
from planner.performance.transfer.software import in_suite, stack_of
from planner.performance.uncertainty import REGIME_SHARE

_CLASSES: dict[Precision, PrecisionClass] = {"fp16": "16-bit", "bf16": "16-bit", "tf32": "tf32", "fp32": "fp32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferred:
    """Speed of a run, taken over from the model's runs on other cards or with other batches."""

    throughput: float
    half_width: float  # of the 80 % interval, on the log
    software: str  # for which it holds
    ids: tuple[str, ...]  # of measurements on the cards most like this one
    warnings: tuple[Warning_, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Precision:
    """What was measured in one class of precision."""

    cards: frozenset[str]
    batches: tuple[int, int]  # smallest and largest on one GPU
    rows: dict[str, tuple[str, ...]]  # ids by card, the newest first: on one GPU, of the suite that ran on all cards
    rates: dict[str, Card]  # of these cards
    generations: frozenset[str]
    vendors: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Support:
    """A known model with the rows it rests on, as far as these may be looked at."""

    transfer: Transfer
    model: KnownModel
    by_precision: dict[PrecisionClass, _Precision]

    @property
    def software(self) -> str:
        """The newest that was measured, which is assumed."""
        return f"PyTorch {self.transfer.newest_stack.partition('/')[2]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A model by name and input; what else it depends on is told apart by its content."""

    names: tuple[str, ...]
    size: str
    transfer: Transfer  # as shipped: one object for each content of its file
    constants: Constants
    evidence_hash: str
    catalog_hash: str
    evidence: Evidence = field(compare=False)
    catalog: Catalog = field(compare=False)


def find_transferred(
    request: Request,
    choice: Choice,
    global_batch: int,
    exchange_s: float,
    catalog: Catalog,
    evidence: Evidence,
    constants: Constants,
) -> Transferred | None:
    """Speed of a request from the same model on other cards, or None where these don't say enough.

    One card's speed is taken over. What several lose to each other is that of the formulas, which know the model's
    parameters: those that the transfer's own rows on several cards stand for are too few for cards without a switch.

    Parameters
    ----------
    request : Request
        What is asked.
    choice : Choice
        Settings of the run: only copies of the model without recomputation were measured.
    global_batch : int
        Samples of a step; several passes before one exchange where the GPUs take fewer at once.
    exchange_s : float
        Transfers and waiting of a step. [s]
    catalog, evidence, constants
        Cards, the rows that may be looked at, and the estimator's constants.

    Returns
    -------
    Transferred or None
        None for models, inputs and precisions that were never or hardly measured, vendors without a row, and batches
        far from those measured.
    """
    setup, workload = request.setup, request.setup.workload
    usual = request.usual_training and choice.checkpointing == "none" and choice.layout.sharding == "replicated"
    kind = _CLASSES.get(request.precision)
    if workload.unit != "samples" or not workload.evidence_models or not usual or kind is None:
        return None
    support = _support_of(request, catalog, evidence, constants)
    found = None if support is None else support.by_precision.get(kind)
    if support is None or found is None or len(found.cards) < constants.transfer_fewest_cards:
        return None
    smallest, largest = found.batches
    beyond = constants.transfer_beyond_batches
    if not smallest / beyond <= choice.micro_batch <= largest * beyond:
        return None
    if setup.gpu.vendor not in found.vendors:
        return None
    told = answer(
        support.model, gpu=setup.gpu, precision=kind, batch=choice.micro_batch, stack=support.transfer.newest_stack,
        link=link_of(setup.gpu, 1, 1, None, constants), constants=constants, transfer=support.transfer,
    )  # fmt: skip
    if told is None:
        return None
    compute_s = global_batch / setup.gpus / told.speed
    # Plans don't say which software will run: it is as good as new on a GPU that is known.
    new_card = told.half_width if setup.gpu.id not in found.cards else 0.0
    half_width, warnings = max(new_card, constants.half_width_known_gpu), []
    if generation_of(setup.gpu) not in found.generations:
        half_width = max(half_width, constants.half_width_new_architecture)
        params = {"gpu": setup.gpu.name, "of": setup.gpu.architecture}
        warnings.append(Warning_(code="no_training_evidence", params=params))
    if exchange_s > REGIME_SHARE * (compute_s + exchange_s):
        half_width = math.hypot(half_width, constants.half_width_regime)
    taken = {"model": workload.name, "cards": len(found.cards), "software": support.software}
    return Transferred(
        throughput=global_batch / (compute_s + exchange_s),
        half_width=half_width,
        software=support.software,
        ids=_nearest(found, setup.gpu, kind, constants),
        warnings=(*warnings, Warning_(code="transferred", params=taken)),
    )


def _support_of(request: Request, catalog: Catalog, evidence: Evidence, constants: Constants) -> _Support | None:
    workload = request.setup.workload
    return _support(
        _Question(
            names=workload.evidence_models,
            size=_size(workload, request.seq_len),
            transfer=load_transfer(),
            constants=constants,
            evidence_hash=evidence.content_hash,
            catalog_hash=catalog.content_hash,
            evidence=evidence,
            catalog=catalog,
        )
    )


def _size(workload: Workload, seq_len: int | None) -> str:
    """Input of a workload as the published rows spell it."""
    if workload.vision is not None:
        return input_key(workload.vision.input)
    return f"seq{seq_len}"


@lru_cache(maxsize=64)
def _support(question: _Question) -> _Support | None:
    evidence = question.evidence
    asked = [name for name in question.names if _is_measured(name, evidence)]
    transfer = _transfer(question) if asked else None
    if transfer is None:
        return None
    model = next(
        (
            model
            for name in asked
            for model in transfer.models.get(name.casefold(), ())
            if model.input == question.size and model.unit == "sample"
        ),
        None,
    )
    if model is None:
        return None
    rows = [
        row
        for row in (*evidence.by_model.get(model.model, ()), *evidence.for_transfer)
        if row.model == model.model and row.unit == "samples_per_s" and input_key(row.input, row.notes) == model.input
    ]
    if not any(row.use == "evidence" for row in rows):
        return None
    return _Support(
        transfer=transfer,
        model=model,
        by_precision={
            kind: part for kind in set(_CLASSES.values()) if (part := _part(kind, rows, question)) is not None
        },
    )


def _is_measured(name: str, evidence: Evidence) -> bool:
    return any(row.model.casefold() == name.casefold() for row in (*evidence.measurements, *evidence.for_transfer))


def _transfer(question: _Question) -> Transfer | None:
    """What ships, or, where the evidence isn't the whole table of that fit, a fit to what it has."""
    evidence = question.evidence
    if evidence.complete and table_of(evidence.samples).digest == question.transfer.table:
        return question.transfer
    return _refitted(replace(question, names=(), size=""))


@lru_cache(maxsize=8)
def _refitted(question: _Question) -> Transfer | None:
    from planner.performance.transfer.left_out import refitted  # fits, which plans of the whole evidence never do

    evidence = question.evidence
    ids = {row.id for row in (*evidence.measurements, *evidence.for_transfer)}
    return refitted(table_of(evidence.samples), ids, question.catalog, question.constants)


def _part(kind: PrecisionClass, rows: Iterable[Measurement], question: _Question) -> _Precision | None:
    alike = [row for row in rows if _CLASSES.get(row.precision) == kind and row.gpus == 1 and row.micro_batch]
    if not alike:
        return None
    batches = [row.micro_batch for row in alike]
    suite = [row for row in alike if in_suite(stack_of(row.source, row.framework))] or alike
    by_card: dict[str, tuple[str, ...]] = {}
    for row in sorted(suite, key=lambda row: (row.date, row.id), reverse=True):
        by_card[row.gpu] = (*by_card.get(row.gpu, ()), row.id)
    catalog, cards = question.catalog, frozenset(row.gpu for row in alike)
    rates = {id: card_of(catalog, id, kind, question.constants) for id in by_card}
    known = [card for id in cards if (card := catalog.gpus.get(id) or catalog.partial_gpus.get(id)) is not None]
    return _Precision(
        cards=cards,
        batches=(min(batches), max(batches)),
        rows=by_card,
        rates={id: card for id, card in rates.items() if card is not None},
        generations=frozenset(generation_of(card) for card in known),
        vendors=frozenset(card.vendor for card in known),
    )


def _nearest(found: _Precision, gpu: Gpu | PartialGpu, kind: PrecisionClass, constants: Constants) -> tuple[str, ...]:
    """Ids of the rows on the cards whose bandwidth and matmul rate are most like this one's."""
    here = card_of_gpu(gpu, kind, constants)
    assert here is not None
    near = sorted(found.rates, key=lambda id: (_distance(here, found.rates[id]), id))
    return tuple(id for card in near[:MOST_SOURCES] for id in found.rows[card])[:MOST_SOURCES]


def _distance(one: Card, other: Card) -> float:
    """Sum of the sizes of the logs of the ratios of matmul rate and bandwidth. [-]"""
    return abs(math.log(one.matmul_tflop_per_s / other.matmul_tflop_per_s)) + abs(
        math.log(one.bandwidth_gb_per_s / other.bandwidth_gb_per_s)
    )
