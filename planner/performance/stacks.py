"""Training stacks that were measured: how to know one by its name, its kernels, and how far it is off the formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from planner.errors import CatalogError
from planner.performance.data_file import file_problem, parse_versioned, read_content
from planner.workload.settings import Software

STACKS_FILE = Path(__file__).resolve().parents[2] / "data" / "stacks.yaml"

Elementwise = Literal["fused", "unfused", "by model"]
"""Kernels outside matmuls: fused; one eager kernel each; or, in eager code, as its model has them: norms with their
own parameters and gated blocks (Llama) are written in single kernels, older models (GPT) in few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A training code. `offset` is the log by which measured speeds lie above the formulas, 0 where never measured."""

    id: str
    name: str
    frameworks: tuple[str, ...]  # texts in the name of a framework that mean this one, in lower case
    sources: tuple[str, ...]  # texts in the name of a source that mean it
    software: Software | None  # what it is, whatever else is said
    elementwise: Elementwise
    drops_padding: bool
    offset: float = 0.0
    rows: int = 0  # measured, from which the offset was fitted
    by_gpu: Mapping[str, float] = field(default_factory=dict)  # further log offset on a GPU


UNKNOWN = Stack(
    id="",
    name="a stack that wasn't measured",
    frameworks=(),
    sources=(),
    software=None,
    elementwise="by model",
    drops_padding=False,
)


def load_stacks(path: Path = STACKS_FILE) -> tuple[Stack, ...]:
    """The stacks of a file (by default those shipped) in the order in which they are looked for, parsed once.

    Raises
    ------
    CatalogError
        The file is missing or has entries that can't be read.
    """
    return stacks_of(read_content(path))


@lru_cache(maxsize=4)
def stacks_of(content: bytes) -> tuple[Stack, ...]:
    """The stacks of a file with this content, as `load_stacks` gives them."""
    parsed, problems = parse_versioned(content, file=STACKS_FILE.name)
    stacks = []
    entries = parsed.data.get("stacks")
    if not isinstance(entries, list):
        problems.append(file_problem(STACKS_FILE.name, "no list of stacks", "stacks, a list"))
        entries = []
    for entry in entries:
        try:
            stacks.append(_stack(entry))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            record = str(entry.get("id", "")) if isinstance(entry, Mapping) else ""
            found = f"an entry that can't be read ({error})"
            problems.append(file_problem(STACKS_FILE.name, found, "the keys of a stack", record=record))
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return tuple(stacks)


def _stack(entry: Mapping[str, object]) -> Stack:
    elementwise = entry.get("elementwise", "by model")
    if elementwise not in ("fused", "unfused", "by model"):
        raise ValueError(f"elementwise {elementwise!r}")
    software = entry.get("software")
    if software not in (None, "eager", "compiled", "vendor"):
        raise ValueError(f"software {software!r}")
    gpus = entry.get("by_gpu", {})
    if not isinstance(gpus, Mapping):
        raise TypeError("offsets by GPU are expected")
    return Stack(
        id=str(entry["id"]),
        name=str(entry["name"]),
        frameworks=_texts(entry.get("frameworks")),
        sources=_texts(entry.get("sources")),
        software=software,
        elementwise=elementwise,
        drops_padding=bool(entry.get("drops_padding", False)),
        offset=float(entry.get("offset", 0.0)),  # type: ignore[arg-type]
        rows=int(entry.get("rows", 0)),  # type: ignore[call-overload]
        by_gpu=MappingProxyType({str(gpu): float(value) for gpu, value in gpus.items()}),
    )


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise TypeError("a list of texts is expected")
    return tuple(str(text).casefold() for text in value)


def find_stack(framework: str | None, source: str | None, stacks: tuple[Stack, ...]) -> Stack:
    """The stack that a framework or source names, or `UNKNOWN`; of several the first in the file."""
    said, cited = (framework or "").casefold(), (source or "").casefold()
    for stack in stacks:
        named = any(text in said for text in stack.frameworks)
        if stack.sources:
            # Where both are given both must fit: one collection of results has several codes.
            from_there = any(text in cited for text in stack.sources)
            named = from_there and (named or not stack.frameworks)
        if named:
            return stack
    return UNKNOWN
