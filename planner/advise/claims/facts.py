"""Figures by id, wherever they stand, and an inquiry that remembers which ones a verdict rests on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from planner.advise.claims.data import ClaimData
from planner.catalog.hardware import PRECISIONS
from planner.catalog.records import Catalog, Fact, Figure, Gpu, PartialGpu
from planner.catalog.source_ids import MEASUREMENTS
from planner.performance.evidence import Evidence

_RATE = "_dense_tflop_per_s"
_FRACTION = "_matmul_fraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything a claim may be held against."""

    catalog: Catalog
    evidence: Evidence
    data: ClaimData
    today: dt.date

    def gpu(self, id: str) -> Gpu | PartialGpu | None:
        """An accelerator by id, also a partly known one."""
        return self.catalog.gpus.get(id) or self.catalog.partial_gpus.get(id)

    def figure(self, id: str) -> Figure | Fact | None:
        """A figure by id, or None where it isn't known.

        `gpus.<id>.<name>`, `systems.<id>.<name>`, `hardware.<id>.price_usd`, `offers.<id>.price_usd_per_h`,
        `workloads.<id>.parameters`, `assumptions.<id>`, `measurements.<id>`, `observations.<id>`, and
        `software.cuda-<version>`, `software.cudnn-<version>`, `software.compatibility-<major>`.
        """
        kind, _, rest = id.partition(".")
        record_id, _, name = rest.rpartition(".")
        if kind == "gpus":
            return _gpu_figure(self.gpu(record_id), name)
        if kind == "assumptions":
            entry = self.catalog.assumptions.get(rest)
            return None if entry is None else entry.figure
        if kind == "observations":
            return self.data.observations.get(rest)
        if kind == "measurements":
            return self._measured(rest)
        if kind == "software":
            return self._software(rest)
        records = {
            "systems": self.catalog.systems,
            "hardware": self.catalog.hardware,
            "offers": self.catalog.offers,
            "workloads": self.catalog.workloads,
        }
        found = getattr(records.get(kind, {}).get(record_id), name, None)
        return found if isinstance(found, Figure | Fact) else None

    def _measured(self, id: str) -> Figure | None:
        row = self.evidence.find(id)
        if row is None:
            return None
        return Figure(value=row.throughput, sources=(f"{MEASUREMENTS}{id}",), as_of=row.date or None)

    def _software(self, id: str) -> Fact | None:
        kind, _, version = id.partition("-")
        if kind == "cuda" and version in self.data.cuda:
            row = self.data.cuda[version]
            return Fact(value=row.driver, sources=row.sources, as_of=row.as_of)
        if kind == "cudnn" and version in self.data.cudnn:
            release = self.data.cudnn[version]
            return Fact(value=release.last_cuda, sources=release.sources, as_of=release.as_of)
        if kind == "compatibility" and version in self.data.compatibility:
            rule = self.data.compatibility[version]
            return Fact(value=rule.driver, sources=rule.sources, as_of=rule.as_of)
        return None


def _gpu_figure(gpu: Gpu | PartialGpu | None, name: str) -> Figure | Fact | None:
    if gpu is None:
        return None
    for precision in PRECISIONS:
        if name == precision + _RATE:
            return gpu.dense_tflop_per_s.get(precision)
        if name == precision + _FRACTION:
            return gpu.matmul_fraction.get(precision)
    found = getattr(gpu, name, None)
    if found is None:
        found = getattr(gpu.spec, name, None)
    return found if isinstance(found, Figure | Fact) else None


class MissingFigureError(LookupError):
    """A figure that a rule can't do without isn't known; `id` is its id."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(id)


@dataclass(slots=True, kw_only=True)
class Inquiry:
    """One claim's look at the facts: what it reads is what its verdict rests on."""

    facts: Facts
    read: dict[str, Figure | Fact] = field(default_factory=dict)

    def find(self, id: str) -> float | None:
        """Value of a figure, or None where it isn't known."""
        found = self.facts.figure(id)
        if not isinstance(found, Figure):
            return None
        self.read[id] = found
        return found.value

    def value(self, id: str) -> float:
        """Value of a figure; raises MissingFigureError where it isn't known."""
        found = self.find(id)
        if found is None:
            raise MissingFigureError(id)
        return found

    def figure(self, id: str) -> Figure:
        """A figure with its range; raises MissingFigureError where it isn't known."""
        self.value(id)
        found = self.read[id]
        assert isinstance(found, Figure)
        return found

    def text(self, id: str) -> str:
        """A fact in words or a version; raises MissingFigureError where it isn't known."""
        found = self.facts.figure(id)
        if not isinstance(found, Fact):
            raise MissingFigureError(id)
        self.read[id] = found
        return found.value

    def name(self, id: str) -> str:
        """Name of the card, system or workload that a figure belongs to, for a reader."""
        kind, _, rest = id.partition(".")
        record_id = rest.rpartition(".")[0]
        catalog = self.facts.catalog
        record: object | None = None
        if kind == "gpus":
            record = self.facts.gpu(record_id)
        elif kind == "systems":
            record = catalog.systems.get(record_id)
        elif kind == "workloads":
            record = catalog.workloads.get(record_id)
        return str(getattr(record, "name", rest))
