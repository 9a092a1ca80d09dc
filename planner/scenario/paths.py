"""One grammar for parameter paths, such as `jobs.daily.runs_per_month`: reading, changing and listing them."""

from __future__ import annotations

import copy
import difflib
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from planner.errors import InputError
from planner.scenario.money import Money, money_aliases
from planner.scenario.schema import Scenario

_MISSING = object()
_NUMERIC = (int, float, Money)
_UNIONS = (typing.Union, types.UnionType)


def get_value(document: Mapping[str, Any], path: str) -> Any:
    """Value at a path of a scenario document, or None where it isn't given."""
    here: Any = document
    for key in path.split("."):
        if not isinstance(here, Mapping):
            return None
        here = here.get(key, here.get(int(key), None) if key.isdigit() else None)
    return here


def with_overrides(document: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a scenario document with values set at paths; None removes the value (back to the default).

    Raises
    ------
    InputError
        When a path is not in the grammar of the scenario schema.
    """
    result: dict[Any, Any] = copy.deepcopy(dict(document))
    for path, value in overrides.items():
        check_path(path, result)
        keys: list[Any] = path.split(".")
        here = result
        for key in keys[:-1]:
            if not isinstance(here.get(key), dict):
                here[key] = {}
            here = here[key]
        last = int(keys[-1]) if keys[-1].isdigit() else keys[-1]
        if isinstance(last, str) and "_usd" in last:
            for alias in money_aliases(last):
                here.pop(alias, None)
        if value is None:
            here.pop(last, None)
        else:
            here[last] = value
    return result


def check_path(path: str, document: Mapping[str, Any] | None = None) -> None:
    """Check a path against the schema, and named jobs and machines against the document.

    Raises
    ------
    InputError
        With the nearest valid paths.
    """
    keys = path.split(".")
    annotation: Any = Scenario
    for depth, key in enumerate(keys):
        annotation = _step(annotation, key)
        if annotation is _MISSING:
            raise InputError("unknown_path", field=path, found=path, near=_near(path, document))
        named = depth == 1 and keys[0] in ("jobs", "machines") and document is not None
        if named and key not in (document or {}).get(keys[0], {}):
            raise InputError("unknown_path", field=path, found=path, near=_near(path, document))


def check_numeric(path: str, document: Mapping[str, Any]) -> None:
    """Check that a path leads to a number.

    Raises
    ------
    InputError
        As `check_path`, or for another kind of input.
    """
    check_path(path, document)
    annotation: Any = Scenario
    for key in path.split("."):
        annotation = _step(annotation, key)
    annotation = _unwrap(annotation)
    kinds = [_unwrap(kind) for kind in get_args(annotation)] if get_origin(annotation) in _UNIONS else [annotation]
    if not any(kind in _NUMERIC for kind in kinds):
        raise InputError("path_not_numeric", field=path, value=path, near=_near(path, document))


def numeric_paths(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every numeric input of a scenario document that has a path, given or not, sorted."""
    found = set(_walk(Scenario, "", document))
    return tuple(sorted(found))


def _walk(annotation: Any, prefix: str, value: Any) -> Iterator[str]:
    annotation = _unwrap(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, info in annotation.model_fields.items():
            key = info.alias or name
            inner = value.get(key) if isinstance(value, Mapping) else None
            yield from _walk(info.annotation, f"{prefix}.{key}" if prefix else key, inner)
    elif get_origin(annotation) is dict:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if "." in str(key):  # a path itself: ranges aren't inputs of a sweep
                    continue
                yield from _walk(get_args(annotation)[1], f"{prefix}.{key}", inner)
    elif annotation in _NUMERIC:
        yield prefix


def _step(annotation: Any, key: str) -> Any:
    annotation = _unwrap(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, info in annotation.model_fields.items():
            if key == (info.alias or name):
                return info.annotation
        return _MISSING
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    return _MISSING


def _unwrap(annotation: Any) -> Any:
    """The type inside Annotated and Optional."""
    while True:
        origin = get_origin(annotation)
        if origin is typing.Annotated:
            annotation = get_args(annotation)[0]
        elif origin in _UNIONS:
            inner = [arg for arg in get_args(annotation) if arg is not type(None)]
            if len(inner) != 1:
                return annotation
            annotation = inner[0]
        else:
            return annotation


def _near(path: str, document: Mapping[str, Any] | None) -> list[str]:
    """At most three paths: those that go on from what was written, then those that read like it."""
    known = numeric_paths(document or {})
    longer = [one for one in known if path and one.startswith(path)]
    return list(dict.fromkeys([*longer, *difflib.get_close_matches(path, known, n=3, cutoff=0.4)]))[:3]
