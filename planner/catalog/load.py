"""The data files -> Catalog, reporting every problem of all files at once."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.catalog import build_hardware as hardware
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
    "ambiguous": (re.compile(r"\S.*\S"), "text without blanks around it"),
    "assumptions": (re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*"), "lower-case words joined by _"),
    "fx": (re.compile(r"[A-Z]{3}"), "a currency code of three capital letters"),
}
_ID_KEYS: Mapping[str, str] = {"fx": "code", "ambiguous": "label"}
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
            self.check_items_differ()
            self.check_ambiguous(self.check_aliases("gpus", "partial_gpus"))
            self.check_aliases("workloads")
            self.check_aliases("systems")
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
            if section in s.OPTIONAL_SECTIONS and section not in parsed.data:
                continue
            if not isinstance(listed, list):
                self.report(parsed, (section,), describe(listed), "a list of entries")
                continue
            for index, raw in enumerate(listed):
                name = raw.get(_ID_KEYS.get(section, "id")) if isinstance(raw, dict) else None
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
                place: Place = (*entry.place, _ID_KEYS.get(section, "id"))
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
        accelerators = ids["gpus"] | ids["partial_gpus"]
        for section in ("offers", "systems", "interruption_bands", "embodied") if ids["gpus"] else ():
            self.check_reference(section, "gpu", accelerators, "gpus or partial_gpus")
        self.check_reference("offers", "grid", ids["grids"], "grids")
        self.check_reference("systems", "host", ids["hosts"], "hosts")
        if ids["gpus"] and ids["hosts"]:
            items = accelerators | ids["hosts"] | ids["systems"] | ids["parts"]
            self.check_reference("hardware", "item", items, "gpus, hosts, systems or parts")
        self.check_reference("sites", "grid", ids["grids"], "grids")
        for section in ("sites", "region_tariffs"):
            for entry in self.entries[section]:
                self.check_currencies(entry, ids["fx"])

    def check_currencies(self, entry: _Entry, currencies: set[str]) -> None:
        if entry.checked is None or not currencies:
            return
        for name, tariff in entry.checked.tariffs.items():
            tariff_place = (*entry.place, "tariffs", name)
            others = ((other, (*tariff_place, "others", at)) for at, other in enumerate(tariff.others))
            for price, place in ((tariff, tariff_place), *others):
                if price.currency not in currencies | {"USD"}:
                    found = f"{price.currency} without a rate"
                    self.report(entry.parsed, (*place, "currency"), found, "a currency of fx or USD")

    def check_reference(self, section: str, key: str, ids: set[str], target: str) -> None:
        for entry in self.entries[section] if ids else ():  # a list that is missing has been reported as a whole
            raw = entry.parsed.data[section][entry.place[1]]
            value = raw.get(key) if isinstance(raw, dict) else None
            if isinstance(value, str) and value not in ids:
                close = near(value, ids)
                expected = f"an id of {target}" + (f", such as {' or '.join(close)}" if close else "")
                self.report(entry.parsed, (*entry.place, key), f"the unknown id '{value}'", expected)

    def check_items_differ(self) -> None:
        """A price names its item by id alone, so accelerators, hosts, systems and parts share one set of ids."""
        seen: dict[str, str] = {}
        for section in ("gpus", "partial_gpus", "hosts", "systems", "parts"):
            for entry in self.entries[section]:
                if seen.setdefault(entry.id, section) != section:
                    found = f"the id '{entry.id}', which an entry of {seen[entry.id]} has"
                    self.report(entry.parsed, (*entry.place, "id"), found, "an id of its own")

    def check_aliases(self, *sections: str) -> dict[str, str]:
        """Aliases of entries of these sections: each names one entry. Returns the id behind each name, folded."""
        entries = [entry for section in sections for entry in self.entries[section]]
        owners = {entry.id.casefold(): entry.id for entry in entries}
        for entry in entries:
            for index, alias in enumerate(entry.checked.aliases if entry.checked is not None else ()):
                owner = owners.setdefault(alias.casefold(), entry.id)
                if owner != entry.id or alias in entry.checked.aliases[:index]:
                    place = (*entry.place, "aliases", index)
                    self.report(entry.parsed, place, f"'{alias}', which names {owner} already", "an alias of one entry")
        return owners

    def check_ambiguous(self, owners: Mapping[str, str]) -> None:
        ids = {entry.id for section in ("gpus", "partial_gpus") for entry in self.entries[section]}
        for entry in self.entries["ambiguous"]:
            if entry.id.casefold() in owners:
                found = f"'{entry.id}', which names {owners[entry.id.casefold()]}"
                self.report(entry.parsed, (*entry.place, "label"), found, "a label that is no id or alias")
            for index, id in enumerate(entry.checked.could_be if entry.checked is not None else ()):
                if id not in ids:
                    expected = " or ".join(near(id, ids)) or "an id of gpus or partial_gpus"
                    self.report(entry.parsed, (*entry.place, "could_be", index), f"the unknown id '{id}'", expected)

    # What comes out

    def build(self) -> None:
        builder = Builder(sources=self.sources)
        self.make("fx", builder, builder.fx_rate)
        builder.fx = self.built["fx"]
        self.make("gpus", builder, partial(hardware.gpu, builder))
        self.make("partial_gpus", builder, partial(hardware.partial_gpu, builder))
        builder.partial_gpus = self.built["partial_gpus"]
        self.make("ambiguous", builder, hardware.ambiguous)
        self.make("hosts", builder, partial(hardware.host, builder))
        self.make("systems", builder, partial(hardware.system, builder))
        self.make("parts", builder, hardware.part)
        self.make("providers", builder, builder.provider)
        self.make("offers", builder, builder.offer)
        self.make("interruption_bands", builder, builder.interruption_band)
        self.make("hardware", builder, builder.hardware_price)
        self.make("grids", builder, builder.grid)
        self.make("sites", builder, builder.site)
        self.make("region_tariffs", builder, builder.region_tariffs)
        self.make("facilities", builder, builder.facility)
        self.make("embodied", builder, builder.embodied)
        self.make("assumptions", builder, builder.assumption)
        self.make("residuals", builder, builder.residual)
        self.make("observations", builder, builder.assumption)
        self.make("workloads", builder, builder.workload)

    def make(self, section: str, builder: Builder, build: Any) -> None:
        self.built[section] = {}
        for entry in self.entries.get(section, []):
            if entry.checked is None:
                continue
            builder.unsourced.clear()
            self.built[section][entry.id] = build(entry.checked)
            for name in builder.unsourced:
                place = (*entry.place, *(int(part) if part.isdigit() else part for part in name.split(".")))
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
