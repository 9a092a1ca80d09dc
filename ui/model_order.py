"""Models in the order of a list to choose from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from planner.catalog.records import Workload

_SIZE = re.compile(r",?\s+(small|medium|large|xl|\d+(\.\d+)?(x\d+)?\s?[bm]\b).*")


def model_order(workloads: Mapping[str, Workload], own: Collection[str] = ()) -> list[str]:
    """Ids of models: a scenario's own, language models, encoders, image models; each by family, then by size."""
    return sorted(workloads, key=lambda id: _place(workloads[id], own=id in own))


def _place(workload: Workload, *, own: bool) -> tuple[int, list[str | float], float]:
    spec = workload.transformer
    kind = 0 if own else 3 if spec is None else 2 if spec.encoder else 1
    return kind, by_number(_SIZE.sub("", workload.name.casefold())), workload.parameters.value


def by_number(name: str) -> list[str | float]:
    """Sorts names with numbers by their size: ResNet-50 before ResNet-101. Text and numbers alternate."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [float(part) if at % 2 else part for at, part in enumerate(parts)]
