"""Benchmarks as they ship: fitted targets, from `data/targets.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from planner.performance.data_file import as_written, read_content
from planner.performance.time_to_target.model import NOVELTIES, Setup, Target
from planner.performance.time_to_target.samples import BatchLaw
from planner.performance.time_to_target.step import TERMS, StepTerms

TARGETS_FILE = Path(__file__).resolve().parents[3] / "data" / "targets.yaml"
_DIGITS = 4


def load_targets(path: Path = TARGETS_FILE) -> Mapping[str, Target]:
    """Fitted targets by benchmark, parsed once for each content.

    Raises
    ------
    CatalogError
        The file is missing or not as the fit writes it.
    """
    return _parse(read_content(path))


@lru_cache(maxsize=4)
def _parse(content: bytes) -> Mapping[str, Target]:
    return as_written(content, file=TARGETS_FILE.name, record=_targets)


def _targets(document: Mapping[str, Any]) -> Mapping[str, Target]:
    return MappingProxyType({entry["id"]: _target(entry) for entry in document["targets"]})


def _target(entry: Mapping[str, Any]) -> Target:
    setups = [text.split() for text in entry["setups"]]
    return Target(
        benchmark=entry["id"],
        law=BatchLaw(
            log_samples=float(entry["law"]["log_samples"]),
            reference_batch=float(entry["law"]["reference_batch"]),
            slope=float(entry["law"]["slope"]),
            curvature=float(entry["law"]["curvature"]),
        ),
        terms=StepTerms(
            logs=tuple(float(entry["terms"][name]) for name in TERMS),
            progress=float(entry["progress"]),
            overhead_min=float(entry["overhead_min"]),
        ),
        work_offsets=_offsets(entry["work_offsets"]),
        time_offsets=_offsets(entry["time_offsets"]),
        setups=tuple(Setup(gpu=gpu, gpus=int(gpus), batch=float(batch)) for gpu, gpus, batch in setups),
        newest=float(entry["newest"]),
        half_widths=MappingProxyType({novelty: float(entry["half_widths"][novelty]) for novelty in NOVELTIES}),
    )


def _offsets(given: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, float]]:
    return MappingProxyType(
        {
            name: MappingProxyType({str(key): float(value) for key, value in keys.items()})
            for name, keys in given.items()
        }
    )


def as_entry(target: Target) -> dict[str, Any]:
    """A target as it is written."""
    return {
        "id": target.benchmark,
        "law": {
            "log_samples": round(target.law.log_samples, _DIGITS),
            "reference_batch": float(f"{target.law.reference_batch:.6g}"),
            "slope": round(target.law.slope, _DIGITS),
            "curvature": round(target.law.curvature, _DIGITS),
        },
        "terms": {name: round(value, _DIGITS) for name, value in zip(TERMS, target.terms.logs, strict=True)},
        "progress": round(target.terms.progress, _DIGITS),
        "overhead_min": float(f"{target.terms.overhead_min:.4g}"),
        "newest": target.newest,
        "half_widths": {novelty: round(width, _DIGITS) for novelty, width in target.half_widths.items()},
        "work_offsets": _rounded(target.work_offsets),
        "time_offsets": _rounded(target.time_offsets),
        "setups": [f"{setup.gpu} {setup.gpus} {setup.batch:g}" for setup in target.setups],
    }


def _rounded(offsets: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {name: {key: round(value, _DIGITS) for key, value in sorted(keys.items())} for name, keys in offsets.items()}
