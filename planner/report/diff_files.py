"""Data files as a comparison reads them: which one a file is, and its lists of records."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.catalog.schema import SECTIONS
from planner.errors import CatalogError, InputError, Problem
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER, SAMPLE_FILE, SOURCES_FILE
from planner.performance.memory_rows import MEMORY_FILE
from planner.performance.stacks import STACKS_FILE
from planner.performance.time_to_target.runs import TIME_FILE
from planner.performance.time_to_target.targets import TARGETS_FILE
from planner.performance.transfer.models import TRANSFER_FILE
from planner.report.held_out import ACCURACY_FILE
from planner.strict_yaml import Parsed, parse

MAX_BYTES = 5_000_000
ID_KEYS = ("id", "code", "label")
RATES: Mapping[str, str] = {
    LANGUAGE_FILE: "tokens_per_s_total",
    SAMPLE_FILE: "throughput",
    MEMORY_FILE: "peak_memory_gb",
    TIME_FILE: "minutes",
}
"""What a table of measurements holds, by file: the figure that a row's source and date are of."""

_LISTS: Mapping[str, frozenset[str]] = {
    **{name: frozenset(sections) for name, sections in SECTIONS.items()},
    "claims.yaml": frozenset(("claims", "observations")),
    "software.yaml": frozenset(("cuda", "cudnn", "compatibility")),
    "uses.yaml": frozenset(("sizes", "uses", "free", "guides")),
    STACKS_FILE.name: frozenset(("stacks",)),
    TRANSFER_FILE.name: frozenset(("models",)),
    ACCURACY_FILE.name: frozenset(("splits",)),
    TARGETS_FILE.name: frozenset(("targets",)),
}
_OF_EVERY_FILE = frozenset(("schema_version", "sources"))
_ROW_KEYS = frozenset(("id", "source", "gpu"))
_NUMBER = re.compile(r"(?a)[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class DataFile:
    """One version of a data file: the files it may be a version of, and its content by section."""

    __slots__ = ("kinds", "sections")

    def __init__(self, kinds: frozenset[str], sections: Mapping[Any, Any]) -> None:
        self.kinds, self.sections = kinds, sections


def data_files(folder: Path, field: str) -> dict[str, DataFile]:
    """Data files of a folder by their names within it, measurements too; other files are left out.

    Raises
    ------
    InputError
        There is none, or one that can't be read.
    CatalogError
        A file that is no sound YAML or table.
    """
    places = [path for place in (folder, folder / MEASUREMENTS_FOLDER.name) for path in place.glob("*.*")]
    paths = sorted(path for path in places if path.suffix in (".yaml", ".csv"))
    found = {path.relative_to(folder).as_posix(): read_data(path, field) for path in paths}
    files = {name: file for name, file in found.items() if file.kinds}
    if not files:
        raise InputError("diff_no_data", field=field, value=str(folder), known=sorted(_LISTS))
    return files


def data_file(path: Path, field: str) -> DataFile:
    """One data file.

    Raises
    ------
    InputError
        It can't be read, or is something else.
    CatalogError
        It is no sound YAML or table.
    """
    file = read_data(path, field)
    if not file.kinds:
        raise InputError("diff_not_data", field=field, value=str(path), known=[*sorted(_LISTS), *RATES, SOURCES_FILE])
    return file


def read_data(path: Path, field: str) -> DataFile:
    """A file with what it may be: nothing, where it is no data file."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "an error"
        raise InputError("cannot_read", field=field, value=str(path), reason=reason) from None
    if path.suffix.casefold() == ".csv":
        return _table(content, str(path))
    parsed = parse(content, file=str(path), max_bytes=MAX_BYTES)
    problems = [*parsed.problems, *_doubles(parsed)]
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return DataFile(_kinds(parsed.data), parsed.data)


def _kinds(data: Mapping[Any, Any]) -> frozenset[str]:
    """Files whose lists these are: those that know most of them. Scenarios have mappings under the same names."""
    listed = {key for key, value in data.items() if isinstance(value, list)}
    known = {name: len(listed & sections) for name, sections in _LISTS.items()}
    most = max(known.values())
    if most:
        return frozenset(name for name, count in known.items() if count == most)
    only_sources = set(data) <= _OF_EVERY_FILE and isinstance(data.get("sources"), dict)
    return frozenset((SOURCES_FILE,)) if only_sources else frozenset()


def _doubles(parsed: Parsed) -> Iterator[Problem]:
    for section, listed in parsed.data.items():
        seen: set[str] = set()
        for at, entry in enumerate(listed if isinstance(listed, list) else ()):
            id = next((str(entry[key]) for key in ID_KEYS if key in entry), None) if isinstance(entry, dict) else None
            if id is not None and id in seen:
                yield parsed.problem((section, at), f"the id '{id}' a second time", "each id once")
            seen |= {id} if id is not None else set()


def _table(content: bytes, file: str) -> DataFile:
    """A table of measurements as a list of records: the rate of a row carries its source and date."""
    if len(content) > MAX_BYTES:
        raise _unreadable(file, f"more than {MAX_BYTES / 1e6:g} MB", f"at most {MAX_BYTES / 1e6:g} MB")
    try:
        text = content.decode("utf-8-sig")
        lines = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line and not line.startswith("#")]
        rows = list(csv.reader(io.StringIO("\n".join(line for _, line in lines))))
    except UnicodeDecodeError:
        raise _unreadable(file, "bytes that aren't UTF-8", "text saved as UTF-8") from None
    except csv.Error as error:
        raise _unreadable(file, str(error), "a table") from None
    header = rows[0] if rows else []
    kinds = [name for name, rate in RATES.items() if {*_ROW_KEYS, rate} <= set(header)]
    if not kinds:
        return DataFile(frozenset(), {})
    if TIME_FILE in kinds:  # which repeats its times as throughputs
        kinds = [TIME_FILE]
    problems: list[Problem] = []
    records: dict[str, dict[str, Any]] = {}
    for (line, _), cells in zip(lines[1:], rows[1:], strict=False):
        row = dict(zip(header, cells, strict=False))
        id = row.get("id", "")
        if len(cells) != len(header):
            found, expected = f"{len(cells)} cells", f"{len(header)}, as in the line of column names"
        elif not id or id in records:
            found, expected = (f"the id '{id}' a second time", "each id once") if id else ("nothing", "an id")
        else:
            records[id] = _record(row, RATES[kinds[0]])
            continue
        problems.append(Problem(file=file, record=id, field="", found=found, expected=expected, line=line))
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return DataFile(frozenset(kinds), {"measurements": list(records.values())})


def _unreadable(file: str, found: str, expected: str) -> CatalogError:
    problem = Problem(file=file, record="", field="", found=found, expected=expected)
    return CatalogError("catalog_invalid", [problem])


def _record(row: Mapping[str, str], rate: str) -> dict[str, Any]:
    record = {name: _value(cell) for name, cell in row.items() if cell and name not in ("source", "date")}
    origin = {"source": row["source"], "as_of": row.get("date", "")}
    return record | {"id": row["id"], rate: {"value": _value(row[rate]), **origin}}


def _value(cell: str) -> float | int | str:
    if not _NUMBER.fullmatch(cell):
        return cell
    number = float(cell)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
