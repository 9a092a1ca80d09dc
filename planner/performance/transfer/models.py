"""Models whose speed on some cards is known: what the fit found of them, from `data/transfer.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from planner.performance.data_file import as_written, read_content
from planner.performance.transfer.cards import Card, PrecisionClass
from planner.performance.transfer.likeness import Array, Places
from planner.performance.transfer.links import Kind, LinkRates
from planner.performance.transfer.posterior import Measured
from planner.performance.transfer.singles import code, places_of
from planner.performance.transfer.software import source_of_stack
from planner.performance.transfer.terms import TERMS, basis_of
from planner.performance.transfer.widths import ModelWidths

_BEFORE_BATCHES = 4  # figures of a run: GPU, precision, software and weight
TRANSFER_FILE = Path(__file__).resolve().parents[3] / "data" / "transfer.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model in one size of input. `cards` are those on which it was measured alone."""

    at: int  # place among all models
    model: str
    input: str
    unit: str
    terms: tuple[float, ...]  # logs of seconds of a sample, in the order of terms.TERMS
    exchanged_m_parameters: float  # of which each step exchanges the gradients
    waits: float  # share of the compute, beyond the usual, that several cards wait for each doubling
    usual_batch: float
    widths: ModelWidths
    cards: frozenset[str]
    runs: frozenset[tuple[str, str, str]]  # GPU, precision and source of each measured run
    sources: frozenset[str]  # software, without releases


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transfer:
    """All known models by name in lower case, what of them their terms leave unexplained, and links."""

    table: str  # digest of the table that it was fitted to
    models: Mapping[str, tuple[KnownModel, ...]]
    cards: frozenset[str]  # on which any of them was measured
    vendors: frozenset[str]  # of these cards
    features: Array  # of each card and precision that was measured
    rows: Measured  # what was measured but for the speeds, which only the terms and weights keep
    terms: Array  # of each model, as `rows` count them
    term_deviations: Array  # before any row was seen
    stack_factor: float  # expected deviations that the half-width in new software is
    places: Places  # runs whose residuals are kept, and
    weights: Array  # what each of them weighs in another's
    model_codes: Mapping[str, int]
    gpu_codes: Mapping[str, int]
    stack_codes: Mapping[str, int]
    newest_stack: str
    links: LinkRates
    exchange_widths: Mapping[str, float]


def load_transfer(path: Path = TRANSFER_FILE) -> Transfer:
    """What is known of all models, parsed once for each content.

    Raises
    ------
    CatalogError
        The file is missing or not as the fit writes it.
    """
    return _parse(read_content(path))


@lru_cache(maxsize=4)
def _parse(content: bytes) -> Transfer:
    return as_written(content, file=TRANSFER_FILE.name, record=transfer_of)


def transfer_of(document: Mapping[str, Any]) -> Transfer:
    """What the fit writes, as records."""
    known = [_known(at, entry) for at, entry in enumerate(document["models"])]
    features = {
        (str(gpu), _precision(precision)): np.array([float(value) for value in values])
        for gpu, entries in document["cards"].items()
        for precision, values in entries.items()
    }
    runs = [
        (str(entry["model"]), str(gpu), _precision(precision), str(stack), float(weight))
        for entry in document["models"]
        for gpu, precision, stack, weight, *_ in entry["runs"]
    ]
    models, gpus, precisions, stacks, weights = map(list, zip(*runs, strict=True))
    codes = (code(models), code(gpus), code(stacks))
    cards = [features[gpu, precision] for gpu, precision in zip(gpus, precisions, strict=True)]
    places = places_of(codes[0], codes[1], precisions, stacks, codes[2], np.array(cards))
    batches = [
        [float(batch) for batch in run[_BEFORE_BATCHES:]] for entry in document["models"] for run in entry["runs"]
    ]
    basis = [
        basis_of(Card.of_features(card.tolist()), precision, batch)
        for card, precision, of_run in zip(cards, precisions, batches, strict=True)
        for batch in of_run
    ]
    of_runs = np.repeat(np.arange(len(runs)), [len(of_run) for of_run in batches])
    workloads = np.repeat(np.arange(len(known)), [len(entry["runs"]) for entry in document["models"]])
    by_name: dict[str, list[KnownModel]] = {}
    for model in known:
        by_name.setdefault(model.model.casefold(), []).append(model)
    return Transfer(
        table=str(document["table"]),
        models=MappingProxyType({name: tuple(models) for name, models in by_name.items()}),
        cards=frozenset(card for model in known for card in model.cards),
        vendors=frozenset(document["vendors"]),
        features=np.array(list(features.values())),
        rows=Measured(
            places=places.take(of_runs),
            workload=workloads[of_runs],
            basis=np.array(basis),
            log_speed=np.full(len(of_runs), np.nan),
        ),
        terms=np.array([model.terms for model in known]),
        term_deviations=np.array([float(value) for value in document["term_deviations"]]),
        stack_factor=float(document["stack_factor"]),
        places=places,
        weights=np.array(weights),
        model_codes=MappingProxyType(dict(zip(models, codes[0].tolist(), strict=True))),
        gpu_codes=MappingProxyType(dict(zip(gpus, codes[1].tolist(), strict=True))),
        stack_codes=MappingProxyType(dict(zip(stacks, codes[2].tolist(), strict=True))),
        newest_stack=str(document["newest_stack"]),
        links=LinkRates(**{name: float(value) for name, value in document["links"].items()}),
        exchange_widths=MappingProxyType({kind: float(document["exchange_widths"][kind]) for kind in get_args(Kind)}),
    )


def _precision(text: str) -> PrecisionClass:
    found = next((precision for precision in get_args(PrecisionClass) if precision == text), None)
    if found is None:
        raise ValueError(text)
    precision: PrecisionClass = found
    return precision


def _known(at: int, entry: Mapping[str, Any]) -> KnownModel:
    return KnownModel(
        at=at,
        model=entry["model"],
        input=entry["input"],
        unit=entry["unit"],
        terms=tuple(float(entry["terms"][name]) for name in TERMS),
        exchanged_m_parameters=float(entry["exchanged_m_parameters"]),
        waits=float(entry["waits"]),
        usual_batch=float(entry["usual_batch"]),
        widths=ModelWidths(**{name: float(value) for name, value in entry["half_widths"].items()}),
        cards=frozenset(str(gpu) for gpu, *_ in entry["runs"]),
        runs=frozenset(
            (str(gpu), str(precision), source_of_stack(stack)) for gpu, precision, stack, *_ in entry["runs"]
        ),
        sources=frozenset(source_of_stack(stack) for _, _, stack, *_ in entry["runs"]),
    )
