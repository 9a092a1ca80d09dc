"""Models whose speed on some cards is known: their fitted terms, from `data/transfer.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from planner.errors import CatalogError, Problem
from planner.performance.transfer.terms import TERMS, Terms
from planner.strict_yaml import parse

TRANSFER_FILE = Path(__file__).resolve().parents[3] / "data" / "transfer.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model in one size of input. `cards` are those on which it was measured alone."""

    model: str
    input: str
    unit: str
    terms: Terms
    exchanged_m_parameters: float  # of which each step exchanges the gradients
    usual_batch: float
    half_width_known_card: float  # of logs
    half_width_new_card: float
    cards: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """All known models by name in lower case, and how wide their predictions are on several GPUs."""

    models: Mapping[str, tuple[KnownModel, ...]]
    cards: frozenset[str]  # on which any of them was measured
    half_width_several_gpus: float


def load_transfer(path: Path = TRANSFER_FILE) -> Transfer:
    """Fitted terms of all known models, parsed once for each content.

    Raises
    ------
    CatalogError
        The file is missing or not as the fit writes it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CatalogError("catalog_invalid", [_problem(error.strerror or "an error", "a file")]) from None
    return _parse(content)


def _problem(found: str, expected: str) -> Problem:
    return Problem(file=TRANSFER_FILE.name, record="", field="", found=found, expected=expected)


@lru_cache(maxsize=4)
def _parse(content: bytes) -> Transfer:
    parsed = parse(content, file=TRANSFER_FILE.name)
    try:
        known = [_known(entry) for entry in parsed.data["models"]]
        half_width_several_gpus = float(parsed.data["half_width_several_gpus"])
    except (KeyError, TypeError, ValueError) as error:
        raise CatalogError(
            "catalog_invalid",
            [*parsed.problems, _problem(f"an entry that can't be read ({error})", "what the fit writes")],
        ) from None
    by_name: dict[str, list[KnownModel]] = {}
    for model in known:
        by_name.setdefault(model.model.casefold(), []).append(model)
    return Transfer(
        models=MappingProxyType({name: tuple(models) for name, models in by_name.items()}),
        cards=frozenset(card for model in known for card in model.cards),
        half_width_several_gpus=half_width_several_gpus,
    )


def _known(entry: Mapping[str, Any]) -> KnownModel:
    return KnownModel(
        model=entry["model"],
        input=entry["input"],
        unit=entry["unit"],
        terms=Terms(
            logs=tuple(float(entry["terms"][name]) for name in TERMS),
            sources=tuple((str(name), float(value)) for name, value in entry["stacks"].items()),
        ),
        exchanged_m_parameters=float(entry["exchanged_m_parameters"]),
        usual_batch=float(entry["usual_batch"]),
        half_width_known_card=float(entry["half_width_known_card"]),
        half_width_new_card=float(entry["half_width_new_card"]),
        cards=frozenset(entry["cards"]),
    )
