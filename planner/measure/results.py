"""What was measured: one record for each kind of thing, and the report that holds them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from planner.catalog.records import Precision
from planner.measure.devices import Device
from planner.measure.timing import Timing
from planner.workload.settings import Checkpointing

Workload = Literal["matmul", "bandwidth", "gpt", "bert-large", "resnet-50"]
WORKLOADS: tuple[Workload, ...] = ("matmul", "bandwidth", "gpt", "bert-large", "resnet-50")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatmulRate:
    """Rate of the product of two square matrices."""

    precision: Precision
    size: int  # rows and columns
    tflop_per_s: float
    timing: Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """Rate of reading and writing memory, both counted."""

    kind: Literal["copy", "triad"]
    array_gb: float  # of one array
    gb_per_s: float
    timing: Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A model that is trained: what tables call it, and its size. Columns of language models are None for others."""

    workload: Workload
    model: str
    parameters: int
    unit: Literal["tokens", "samples"]
    input: str  # seq384 or 3x224x224
    seq_len: int | None = None
    layers: int | None = None
    d_model: int | None = None
    heads: int | None = None
    d_ff: int | None = None
    vocab: int | None = None
    gmacs: float | None = None  # forward, of a sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """Speed of training one model in one configuration."""

    shape: Shape
    framework: str
    optimizer: str
    precision: Precision
    amp: bool
    checkpointing: Checkpointing
    batch: int
    per_s: float  # tokens or samples
    timing: Timing
    allocated_gb: float | None = None
    reserved_gb: float | None = None
    mean_w: float | None = None  # of the board
    j_per_step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that wasn't measured, and why."""

    workload: Workload
    what: str
    reason: str


Result: TypeAlias = MatmulRate | Bandwidth | TrainingStep | Skipped


@dataclass(slots=True, kw_only=True)
class Report:
    """Everything a run of `measure` found. It grows meanwhile, so that nothing is lost when the run is stopped."""

    device: Device
    driver: str | None
    power: str  # how power was read, or why it wasn't
    quick: bool
    date: str
    results: list[Result] = field(default_factory=list)
    interrupted: bool = False

    @property
    def matmuls(self) -> list[MatmulRate]:
        """Rates of matrix products."""
        return [found for found in self.results if isinstance(found, MatmulRate)]

    @property
    def bandwidths(self) -> list[Bandwidth]:
        """Rates of memory."""
        return [found for found in self.results if isinstance(found, Bandwidth)]

    @property
    def steps(self) -> list[TrainingStep]:
        """Training steps."""
        return [found for found in self.results if isinstance(found, TrainingStep)]

    @property
    def skipped(self) -> list[Skipped]:
        """What wasn't measured."""
        return [found for found in self.results if isinstance(found, Skipped)]

    def gather(self, found: Iterable[Result]) -> None:
        """Add results as they come; an interruption ends it and keeps those that were there."""
        try:
            for result in found:
                self.results.append(result)
        except KeyboardInterrupt:
            self.interrupted = True
