"""`data/claims.yaml` and `data/software.yaml` -> frozen records, reporting every problem of both at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from planner.advise.claims import schema as s
from planner.advise.claims.records import Claim
from planner.catalog.figures import Figure, Source
from planner.errors import CatalogError, Problem
from planner.strict_yaml import Parsed, describe, parse
from planner.validation import explain

DATA_FOLDER = Path(__file__).resolve().parents[3] / "data"
CLAIMS_FILE = "claims.yaml"
SOFTWARE_FILE = "software.yaml"
SCHEMA_VERSION = 1

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuda:
    """A CUDA toolkit: the Linux driver of its first and last release, the newest compute capability it knows."""

    version: str
    driver: str
    last_driver: str
    last_compute_capability: str
    sources: tuple[str, ...]
    as_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cudnn:
    """A cuDNN release and the newest CUDA toolkit it supports."""

    version: str
    last_cuda: str
    sources: tuple[str, ...]
    as_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """The least Linux driver for all toolkits of a major version (minor-version compatibility)."""

    cuda_major: int
    driver: str
    sources: tuple[str, ...]
    as_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimData:
    """The claims, the numbers only they need, and which software goes with which."""

    claims: tuple[Claim, ...]
    observations: Mapping[str, Figure]
    cuda: Mapping[str, Cuda]
    cudnn: Mapping[str, Cudnn]
    compatibility: Mapping[str, Compatibility]
    sources: Mapping[str, Source]


def load_claim_data(folder: Path | None = None) -> ClaimData:
    """Read the two files of a folder (by default those shipped), once for each content.

    Raises
    ------
    CatalogError
        Something is wrong with the files: all of it.
    """
    place = DATA_FOLDER if folder is None else folder
    contents = []
    for name in (CLAIMS_FILE, SOFTWARE_FILE):
        try:
            contents.append((place / name).read_bytes())
        except OSError as error:
            found, expected = error.strerror or "an error", f"a readable file in the folder {place}"
            problem = Problem(file=name, record="file", field="", found=found, expected=expected)
            raise CatalogError("catalog_invalid", [problem]) from None
    return _read(*contents)


@lru_cache(maxsize=4)
def _read(claims: bytes, software: bytes) -> ClaimData:
    first, second = _File(parse(claims, file=CLAIMS_FILE)), _File(parse(software, file=SOFTWARE_FILE))
    sources = {**first.sources(), **second.sources()}
    read_claims = first.entries("claims", s.ClaimIn, "id")
    observations = first.entries("observations", s.ObservationIn, "id")
    cuda = second.entries("cuda", s.CudaIn, "version")
    cudnn = second.entries("cudnn", s.CudnnIn, "version")
    compatibility = second.entries("compatibility", s.CompatibilityIn, "cuda_major")
    for file, entries in ((first, [*read_claims, *observations]), (second, [*cuda, *cudnn, *compatibility])):
        file.check_sources(entries, sources)
        file.check_keys()
    problems = [*first.problems, *second.problems]
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return ClaimData(
        claims=tuple(_claim(entry) for _, entry in read_claims),
        observations=MappingProxyType({entry.id: _observation(entry, sources) for _, entry in observations}),
        cuda=MappingProxyType({entry.version: Cuda(**_software(entry)) for _, entry in cuda}),
        cudnn=MappingProxyType({entry.version: Cudnn(**_software(entry)) for _, entry in cudnn}),
        compatibility=MappingProxyType(
            {str(entry.cuda_major): Compatibility(**_software(entry)) for _, entry in compatibility}
        ),
        sources=MappingProxyType(dict(sorted(sources.items()))),
    )


class _File:
    """One parsed file; every check adds to `problems` and none stops the others."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.problems: list[Problem] = list(parsed.problems)
        self.known = {"schema_version", "sources"}
        version = parsed.data.get("schema_version")
        if version != SCHEMA_VERSION or isinstance(version, bool):
            self.report(("schema_version",), describe(version), str(SCHEMA_VERSION))

    def report(self, place: tuple[str | int, ...], found: str, expected: str) -> None:
        if not self.parsed.is_faulty(place):
            self.problems.append(self.parsed.problem(place, found, expected))

    def check(self, value: Any, place: tuple[str | int, ...], model: type[_Model]) -> _Model | None:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.problems += explain(error, parsed=self.parsed, path=place, model=model)
            return None

    def sources(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        raw = self.parsed.data.get("sources", {})
        if not isinstance(raw, dict):
            self.report(("sources",), describe(raw), "sources by id")
            return found
        for id, value in raw.items():
            entry = self.check(value, ("sources", id), s.SourceIn)
            if entry is not None:
                found[id] = Source(id=id, **entry.model_dump())
        return found

    def entries(self, section: str, model: type[_Model], key: str) -> list[tuple[tuple[str | int, ...], _Model]]:
        """Sound entries of a list with their places; two with one key are a problem."""
        self.known.add(section)
        raw = self.parsed.data.get(section, [])
        if not isinstance(raw, list):
            self.report((section,), describe(raw), "a list")
            return []
        found: list[tuple[tuple[str | int, ...], _Model]] = []
        seen: set[object] = set()
        for index, value in enumerate(raw):
            entry = self.check(value, (section, index), model)
            if entry is None:
                continue
            name = getattr(entry, key)
            if name in seen:
                self.report((section, index, key), describe(name), "each entry once")
            seen.add(name)
            found.append(((section, index), entry))
        return found

    def check_sources(self, entries: list[tuple[tuple[str | int, ...], Any]], known: Mapping[str, Source]) -> None:
        for place, entry in entries:
            if not entry.source and not isinstance(entry, s.ClaimIn):
                self.report(place, "a figure without a source", "a source")
            for source in entry.source:
                if source not in known:
                    self.report((*place, "source"), f"the unknown source '{source}'", "an entry of sources")

    def check_keys(self) -> None:
        for key in self.parsed.data:
            if key not in self.known:
                self.report((key,), "an unknown key", ", ".join(sorted(self.known)))


def _claim(entry: s.ClaimIn) -> Claim:
    fields = entry.model_dump(exclude={"source", "figures"})
    return Claim(**fields, figures=tuple(entry.figures), sources=tuple(entry.source))


def _observation(entry: s.ObservationIn, sources: Mapping[str, Source]) -> Figure:
    estimate = any(sources[source].kind == "estimate" for source in entry.source)
    return Figure(
        value=entry.value, sources=entry.source, as_of=entry.as_of, as_of_note=entry.as_of_note, estimate=estimate
    )


def _software(entry: BaseModel) -> dict[str, Any]:
    fields = entry.model_dump(exclude={"id", "note", "as_of_note", "source"})
    return {**fields, "sources": entry.source}  # type: ignore[attr-defined]
