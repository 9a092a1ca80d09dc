"""Reads data/uses.yaml: typical work by use and size, what inference takes, what is free, and what guides advise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, ValidationError, model_validator

from planner.catalog.fields import AsOf, FigureIn, Positive, RecordIn, Share, SourceIds, Strict, Text, fault
from planner.catalog.load import DATA_FOLDER
from planner.catalog.records import Figure, Source
from planner.catalog.schema import SourceIn
from planner.errors import CatalogError, Problem
from planner.strict_yaml import Path as Place
from planner.strict_yaml import parse
from planner.validation import explain

FILE = "uses.yaml"
SCHEMA_VERSION = 1

Use = Literal["teaching", "research", "training", "serving"]
Size = Literal["small", "medium", "large"]
USES: tuple[Use, ...] = get_args(Use)

Amount = Annotated[float, Field(gt=0, le=1e15)]
Number = Annotated[int, Field(ge=0, le=10**15)]


class SizeIn(Strict):
    """A class of models: the largest it holds, and what is assumed from a budget on where nothing is asked."""

    id: Size
    up_to_parameters: Number
    from_budget_cny: Number
    parameters: Number
    samples: Number


class UseIn(RecordIn):
    """Typical work of a month: runs with their limit, or for serving the peak of requests."""

    id: Use
    name: Text
    months: Annotated[int, Field(ge=1, le=84)]
    runs: dict[Size, Amount] = Field(default={})
    attempts_per_run: Annotated[float, Field(ge=1, le=100)] = 1.0
    deadline_h: dict[Size, Amount] = Field(default={})
    idle_tail_s: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    peak_per_s: dict[Size, Amount] = Field(default={})

    @model_validator(mode="after")
    def _one_kind_of_work(self) -> UseIn:
        sizes = set(get_args(Size))
        complete = set(self.peak_per_s) == sizes if self.id == "serving" else set(self.runs) == sizes
        if not complete or (self.runs and set(self.deadline_h) != sizes):
            raise fault("no work for some size", "runs with deadline_h, or for serving peak_per_s, of every size")
        return self


class InferenceIn(Strict):
    """Speed and memory of inference beside training."""

    speed_over_training: Positive
    decode_batch: Positive
    decode_bandwidth_share: Share
    load_at_peak: Share
    bytes_per_parameter: Positive
    adapter_share: Share
    geforce_licence_source: Text


class HostsIn(Strict):
    """Memory of the hosts by id, and the least of it over the memory of their cards."""

    source: SourceIds
    as_of: AsOf
    memory_over_gpu_memory: Amount
    memory_gb: dict[str, Amount]


class FreeIn(RecordIn):
    """Something that costs nothing."""

    id: Text
    name: Text
    gpu: Text
    gpu_h_per_month: Positive | None = None


class AskIn(Strict):
    """The question of a guide's case."""

    budget: Text
    use: Use
    parameters: Number
    samples: Number


class PickIn(Strict):
    """What a guide advises: cards, a complete machine, an instance type, or a provider's GPU."""

    id: Text
    name: Text
    gpu: Text | None = None
    gpus: Annotated[int, Field(ge=1, le=64)] = 1
    system: Text | None = None
    instance_type: Text | None = None
    provider: Text | None = None

    @property
    def rented(self) -> bool:
        """Whether the pick is a rental."""
        return self.instance_type is not None or self.provider is not None


class GuideIn(RecordIn):
    """A tier or scenario of buying guides."""

    id: Text
    name: Text
    uses: Annotated[list[Use], Field(min_length=1)]
    from_budget_cny: Number
    ask: AskIn
    picks: Annotated[list[PickIn], Field(min_length=1)]


class UsesFile(Strict):
    """The whole file."""

    schema_version: Literal[1]
    sources: dict[str, SourceIn]
    sizes: Annotated[list[SizeIn], Field(min_length=1)]
    uses: Annotated[list[UseIn], Field(min_length=1)]
    inference: InferenceIn
    hosts: HostsIn
    free: list[FreeIn]
    guides: list[GuideIn]

    def use(self, id: Use) -> UseIn:
        """Entry of a use."""
        return next(entry for entry in self.uses if entry.id == id)

    def size(self, id: Size) -> SizeIn:
        """Entry of a size."""
        return next(entry for entry in self.sizes if entry.id == id)

    def records(self) -> Mapping[str, Source]:
        """The sources as records."""
        return {id: Source(id=id, **entry.model_dump()) for id, entry in self.sources.items()}

    def figure(self, figure: FigureIn, source: SourceIds = (), as_of: AsOf | None = None) -> Figure:
        """A figure with the source and date of its record where it has none; estimates are marked."""
        sources = figure.source or source
        estimated = any(self.sources[id].kind == "estimate" for id in sources)
        return Figure(
            value=figure.value,
            low=figure.low,
            high=figure.high,
            sources=sources,
            as_of=figure.as_of or as_of,
            as_of_note=figure.as_of_note,
            estimate=estimated if figure.estimate is None else figure.estimate,
        )


def load_uses(folder: Path | None = None) -> UsesFile:
    """The uses of a folder of data files; unchanged content is read once.

    Raises
    ------
    CatalogError
        Something is wrong with the file: all of it.
    """
    path = (DATA_FOLDER if folder is None else Path(folder)) / FILE
    try:
        return _read(path.read_bytes())
    except OSError as error:
        problem = Problem(
            file=FILE, record="file", field="", found=error.strerror or "an error", expected="a readable file"
        )
        raise CatalogError("catalog_invalid", [problem]) from None


@lru_cache(maxsize=4)
def _read(content: bytes) -> UsesFile:
    parsed = parse(content, file=FILE)
    problems = list(parsed.problems)
    if problems:
        raise CatalogError("catalog_invalid", problems)
    try:
        uses = UsesFile.model_validate(parsed.data)
    except ValidationError as error:
        raise CatalogError(
            "catalog_invalid", explain(error, parsed=parsed, path=(), model=UsesFile) or problems
        ) from None
    cited: dict[str, Place] = {uses.inference.geforce_licence_source: ("inference", "geforce_licence_source")}
    cited.update((id, ("hosts", "source")) for id in uses.hosts.source)
    for section in ("uses", "free", "guides"):
        for index, entry in enumerate(getattr(uses, section)):
            cited.update((id, (section, index, "source")) for id in entry.source)
    for key in InferenceIn.model_fields:
        figure = getattr(uses.inference, key)
        if isinstance(figure, FigureIn):
            cited.update((id, ("inference", key, "source")) for id in figure.source or ("",))
    problems += [
        parsed.problem(place, f"the unknown source '{id}'", "an entry of sources")
        for id, place in cited.items()
        if id not in uses.sources
    ]
    problems += [
        parsed.problem(("sources", id), "a source that nothing cites", "it cited, or left out")
        for id in uses.sources
        if id not in cited
    ]
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return uses
