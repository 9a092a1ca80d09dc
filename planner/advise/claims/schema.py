"""Pydantic mirror of `data/claims.yaml` and `data/software.yaml`."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from planner.advise.claims.records import Topic
from planner.catalog.fields import RecordIn, SourceIds, Strict, Text, Url, fault
from planner.strict_yaml import describe


def _version(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\d+(\.\d+)*", value):
        raise fault(describe(value), "a version in quotes, such as '515.65.01'")
    return value


def _kebab(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*", value):
        raise fault(describe(value), "lower-case words joined by -")
    return value


Version = Annotated[str, BeforeValidator(_version)]
Kebab = Annotated[str, AfterValidator(_kebab)]


class SourceIn(Strict):
    """Where a figure or a claim comes from."""

    title: Text
    url: Url | None = None
    retrieved: dt.date | None = None
    kind: Literal["published", "estimate", "definition"] = "published"
    note: str = ""


class ObservationIn(RecordIn):
    """A published number that only claims need."""

    value: float
    unit: Text
    meaning: Text


class ClaimIn(Strict):
    """A printed claim and how it is tested."""

    id: Kebab
    topic: Topic
    claim: Text
    rule: Text
    printed: float | None = None
    unit: str = ""
    about: bool = False
    tolerance: Annotated[float, Field(ge=0, le=1)] | None = None
    definition: Text
    figures: list[Text] = Field(default_factory=list)
    params: dict[str, Any] = Field(default_factory=dict)
    source: SourceIds = ()


class CudaIn(RecordIn):
    """A CUDA toolkit with the Linux drivers NVIDIA lists for it and the compute capabilities it compiles for."""

    version: Version
    driver: Version
    last_driver: Version
    last_compute_capability: Version


class CudnnIn(RecordIn):
    """A cuDNN release with the newest CUDA toolkit it supports."""

    version: Version
    last_cuda: Version


class CompatibilityIn(RecordIn):
    """The least Linux driver on which all toolkits of one major version run."""

    cuda_major: Annotated[int, Field(ge=1, le=99)]
    driver: Version
