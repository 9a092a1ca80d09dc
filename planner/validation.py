"""Translates pydantic's errors into problems of a file: place, what was found, what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from planner.errors import Problem
from planner.strict_yaml import Parsed, Path, describe

_EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "date_from_datetime_parsing": "a date (YYYY-MM-DD)",
    "date_parsing": "a date (YYYY-MM-DD)",
    "date_type": "a date (YYYY-MM-DD)",
    "dict_type": "keys with values",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "keys with values",
    "model_type": "keys with values",
    "string_type": "text",
}
_LIMITS = {
    "greater_than": ("gt", "a number above {}"),
    "greater_than_equal": ("ge", "a number of at least {}"),
    "less_than": ("lt", "a number below {}"),
    "less_than_equal": ("le", "a number of at most {}"),
    "string_too_short": ("min_length", "text of at least {} characters"),
    "string_too_long": ("max_length", "text of at most {} characters"),
    "too_short": ("min_length", "at least {} entries"),
    "too_long": ("max_length", "at most {} entries"),
}


class FieldError(ValueError):
    """Fields of one mapping contradict each other: the one to change, and what it should be.

    The field is the first of `names` that is given, as it may have other spellings; without names it is the mapping.
    """

    def __init__(self, *names: str, expected: str, found: str | None = None) -> None:
        super().__init__(expected)
        self.names, self.found = names, found


def explain(error: ValidationError, *, parsed: Parsed, path: Path, model: type[BaseModel]) -> list[Problem]:
    """Problems of one validated part of a file.

    Parameters
    ----------
    error : ValidationError
        What pydantic found in the part.
    parsed : Parsed
        The file, for lines and record names.
    path : Path
        Where the part stands in the file.
    model : type of BaseModel
        What the part was validated as, for the keys it knows.

    Returns
    -------
    list of Problem
        Without the entries that already have a problem as YAML.
    """
    return [
        parsed.problem((*path, *place), found, expected)
        for place, found, expected in faults_of(error, model)
        if not parsed.is_faulty((*path, *place))
    ]


def faults_of(error: ValidationError, model: type[BaseModel]) -> Iterator[tuple[Path, str, str]]:
    """Place within the part, what was found and what would be right, of each fault."""
    for item in error.errors(include_url=False):
        place = tuple(part for part in item["loc"] if part != "[key]")
        found, expected = _words(item, place, model)
        cause = item.get("ctx", {}).get("error")
        if isinstance(cause, FieldError):
            given = item["input"] if isinstance(item["input"], dict) else {}
            names = [name for name in cause.names if given.get(name) is not None] or cause.names
            place = (*place, *names[:1])
            found = cause.found or describe(given.get(names[0]) if names else given)
        yield place, found, expected


def near(text: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Known words that resemble a text, nearest first, compared without regard to case."""
    wanted = text.strip().casefold()
    by_folded = {word.casefold(): word for word in known}
    holding = [folded for folded in by_folded if len(wanted) >= 2 and wanted in folded]
    close = difflib.get_close_matches(wanted, by_folded, n=count, cutoff=0.5)
    return [by_folded[folded] for folded in dict.fromkeys([*sorted(holding, key=len), *close])][:count]


def _words(item: ErrorDetails, loc: Path, model: type[BaseModel]) -> tuple[str, str]:
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "nothing", "a value (the key is required)"
    if kind == "extra_forbidden":
        return "an unknown key", _known_keys(loc, model)
    if kind == "literal_error":
        return describe(item["input"]), str(context["expected"])
    if kind in ("too_short", "too_long") and isinstance(item["input"], str):
        kind = f"string_{kind}"
    if kind in _LIMITS:
        key, text = _LIMITS[kind]
        return describe(item["input"]), text.format(f"{context[key]:,.12g}")
    if kind == "value_error":
        return describe(item["input"]), str(context["error"])
    if kind == "string_pattern_mismatch":
        return describe(item["input"]), f"text of the form {context['pattern']}"
    if kind == "expected":
        return str(context["found"]), str(context["expected"])
    return describe(item["input"]), _EXPECTED.get(kind, item["msg"])


def _known_keys(loc: Path, model: type[BaseModel]) -> str:
    names = [field.alias or name for name, field in _model_at(loc[:-1], model).model_fields.items()]
    close = near(str(loc[-1]), names)
    return f"{' or '.join(close)}" if close else f"one of {', '.join(names)}"


def _model_at(loc: Sequence[str | int], model: type[BaseModel]) -> type[BaseModel]:
    """Model that stands at a place within another."""
    for part in loc:
        field = model.model_fields.get(str(part))
        inner = _model_within(field.annotation) if field is not None else None
        if inner is not None:
            model = inner
    return model


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        inner = _model_within(argument)
        if inner is not None:
            return inner
    return None
