"""What changed between two versions of data files: records and figures, old and new value, date and source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from planner.errors import InputError
from planner.report.diff_files import ID_KEYS, RATES, DataFile, data_file, data_files

_ORIGIN_KEYS = ("source", "as_of", "as_of_note")
_FIGURE_KEYS = ("value", "low", "high")
_PRICES = ("price_usd_per_h", "price_usd_per_gpu_h", "price_usd")
_HEADLINES = (*_PRICES, "usd_per_unit", "g_co2e_per_kwh", "value", *RATES.values())

Change = Literal["added", "removed", "changed"]


class State(TypedDict):
    """What one version says: a value, for a number with its range, and where it comes from."""

    value: Any
    low: float | None
    high: float | None
    as_of: str | None
    sources: list[str]


class Difference(TypedDict):
    """One record that came or went (`field` is empty), or one field that changed."""

    file: str
    section: str
    record: str
    field: str
    change: Change
    old: State | None
    new: State | None


def diff_paths(old: Path, new: Path) -> list[Difference]:
    """Differences between two data files, or between the data files of two folders, sorted by file and record.

    A record that came or went is one difference, without its fields. Tables of measurements count, row by row.

    Raises
    ------
    InputError
        A path that can't be read or holds no data file, a file beside a folder, or files of two kinds.
    CatalogError
        A file that is no sound YAML or table.
    """
    for path, field in ((old, "OLD"), (new, "NEW")):
        if not path.exists():
            raise InputError("cannot_read", field=field, value=str(path), reason="it doesn't exist")
    if old.is_dir() != new.is_dir():
        raise InputError("diff_unlike", field="NEW", old=str(old), new=str(new))
    if not old.is_dir():
        before, after = data_file(old, "OLD"), data_file(new, "NEW")
        _check_kinds(before, after, old, new)
        return _diff_file(new.name, before.sections, after.sections)
    files, others = data_files(old, "OLD"), data_files(new, "NEW")
    if not files.keys() & others.keys():
        raise InputError("diff_nothing_common", field="NEW", old=str(old), new=str(new), files=sorted(files))
    found: list[Difference] = []
    for name in sorted({*files, *others}):
        sides = [side[name].sections if name in side else {} for side in (files, others)]
        if name in files and name in others:
            _check_kinds(files[name], others[name], old / name, new / name)
        found += _diff_file(name, *sides)
    return found


def _check_kinds(before: DataFile, after: DataFile, old: Path, new: Path) -> None:
    if not before.kinds & after.kinds:
        kinds, others = sorted(before.kinds), sorted(after.kinds)
        raise InputError("diff_kinds", field="NEW", old=str(old), new=str(new), kind=others, expected=kinds)


def _diff_file(file: str, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> list[Difference]:
    sections = list(dict.fromkeys([*old, *new]))
    found: list[Difference] = []
    for section in sections:
        before, after = _records(section, old.get(section)), _records(section, new.get(section))
        for record in sorted({*before, *after}):
            found += _diff_record(file, str(section), record, before.get(record), after.get(record))
    return found


def _records(section: Any, listed: Any) -> dict[str, Any]:
    """Records of a section by id; a section that is no list of records is one record without a name."""
    if isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed):
        return {_record_id(entry, at): entry for at, entry in enumerate(listed)}
    if section == "sources" and isinstance(listed, dict):
        return {str(key): entry for key, entry in listed.items()}
    return {} if listed is None else {"": {str(section): listed}}


def _record_id(entry: Mapping[Any, Any], at: int) -> str:
    return next((str(entry[key]) for key in ID_KEYS if key in entry), str(at + 1))


def _diff_record(file: str, section: str, record: str, old: Any, new: Any) -> Iterator[Difference]:
    if old is None or new is None:
        state = _state(_headline(new if old is None else old), {})
        yield Difference(
            file=file,
            section=section,
            record=record,
            field="",
            change="added" if old is None else "removed",
            old=None if old is None else state,
            new=None if new is None else state,
        )
        return
    before, after = dict(_fields(old, {}, "")), dict(_fields(new, {}, ""))
    for field in dict.fromkeys([*before, *after]):
        was, is_ = before.get(field), after.get(field)
        if was == is_:
            continue
        change: Change = "added" if was is None else "removed" if is_ is None else "changed"
        yield Difference(file=file, section=section, record=record, field=field, change=change, old=was, new=is_)


def _headline(entry: Any) -> Any:
    """What tells most of a record in one line: its price or rate with the origin, else its name."""
    if not isinstance(entry, dict):
        return entry
    origin = {key: entry[key] for key in _ORIGIN_KEYS if key in entry}
    for key in _HEADLINES:
        if key in entry:
            figure = entry[key] if isinstance(entry[key], dict) else {"value": entry[key]}
            return {**origin, **figure}
    return {**origin, "value": entry.get("name") or entry.get("title") or ""}


def _fields(node: Any, origin: Mapping[str, Any], name: str) -> Iterator[tuple[str, State]]:
    """Every figure and value below a node, with the source and date that hold for it."""
    if isinstance(node, dict):
        here = {key: node[key] for key in _ORIGIN_KEYS if key in node}
        # A source of its own brings its own date, or none.
        spread = here if "source" in here else {**origin, **here}
        if "value" in node and not isinstance(node["value"], dict | list):
            yield name, _state(node, origin)
            rest = {key: value for key, value in node.items() if key not in (*_FIGURE_KEYS, *_ORIGIN_KEYS)}
        else:
            rest = {key: value for key, value in node.items() if key not in _ORIGIN_KEYS}
        for key, value in rest.items():
            if key not in ID_KEYS or name:
                yield from _fields(value, spread, f"{name}.{key}" if name else str(key))
    elif isinstance(node, list) and any(isinstance(entry, dict) for entry in node):
        for at, entry in enumerate(node):
            yield from _fields(entry, origin, f"{name}.{at + 1}")
    else:
        is_number = isinstance(node, int | float) and not isinstance(node, bool)
        yield name, _state({"value": node} if is_number else {"value": node, "source": []}, origin)


def _state(node: Any, origin: Mapping[str, Any]) -> State:
    figure = node if isinstance(node, dict) else {"value": node}
    own = figure if "source" in figure else {**origin, **{key: figure[key] for key in _ORIGIN_KEYS if key in figure}}
    sources = own.get("source", [])
    as_of = own.get("as_of", own.get("as_of_note"))
    return State(
        value=_plain(figure.get("value")),
        low=figure.get("low"),
        high=figure.get("high"),
        as_of=None if as_of is None else str(as_of),
        sources=[str(source) for source in sources] if isinstance(sources, list) else [str(sources)],
    )


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates as text."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def diff_text(differences: list[Difference]) -> str:
    """Differences for reading, record by record."""
    if not differences:
        return "No differences.\n"
    lines: list[str] = []
    last: tuple[str, str] | None = None
    for difference in differences:
        place = (difference["file"], difference["section"])
        if place != last:
            lines += ([""] if lines else []) + [f"{place[0]}: {place[1]}"]
            last = place
        lines.append("  " + _sentence(difference))
    counts = [(change, sum(d["change"] == change for d in differences)) for change in ("added", "removed", "changed")]
    return "\n".join([*lines, "", ", ".join(f"{count} {change}" for change, count in counts) + "."]) + "\n"


_SIGNS: Mapping[Change, str] = {"added": "+", "removed": "-", "changed": "~"}


def _sentence(difference: Difference) -> str:
    subject = " ".join(part for part in (difference["record"], difference["field"]) if part)
    old, new = difference["old"], difference["new"]
    sign = _SIGNS[difference["change"]]
    if old is not None and new is not None:
        if _amount(old) == _amount(new):
            return f"{sign} {subject}: {_amount(new)}, now{_origin(new)}, before{_origin(old)}"
        return f"{sign} {subject}: {_amount(old)}{_origin(old)} -> {_amount(new)}{_origin(new)}"
    state = old if old is not None else new
    return f"{sign} {subject}" + ("" if state is None else f": {_amount(state)}{_origin(state)}")


def _amount(state: State) -> str:
    value = state["value"]
    text = ", ".join(str(entry) for entry in value) if isinstance(value, list) else "" if value is None else str(value)
    return text if state["low"] is None else f"{text} ({state['low']} to {state['high']})"


def _origin(state: State) -> str:
    parts = [part for part in (state["as_of"], ", ".join(state["sources"])) if part]
    return f" [{'; '.join(parts)}]" if parts else ""
