"""What a GPU gives for its price and its power, under each measure of speed that people use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from planner.catalog.query import prices_of
from planner.catalog.records import Catalog, Figure, Gpu, HardwarePrice, PartialGpu, Precision
from planner.performance.evidence import Evidence, Measurement
from planner.strategy.resolve.figures import combined

Accelerator = Gpu | PartialGpu
Measure = Literal["peak_fp32", "dense_16_bit", "achieved_16_bit", "bert_large"]
Basis = Literal["new", "used", "launch"]

MEASURES: tuple[Measure, ...] = ("peak_fp32", "dense_16_bit", "achieved_16_bit", "bert_large")
BASES: tuple[Basis, ...] = ("new", "used", "launch")
BERT_LARGE = "BERT-large-SQuAD-finetune"
_HALF: tuple[Precision, ...] = ("bf16", "fp16")
_MARKET = ("market", "estimate")
_FIRST = ("launch", "list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A purchase price of one card [USD] and what it is of."""

    usd: Figure
    condition: Literal["new", "used"]


def accelerators(catalog: Catalog) -> dict[str, Accelerator]:
    """All GPUs, also the partly known ones, by id."""
    return {**catalog.gpus, **catalog.partial_gpus}


def speed(gpu: Accelerator, measure: Measure, evidence: Evidence) -> Figure | None:
    """Speed of one card under a measure, or None where it is unknown. [TFLOP/s; samples/s for `bert_large`]

    `achieved_16_bit` is what large matrix products were measured to reach; `bert_large` the newest measured fine-tuning
    of BERT-large on one card in 16 bit.
    """
    if measure == "peak_fp32":
        return gpu.dense_tflop_per_s.get("fp32")
    if measure == "bert_large":
        found = _newest_run(gpu.id, evidence)
        return None if found is None else Figure(value=found.throughput, sources=(found.source,), as_of=found.date)
    for precision in _HALF:
        peak = gpu.dense_tflop_per_s.get(precision)
        if peak is None:
            continue
        if measure == "dense_16_bit":
            return peak
        fraction = gpu.matmul_fraction.get(precision)
        if fraction is not None:
            return combined(lambda rate, share: rate * share, peak, fraction)
    return None


def _newest_run(gpu: str, evidence: Evidence) -> Measurement | None:
    runs = [
        run
        for run in evidence.by_model.get(BERT_LARGE, ())
        if run.gpu == gpu and run.gpus == 1 and run.precision in _HALF and not run.fit_only
    ]
    return max(runs, key=lambda run: (run.date, run.throughput), default=None)


def purchase_price(catalog: Catalog, gpu: Accelerator, basis: Basis) -> Price | None:
    """Price of one card on a basis, or None where it is unknown.

    `new` and `used` are the newest price of a card in that condition, list prices only where no market price is: the
    two are never mixed, for a used card has no warranty and half its life behind it. `launch` is the oldest price its
    maker printed.
    """
    prices = prices_of(catalog, gpu.id)
    if basis == "launch":
        if gpu.spec.launch_price_usd is not None:
            return Price(usd=gpu.spec.launch_price_usd, condition="new")
        return _price(next((price for price in reversed(prices) if price.kind in _FIRST), None))
    market = [price for price in prices if price.kind in _MARKET] or [
        price for price in prices if price.kind != "launch"
    ]
    return _price(next((price for price in market if price.condition == basis), None))


def _price(found: HardwarePrice | None) -> Price | None:
    return None if found is None else Price(usd=found.price_usd, condition=found.condition)


def usd_per_speed(price: Price | None, rate: Figure | None) -> Figure | None:
    """Price of one unit of speed, with the price's range. [USD per TFLOP/s or per sample/s]"""
    return _derived(lambda usd, per_s: usd / per_s, price, rate)


def usd_per_gb(price: Price | None, gpu: Accelerator) -> Figure | None:
    """Price of a GB of memory. [USD/GB]"""
    return _derived(lambda usd, gb: usd / gb, price, gpu.memory_gb)


def gb_per_s_per_usd(price: Price | None, gpu: Accelerator) -> Figure | None:
    """Memory bandwidth that a dollar buys. [GB/s per USD]"""
    return _derived(lambda usd, rate: rate / usd, price, gpu.memory_bandwidth_gb_per_s)


def tflop_per_s_per_w(gpu: Accelerator, measure: Measure, evidence: Evidence) -> Figure | None:
    """Speed for each watt of rated power. [TFLOP/s per W]"""
    rate = speed(gpu, measure, evidence)
    if rate is None or gpu.tdp_w is None:
        return None
    return combined(lambda per_s, watts: per_s / watts, rate, gpu.tdp_w)


def saving(
    catalog: Catalog,
    evidence: Evidence,
    gpu: Accelerator,
    other: Accelerator,
    measure: Measure,
    basis: Basis,
) -> Figure | None:
    """By how much a unit of speed is cheaper with one GPU than with another: 0.67 is two thirds less. [-]

    `low` and `high` are the ends of the ranges of both prices, taken against and for the first.
    """
    pairs = [(purchase_price(catalog, card, basis), speed(card, measure, evidence)) for card in (gpu, other)]
    mine, theirs = (usd_per_speed(price, rate) for price, rate in pairs)
    if mine is None or theirs is None:
        return None
    middle = combined(lambda a, b: 1 - a / b, mine, theirs)
    ends = [
        1 - (mine.high or mine.value) / (theirs.low or theirs.value),
        1 - (mine.low or mine.value) / (theirs.high or theirs.value),
    ]
    return Figure(
        value=middle.value,
        low=ends[0],
        high=ends[1],
        sources=middle.sources,
        as_of=middle.as_of,
        estimate=middle.estimate,
    )


def _derived(formula: Callable[..., float], price: Price | None, figure: Figure | None) -> Figure | None:
    return None if price is None or figure is None else combined(formula, price.usd, figure)
