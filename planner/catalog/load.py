"""The data files -> Catalog, reporting every problem of all files at once."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.catalog import records as r
from planner.catalog import schema as s
from planner.catalog.build import Builder
from planner.catalog.fields import as_of_or_none
from planner.errors import CatalogError, Problem
from planner.strict_yaml import Parsed, describe, parse
from planner.strict_yaml import Path as Place
from planner.validation import explain, near

DATA_FOLDER = Path(__file__).resolve().parents[2] / "data"
MAX_BYTES = 5_000_000

_ID_FORMS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "assumptions": (re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*"), "lower-case words joined by _"),
    "fx": (re.compile(r"[A-Z]{3}"), "a currency code of three capital letters"),
}
_KEBAB = (re.compile(r"[a-z0-9]+([-.][a-z0-9]+)*"), "lower-case words joined by -")


def load_catalog(folder: Path | None = None, *, today: dt.date | None = None) -> r.Catalog:
    """Read the data files of a folder.

    Unchanged content is read once: the result is kept by the content of the files, not by their names or times.

    Parameters
    ----------
    folder : Path, optional
        Where the files are; the project's own data if omitted.
    today : date, optional
        Dates after this day are problems; the real day if omitted.

    Raises
    ------
    CatalogError
        Something is wrong with the files: all of it, file by file.
    """
    folder = DATA_FOLDER if folder is None else Path(folder)
    today = dt.date.today() if today is None else today
    contents, missing = [], []
    for name in s.SECTIONS:
        try:
            contents.append((name, (folder / name).read_bytes()))
        except OSError as error:
            found = error.strerror or "an error"
            expected = f"a readable file in the folder {folder}"
            missing.append(Problem(file=name, record="file", field="", found=found, expected=expected))
    result = _read(tuple(contents))
    problems = [*missing, *result.problems, *_future_dates(result.dates, today)]
    if problems or result.catalog is None:
        raise CatalogError("catalog_invalid", sorted(problems, key=_by_place))
    return result.catalog


def _by_place(problem: Problem) -> tuple[int, int]:
    return list(s.SECTIONS).index(problem.file), problem.line or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dated:
    """A date in a file, first day of what is known of it."""

    day: dt.date
    text: str
    parsed: Parsed
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    catalog: r.Catalog | None
    problems: tuple[Problem, ...]
    dates: tuple[_Dated, ...]  # newest first


def _future_dates(dates: tuple[_Dated, ...], today: dt.date) -> Iterator[Problem]:
    for dated in dates:
        if dated.day <= today:
            return
        yield dated.parsed.problem(dated.place, dated.text, f"a date that isn't after {today.isoformat()}")


@lru_cache(maxsize=4)
def _read(contents: tuple[tuple[str, bytes], ...]) -> _Result:
    files = {name: parse(content, file=name, max_bytes=MAX_BYTES) for name, content in contents}
    work = _Work(files=files)
    work.read_all()
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name} {len(content)}\n".encode() + content)
    whole = not work.problems and len(files) == len(s.SECTIONS)
    return _Result(
        catalog=work.catalog(digest.hexdigest()) if whole else None,
        problems=tuple(work.problems),
        dates=tuple(sorted(work.dates, key=lambda dated: dated.day, reverse=True)),
    )


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A list entry as written, with what it was validated as where it is sound."""

    parsed: Parsed
    place: Place
    id: str
    checked: Any = None


@dataclass(slots=True, kw_only=True)
class _Work:
    """Reading of one set of files: every check adds to `problems` and none stops the others."""

    files: Mapping[str, Parsed]
    problems: list[Problem] = field(default_factory=list)
    entries: dict[str, list[_Entry]] = field(default_factory=dict)
    sources: dict[str, r.Source] = field(default_factory=dict)
    dates: list[_Dated] = field(default_factory=list)
    newest: tuple[dt.date, int, str] = (dt.date.min, 0, "")
    built: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read_all(self) -> None:
        for parsed in self.files.values():
            self.problems += parsed.problems
            if parsed.complete:
                self.read_sections(parsed)
                self.read_sources(parsed)
        for parsed in self.files.values():
            self.check_order(parsed)
        self.check_origins()
        if all(parsed.complete for parsed in self.files.values()) and len(self.files) == len(s.SECTIONS):
            self.check_references()
            self.check_aliases("gpus")
            self.check_aliases("workloads")
        self.build()

    def report(self, parsed: Parsed, place: Place, found: str, expected: str) -> None:
        if not parsed.is_faulty(place):
            self.problems.append(parsed.problem(place, found, expected))

    # What the files hold

    def read_sections(self, parsed: Parsed) -> None:
        models = s.SECTIONS[parsed.file]
        version = parsed.data.get("schema_version")
        if version != s.SCHEMA_VERSION or isinstance(version, bool):
            self.report(parsed, ("schema_version",), describe(version), str(s.SCHEMA_VERSION))
        known = ("schema_version", "sources", *models)
        for key in parsed.data:
            if key not in known:
                self.report(parsed, (key,), "an unknown key", " or ".join(near(str(key), known)) or ", ".join(known))
        for section, model in models.items():
            self.entries[section] = []
            listed = parsed.data.get(section)
            if not isinstance(listed, list):
                self.report(parsed, (section,), describe(listed), "a list of entries")
                continue
            for index, raw in enumerate(listed):
                name = raw.get("code" if section == "fx" else "id") if isinstance(raw, dict) else None
                entry = _Entry(parsed=parsed, place=(section, index), id=name if isinstance(name, str) else "")
                self.entries[section].append(entry)
                try:
                    entry.checked = model.model_validate(raw)
                except ValidationError as error:
                    self.problems += explain(error, parsed=parsed, path=entry.place, model=model)

    def read_sources(self, parsed: Parsed) -> None:
        listed = parsed.data.get("sources", {})
        if not isinstance(listed, dict):
            self.report(parsed, ("sources",), describe(listed), "ids with title, url and retrieved")
            return
        for key, raw in listed.items():
            place: Place = ("sources", key)
            if not isinstance(key, str) or not _KEBAB[0].fullmatch(key):
                self.report(parsed, place, f"the id {describe(key)}", _KEBAB[1])
                continue
            try:
                checked = s.SourceIn.model_validate(raw)
            except ValidationError as error:
                self.problems += explain(error, parsed=parsed, path=place, model=s.SourceIn)
                self.sources.setdefault(key, _unreadable(key))
                continue
            source = r.Source(id=key, **checked.model_dump())
            if self.sources.get(key, source) == _unreadable(key):
                self.sources[key] = source
            elif self.sources.setdefault(key, source) != source:
                self.report(parsed, place, "another source under this id in an earlier file", "an id of its own")
            if checked.retrieved is not None:
                text = checked.retrieved.isoformat()
                here: Place = (*place, "retrieved")
                self.dates.append(_Dated(day=checked.retrieved, text=text, parsed=parsed, place=here))

    # What holds between entries

    def check_order(self, parsed: Parsed) -> None:
        for section in s.SECTIONS[parsed.file]:
            pattern, words = _ID_FORMS.get(section, _KEBAB)
            seen: set[str] = set()
            last = ""
            for entry in self.entries.get(section, []):
                place: Place = (*entry.place, "code" if section == "fx" else "id")
                if not entry.id:
                    continue  # the schema has reported it
                if not pattern.fullmatch(entry.id):
                    self.report(parsed, place, f"'{entry.id}'", words)
                elif entry.id in seen:
                    self.report(parsed, place, f"the id '{entry.id}' a second time", "each id once")
                elif _sort_key(entry.id) < _sort_key(last):
                    self.report(parsed, place, f"'{entry.id}' after '{last}'", "entries sorted by id")
                seen.add(entry.id)
                last = entry.id

    def check_origins(self) -> None:
        """Source ids and dates wherever they are written, also in entries that are wrong otherwise."""
        used: set[str] = set()
        whole = len(self.files) == len(s.SECTIONS)
        for parsed in self.files.values():
            whole = whole and parsed.complete
            for section in s.SECTIONS[parsed.file]:
                for place, key, value in _origins(parsed.data.get(section), (section,)):
                    if key == "as_of":
                        self.note_date(parsed, place, value)
                        continue
                    for source in value if isinstance(value, list) else [value]:
                        if not isinstance(source, str):
                            continue  # the schema has reported it
                        used.add(source)
                        if source not in self.sources:
                            close = " or ".join(near(source, self.sources)) or "an entry of sources"
                            self.report(parsed, place, f"the unknown source '{source}'", close)
        if whole:
            for parsed in self.files.values():
                listed = parsed.data.get("sources")
                for key in listed if isinstance(listed, dict) else ():
                    if isinstance(key, str) and key not in used:
                        self.report(parsed, ("sources", key), "a source that nothing cites", "it cited, or left out")

    def note_date(self, parsed: Parsed, place: Place, value: object) -> None:
        text = as_of_or_none(value)
        day = r.first_day(text)
        if text is None or day is None:
            return  # the schema has reported it
        self.dates.append(_Dated(day=day, text=text, parsed=parsed, place=place))
        self.newest = max(self.newest, (day, len(text), text))

    def check_references(self) -> None:
        ids = {section: {entry.id for entry in entries} for section, entries in self.entries.items()}
        self.check_reference("offers", "provider", ids["providers"], "providers")
        self.check_reference("offers", "gpu", ids["gpus"], "gpus")
        self.check_reference("offers", "grid", ids["grids"], "grids")
        if ids["gpus"] and ids["hosts"]:
            self.check_reference("hardware", "item", ids["gpus"] | ids["hosts"], "gpus or hosts")
        self.check_reference("sites", "grid", ids["grids"], "grids")
        for entry in self.entries["sites"]:
            if entry.checked is None or not ids["fx"]:
                continue
            for name, tariff in entry.checked.tariffs.items():
                if tariff.currency not in ids["fx"] | {"USD"}:
                    place = (*entry.place, "tariffs", name, "currency")
                    self.report(entry.parsed, place, f"{tariff.currency} without a rate", "a currency of fx or USD")

    def check_reference(self, section: str, key: str, ids: set[str], target: str) -> None:
        for entry in self.entries[section] if ids else ():  # a list that is missing has been reported as a whole
            raw = entry.parsed.data[section][entry.place[1]]
            value = raw.get(key) if isinstance(raw, dict) else None
            if isinstance(value, str) and value not in ids:
                close = near(value, ids)
                expected = f"an id of {target}" + (f", such as {' or '.join(close)}" if close else "")
                self.report(entry.parsed, (*entry.place, key), f"the unknown id '{value}'", expected)

    def check_aliases(self, section: str) -> None:
        owners = {entry.id.casefold(): entry.id for entry in self.entries[section]}
        for entry in self.entries[section]:
            for index, alias in enumerate(entry.checked.aliases if entry.checked is not None else ()):
                owner = owners.setdefault(alias.casefold(), entry.id)
                if owner != entry.id or alias in entry.checked.aliases[:index]:
                    place = (*entry.place, "aliases", index)
                    self.report(entry.parsed, place, f"'{alias}', which names {owner} already", "an alias of one entry")

    # What comes out

    def build(self) -> None:
        builder = Builder(sources=self.sources)
        self.make("fx", builder, builder.fx_rate)
        builder.fx = self.built["fx"]
        self.make("gpus", builder, builder.gpu)
        self.make("hosts", builder, builder.host)
        self.make("providers", builder, builder.provider)
        self.make("offers", builder, builder.offer)
        self.make("hardware", builder, builder.hardware_price)
        self.make("grids", builder, builder.grid)
        self.make("sites", builder, builder.site)
        self.make("assumptions", builder, builder.assumption)
        self.make("residuals", builder, builder.residual)
        self.make("workloads", builder, builder.workload)

    def make(self, section: str, builder: Builder, build: Any) -> None:
        self.built[section] = {}
        for entry in self.entries.get(section, []):
            if entry.checked is None:
                continue
            builder.unsourced.clear()
            self.built[section][entry.id] = build(entry.checked)
            for name in builder.unsourced:
                place = (*entry.place, *name.split("."))
                self.report(entry.parsed, place, "a figure without a source", "a source at the figure or its record")

    def catalog(self, content_hash: str) -> r.Catalog:
        records: dict[str, Any] = self.built
        sources = dict(sorted(self.sources.items()))
        return r.Catalog(sources=sources, as_of=self.newest[2], content_hash=content_hash, **records)


def _unreadable(id: str) -> r.Source:
    """Stands for a source whose entry is wrong, so that what cites it isn't reported too."""
    return r.Source(id=id, title="")


def _sort_key(id: str) -> tuple[bool, str]:
    """Constants of the estimator stand together after the assumptions about money and energy."""
    return id.startswith("estimator_"), id


def _origins(node: Any, place: Place) -> Iterator[tuple[Place, str, Any]]:
    """Every `source` and `as_of` below a place."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("source", "as_of"):
                yield (*place, key), key, value
            elif isinstance(value, dict | list):
                yield from _origins(value, (*place, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            if isinstance(value, dict | list):
                yield from _origins(value, (*place, index))
