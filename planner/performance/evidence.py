"""Published measurements of training speed: the record of one, and the set that an estimate may look at."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from planner.catalog.records import Precision, Source
from planner.errors import CatalogError, Problem
from planner.performance.own_offset import OwnOffset
from planner.strict_yaml import parse
from planner.workload.settings import Checkpointing

MEASUREMENTS_FOLDER = Path(__file__).resolve().parents[2] / "data" / "measurements"
LANGUAGE_FILE = "llm_throughput.csv"
SAMPLE_FILE = "dl_throughput.csv"
SOURCES_FILE = "sources.yaml"
OWN = "own:"  # begins ids and sources of the user's own measurements

TRANSFER = "transfer"
Use = Literal["evidence", "fit", "compare", "transfer"]
"""`evidence` may answer a plan, `fit` only supports the constants, `compare` only shows what other software reaches, on
`transfer` only the transfer between cards rests."""

# Automatic mixed precision and pure half precision are one class: both multiply in 16 bit and add in 32.
PRECISIONS: Mapping[str, Precision] = MappingProxyType(
    {
        "amp-fp16": "fp16",
        "amp-bf16": "bf16",
        "fp16": "fp16",
        "bf16": "bf16",
        "tf32": "tf32",
        "fp32": "fp32",
        "fp8": "fp8",
        "nvfp4": "fp8",  # not told apart
    }
)


def find_precision(text: str | None) -> Precision | None:
    """The precision that a table's cell means, None for one that isn't known."""
    return PRECISIONS.get((text or "").casefold().removeprefix("amp-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured training speed with the configuration it was reached in. Throughput counts all GPUs of the run."""

    id: str
    source: str
    date: str
    gpu: str
    gpus: int
    gpus_per_node: int
    model: str
    precision: Precision
    throughput: float
    unit: Literal["tokens_per_s", "samples_per_s"]
    micro_batch: int
    micro_steps: float
    global_batch: int
    seq_len: int | None
    checkpointing: Checkpointing
    sharded: bool
    parameters: float
    gmacs: float
    activations_m: float
    use: Use
    framework: str
    notes: str
    input: str = ""  # of one sample, such as 3x224x224; empty of language models
    spread: float | None = None  # of an own measurement's samples, over their median [-]

    @property
    def fit_only(self) -> bool:
        """Whether the row answers no plan."""
        return self.use != "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The measurements an estimate may look at, and a hash of what they are."""

    measurements: tuple[Measurement, ...]
    content_hash: str
    by_id: Mapping[str, Measurement]
    by_model: Mapping[str, tuple[Measurement, ...]]
    known_gpus: frozenset[tuple[str, str]]  # (unit, GPU) that the constants have been fitted on
    known_precisions: frozenset[Precision]
    sources: Mapping[str, Source]  # where the rows come from
    for_transfer: tuple[Measurement, ...] = ()  # rows on which the transfer between cards rests beside `measurements`
    samples: bytes = field(default=b"", repr=False)  # table of the rows counted in samples, as it was read
    complete: bool = True  # whether nothing of it was left out
    own: tuple[Measurement, ...] = ()  # the user's; they come before all others, and no constant rests on them
    own_by_subject: Mapping[tuple[str, str], tuple[Measurement, ...]] = field(default_factory=dict)  # model, GPU
    own_contents: Mapping[str, str] = field(default_factory=dict)  # names of the files they came from, by their hash
    offsets: tuple[OwnOffset, ...] = ()  # what they say of other configurations; nothing once rows were left out

    def find(self, id: str) -> Measurement | None:
        """The measurement with an id, or None."""
        return self.by_id.get(id)

    def _kept(self, keep: Callable[[Measurement], bool], reason: str) -> Evidence:
        found = _evidence(
            tuple(filter(keep, self.measurements)),
            f"{self.content_hash} {reason}",
            self.sources,
            tuple(filter(keep, self.for_transfer)),
            self.samples,
        )
        own = tuple(filter(keep, self.own))
        return replace(found, complete=False, own_contents=self.own_contents, **_own_fields(found, own))

    def without_gpu(self, gpu_id: str) -> Evidence:
        """The same evidence as if this GPU had never been measured."""
        return self._kept(lambda m: m.gpu != gpu_id, f"without {gpu_id}")

    def without_ids(self, ids: Collection[str]) -> Evidence:
        """The same evidence without these rows."""
        return self._kept(lambda m: m.id not in ids, "without " + ",".join(sorted(ids)))


def _evidence(
    measurements: tuple[Measurement, ...],
    content_hash: str,
    sources: Mapping[str, Source],
    for_transfer: tuple[Measurement, ...],
    samples: bytes,
) -> Evidence:
    by_model: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        by_model.setdefault(measurement.model, []).append(measurement)
    return Evidence(
        measurements=measurements,
        content_hash=content_hash,
        by_id=MappingProxyType({m.id: m for m in reversed((*measurements, *for_transfer))}),
        by_model=MappingProxyType({model: tuple(rows) for model, rows in by_model.items()}),
        known_gpus=frozenset((m.unit, m.gpu) for m in measurements if m.use != "compare"),
        known_precisions=frozenset(m.precision for m in measurements),
        sources=sources,
        for_transfer=for_transfer,
        samples=samples,
    )


def _own_fields(evidence: Evidence, own: tuple[Measurement, ...]) -> dict[str, Any]:
    """The fields that hold own rows; their ids are found beside those of the published ones."""
    by_subject: dict[tuple[str, str], list[Measurement]] = {}
    for row in own:
        by_subject.setdefault((row.model.casefold(), row.gpu), []).append(row)
    return {
        "own": own,
        "own_by_subject": MappingProxyType({subject: tuple(rows) for subject, rows in by_subject.items()}),
        "by_id": MappingProxyType({**evidence.by_id, **{row.id: row for row in own}}),
    }


def add_own(evidence: Evidence, rows: tuple[Measurement, ...], source: Source, content: bytes) -> Evidence:
    """The same evidence with rows of the user's own, from a file with this content."""
    digest = content_digest(content)
    return replace(
        evidence,
        content_hash=f"{evidence.content_hash} {source.id} {digest}",
        sources=MappingProxyType({**evidence.sources, source.id: source}),
        own_contents=MappingProxyType({**evidence.own_contents, digest: source.id.removeprefix(OWN)}),
        **_own_fields(evidence, (*evidence.own, *rows)),
    )


def content_digest(content: bytes) -> str:
    """What two files have in common only if they are equal."""
    return hashlib.sha256(content).hexdigest()


def load_evidence(folder: Path | None = None) -> Evidence:
    """Measurements of a folder (by default those shipped), parsed once for each content.

    Raises
    ------
    CatalogError
        A file is missing, isn't text, or has rows that can't be read: all of them.
    """
    place = MEASUREMENTS_FOLDER if folder is None else folder
    contents = []
    for name in (LANGUAGE_FILE, SAMPLE_FILE, SOURCES_FILE):
        try:
            contents.append((place / name).read_bytes())
        except OSError as error:
            raise CatalogError(
                "catalog_invalid", [_problem(name, "", error.strerror or "an error", "a file")]
            ) from None
    return _parse(*contents)


def _problem(file: str, record: str, found: str, expected: str) -> Problem:
    return Problem(file=f"measurements/{file}", record=record, field="", found=found, expected=expected)


@lru_cache(maxsize=8)
def _parse(language: bytes, samples: bytes, sources: bytes) -> Evidence:
    problems: list[Problem] = []
    rows = _rows(LANGUAGE_FILE, language, _language_row, problems) + _rows(SAMPLE_FILE, samples, _sample_row, problems)
    known = _sources(sources, problems)
    problems += [
        _problem(SOURCES_FILE, row.id, f"no source '{row.source}'", "an entry for each source of a row")
        for row in rows
        if row.source not in known
    ]
    if problems:
        raise CatalogError("catalog_invalid", problems)
    content_hash = hashlib.sha256(b"\0".join((language, samples, sources))).hexdigest()
    answering = tuple(row for row in rows if row.use != TRANSFER)
    for_transfer = tuple(row for row in rows if row.use == TRANSFER)
    return _evidence(answering, content_hash, known, for_transfer, samples)


def _sources(content: bytes, problems: list[Problem]) -> Mapping[str, Source]:
    parsed = parse(content, file=f"measurements/{SOURCES_FILE}")
    problems += parsed.problems
    found = {}
    for id, entry in parsed.data.get("sources", {}).items():
        try:
            found[id] = Source(id=id, title=entry["title"], url=entry.get("url"), retrieved=entry.get("retrieved"))
        except (KeyError, TypeError, AttributeError):
            problems.append(_problem(SOURCES_FILE, str(id), "an entry without a title", "a title"))
    return MappingProxyType(found)


def _rows(
    file: str, content: bytes, read: Callable[[Mapping[str, str]], Measurement], problems: list[Problem]
) -> list[Measurement]:
    """Rows of a table; what can't be read is added to the problems."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        problems.append(_problem(file, "", "bytes that aren't UTF-8", "text saved as UTF-8"))
        return []
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = []
    for number, row in enumerate(csv.DictReader(io.StringIO("\n".join(lines))), start=1):
        try:
            rows.append(read(row))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            record = row.get("id") or f"row {number}"
            problems.append(
                _problem(file, record, f"a cell that can't be read ({error})", "the columns and units of the table")
            )
    if not rows and not problems:
        problems.append(_problem(file, "", "no rows", "measurements"))
    return rows


def _whole(text: str) -> int:
    return int(float(text)) if text else 0


def _number(text: str) -> float:
    return float(text) if text else 0.0


def _language_row(row: Mapping[str, str]) -> Measurement:
    """A row of any stack. Only those that may answer a plan say all that is asked; the fit fills in the rest itself."""
    gpus = int(row["n_gpus"])
    answers = row["use"] == "evidence"
    micro_batch = _whole(row["micro_batch_seqs"]) or (0 if answers else 1)
    global_batch = _whole(row["global_batch_seqs"]) or micro_batch * gpus
    checkpointing = row["activation_checkpointing"] or ("" if answers else "none")
    if checkpointing not in ("none", "selective", "full"):
        raise ValueError(f"checkpointing {checkpointing!r}")
    return Measurement(
        id=row["id"],
        source=row["source"],
        date=row["date"],
        gpu=row["gpu"],
        gpus=gpus,
        gpus_per_node=_whole(row["gpus_per_node"]) or gpus,
        model=row["model"],
        precision=PRECISIONS[row["precision"] or ("" if answers else "fp8")],
        throughput=float(row["tokens_per_s_total"]),
        unit="tokens_per_s",
        micro_batch=micro_batch,
        micro_steps=global_batch / gpus / micro_batch,
        global_batch=global_batch,
        seq_len=int(row["seq_len"]),
        checkpointing=checkpointing,  # type: ignore[arg-type]
        sharded=row["parallelism"].startswith("fsdp"),
        parameters=_number(row["n_params"]),
        gmacs=0.0,
        activations_m=0.0,
        use=row["use"],  # type: ignore[arg-type]
        framework=row["framework"],
        notes=row["notes"],
    )


def _sample_row(row: Mapping[str, str]) -> Measurement:
    gpus = int(row["n_gpus"])
    batch = int(_number(row["batch_per_gpu"]))
    return Measurement(
        id=row["id"],
        source=row["source"],
        date=row["date"],
        gpu=row["gpu"],
        gpus=gpus,
        gpus_per_node=int(_number(row["gpus_per_node"])) or gpus,
        model=row["model"],
        precision=PRECISIONS[row["precision"]],
        throughput=float(row["throughput"]),
        unit="samples_per_s",
        micro_batch=batch,
        micro_steps=1.0,
        global_batch=batch * gpus,
        seq_len=int(row["input"][3:]) if row["input"].startswith("seq") else None,
        checkpointing="none",
        sharded=False,
        parameters=_number(row["n_params"]),
        gmacs=_number(row["fwd_gmacs_per_sample"]),
        activations_m=_number(row["activations_m_per_sample"]),
        use=row["use"],  # type: ignore[arg-type]
        framework=row["framework"],
        notes=row["notes"],
        input=row["input"],
    )
