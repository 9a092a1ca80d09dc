"""Published speeds that transfer rests on."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from planner.measurements.rows import FLAG
from planner.performance.evidence import MEASUREMENTS_FOLDER, SAMPLE_FILE, find_precision
from planner.performance.transfer.cards import PrecisionClass
from planner.performance.transfer.software import stack_of

CHANNELS_LAST = "nhwc"
_PLATFORM = re.compile(r"platform=([^;]*)")
_NO_PLATFORM = ("", "")
_DIMENSIONS = re.compile(r"Dimension=(\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One published speed of all GPUs of a run."""

    id: str
    date: str
    stack: str
    gpu: str
    gpus: int
    gpus_per_node: int
    model: str
    input: str
    parameters: float | None
    batch: int | None
    precision: PrecisionClass
    speed: float
    unit: str
    channels_last: bool
    platform: str  # kind of host, where a source has several
    flagged: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublishedTable:
    """Rows of a table, those that may not answer a plan included. `digest` tells its cells from others'."""

    rows: tuple[PublishedRow, ...]
    digest: str


def precision_class(text: str) -> PrecisionClass | None:
    """Class of a precision as tables write it; None for one that isn't known."""
    precision = find_precision(text)
    if precision in ("fp16", "bf16"):
        return "16-bit"
    return precision if precision in ("tf32", "fp32") else None


def input_key(text: str, notes: str = "") -> str:
    """An input as a key: sequence lengths in one spelling; where only the notes tell 2 from 3 dimensions, by these."""
    dimensions = _DIMENSIONS.search(notes)
    return text.strip().casefold().replace("seq_len=", "seq") or (f"{dimensions[1]}d" if dimensions else "")


def unit_key(text: str) -> str:
    """A unit as a key: a sequence, an image and a sample are one."""
    counted = text.strip().casefold().removesuffix("/s").removesuffix("s")
    return "sample" if counted in ("", "sample", "sequence", "image") else counted


def shipped_table() -> PublishedTable:
    """The table of speeds counted in samples as it is shipped."""
    return table_of((MEASUREMENTS_FOLDER / SAMPLE_FILE).read_bytes())


@lru_cache(maxsize=4)
def table_of(content: bytes) -> PublishedTable:
    """A table of speeds counted in samples: one object for each content."""
    lines = [line for line in content.decode("utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    texts = sorted(json.dumps(sorted((str(name), str(cell)) for name, cell in cells.items())) for cells in rows)
    digest = hashlib.sha256("\n".join(texts).encode("utf-8")).hexdigest()
    return PublishedTable(rows=tuple(_rows(rows)), digest=f"sha256:{digest}")


def _rows(rows: Iterable[Mapping[str, str]]) -> list[PublishedRow]:
    found = []
    for cells in rows:
        precision = precision_class(cells["precision"])
        if precision is None:
            continue
        gpus = int(cells["n_gpus"])
        found.append(
            PublishedRow(
                id=cells["id"],
                date=cells["date"],
                stack=stack_of(cells["source"], cells["framework"]),
                gpu=cells["gpu"],
                gpus=gpus,
                gpus_per_node=int(float(cells["gpus_per_node"])) if cells["gpus_per_node"] else gpus,
                model=cells["model"],
                input=input_key(cells["input"], cells["notes"]),
                parameters=float(cells["n_params"]) if cells["n_params"] else None,
                batch=int(float(cells["batch_per_gpu"])) if cells["batch_per_gpu"] else None,
                precision=precision,
                speed=float(cells["throughput"]),
                unit=unit_key(cells["throughput_unit"]),
                channels_last=CHANNELS_LAST in cells["notes"],
                platform=(_PLATFORM.search(cells["notes"]) or _NO_PLATFORM)[1],
                flagged=FLAG in cells["notes"],
            )
        )
    return found
