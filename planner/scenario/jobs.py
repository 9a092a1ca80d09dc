"""Work of a scenario: jobs, and models of the user's own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from planner.catalog.records import Precision, Term
from planner.scenario.base import Model
from planner.scenario.values import (
    AtLeastOne,
    Count,
    Growth,
    JobClass,
    NonNegative,
    PlannedMonth,
    Positive,
    Share,
    Switch,
    check_text,
    check_whole,
)
from planner.validation import FieldError
from planner.workload.job import Arrivals
from planner.workload.settings import AdapterTargets, Checkpointing, Method, Optimizer


def _config(value: object) -> object:
    if isinstance(value, dict | str):
        return value
    raise ValueError("the keys of a config.json, or its text")


class Work(Model):
    """What one run is: its sequences, its batch, and its amount of work in tokens or in samples."""

    seq_len: Count | None = None
    global_batch: Count | None = None
    tokens: Positive | None = None
    samples: Positive | None = None
    epochs: Positive | None = None

    @model_validator(mode="after")
    def _one_amount_of_work(self) -> Work:
        if self.tokens is not None and (self.samples is not None or self.epochs is not None):
            raise FieldError("tokens", expected="either 'tokens', or 'samples' with 'epochs', not both")
        return self


class JobInput(Work):
    """Work to be done again and again: a workload with its amount, settings, frequency and limits."""

    workload: str
    precision: Precision | None = None
    micro_batch: Count | None = None
    checkpointing: Checkpointing | None = None
    method: Method = "full"
    optimizer: Optimizer | None = None
    adapter_rank: Count | None = None
    adapter_targets: AdapterTargets | None = None
    gpus: Count | None = None
    max_gpus: Count = 64
    throughput: dict[str, Positive] = Field(default_factory=dict)
    runs_per_month: Positive
    growth_per_month: Growth = 0.0
    seasonality: Annotated[list[NonNegative], Field(min_length=12, max_length=12)] | None = None
    runs_by_month: dict[PlannedMonth, NonNegative] = Field(default_factory=dict)
    attempts_per_run: AtLeastOne | None = None
    job_class: JobClass = Field(default="development", alias="class")
    deadline_h: Positive | None = None
    group: str | None = None
    priority: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=9)] = 0
    submitted_together: Count = 1
    arrivals: Arrivals = "even"
    local_share: Share | None = None
    regions: list[str] = Field(default_factory=list)
    terms: Annotated[list[Term], Field(min_length=1)] | None = None
    in_house: Switch = False
    overflow: Switch = True
    only_on: Annotated[list[str], Field(min_length=1)] | None = None  # ids of machines, offers, GPUs, providers
    not_on: list[str] = Field(default_factory=list)
    checkpoints: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=1_000_000)] = 0
    checkpoint_s: NonNegative = 0.0
    eval_share: Share = 0.0
    restarts: Switch = False
    upload_gb_per_run: NonNegative = 0.0
    egress_gb_per_run: NonNegative = 0.0


class ModelInput(Work):
    """A model that the catalog lacks, described by its config.json, with the settings of its usual recipe."""

    name: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    config: Annotated[Any, BeforeValidator(_config)]  # what is wrong with a key is said when it is read
    precision: Precision = "bf16"
