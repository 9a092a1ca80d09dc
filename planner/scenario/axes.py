"""Axes of a sweep: a numeric path of the scenario and the values it takes, read from text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from planner.errors import InputError, Problem, ScenarioError
from planner.scenario.load import check_document
from planner.scenario.paths import check_numeric, with_overrides
from planner.strict_yaml import shorten

MOST_POINTS: Final = 100_000
_NUMBER: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_RANGE: Final = re.compile(rf"({_NUMBER}):({_NUMBER}):([+-]?[0-9]{{1,40}})(:log)?")
_LIST: Final = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A path and its values, in the order in which they are gone through."""

    path: str
    values: tuple[float, ...]


def parse_axes(texts: Sequence[str]) -> tuple[Axis, ...]:
    """Axes as the command line has them: `PATH=START:STOP:N`, `PATH=START:STOP:N:log` or `PATH=1,2,4`.

    Raises
    ------
    InputError
        A form that isn't one of these, ends that no logarithm reaches, a path that is given twice, or more points than
        are planned in a sweep.
    """
    forms = [_form(text) for text in texts]
    for path, _, _ in forms:
        if sum(path == other for other, _, _ in forms) > 1:
            raise InputError("path_twice", field=f"--vary {path}", value=path)
    points = math.prod(count for _, count, _ in forms)
    if points > MOST_POINTS:
        raise InputError("sweep_too_large", field="--vary", value=points, most=MOST_POINTS)
    return tuple(Axis(path=path, values=_values(path, count, spec)) for path, count, spec in forms)


def _form(text: str) -> tuple[str, int, str]:
    """Path, number of values, and what they are."""
    path, equals, spec = (part.strip() for part in text.partition("="))
    found = _RANGE.fullmatch(spec)
    if not (path and equals and (found or _LIST.fullmatch(spec))):
        raise InputError("vary_form", field=f"--vary {shorten(path, 60)}".rstrip(), value=shorten(text, 120))
    if found is None:
        return path, spec.count(",") + 1, spec
    count = int(found[3])
    if count < 1:
        raise InputError("vary_count", field=f"--vary {path}", value=count)
    return path, count, spec


def _values(path: str, count: int, spec: str) -> tuple[float, ...]:
    found = _RANGE.fullmatch(spec)
    if found is None:
        values = [float(part) for part in spec.split(",")]
    else:
        start, stop = float(found[1]), float(found[2])
        if not (math.isfinite(start) and math.isfinite(stop)):
            raise InputError("vary_form", field=f"--vary {path}", value=shorten(spec, 120))
        if count == 1 and start != stop:
            raise InputError("vary_count", field=f"--vary {path}", value=count)
        if found[4] and min(start, stop) <= 0:
            raise InputError("vary_log", field=f"--vary {path}", value=min(start, stop))
        values = (np.geomspace if found[4] else np.linspace)(start, stop, count).tolist()
    if not all(math.isfinite(value) for value in values):
        raise InputError("vary_form", field=f"--vary {path}", value=shorten(spec, 120))
    return tuple(values)


def as_input(value: float) -> float | int:
    """A value as a scenario file would have it: whole numbers without a point, since counts must be whole."""
    return int(value) if value == int(value) else value


def check_axes(document: Mapping[str, Any], axes: Sequence[Axis]) -> None:
    """That each axis is a numeric input of a scenario document, and that each of its values may stand there.

    Raises
    ------
    InputError
        A path that isn't one, with those that read like it.
    ScenarioError
        A value that the input can't have, whatever the others are at the ends of their axes.
    """
    for axis in axes:
        check_numeric(axis.path, document)
    for axis in axes:
        others = [other for other in axes if other is not axis]
        for value in axis.values:
            faults = _faults(document, axis.path, {axis.path: value})
            if faults and all(_faults(document, axis.path, {axis.path: value, **there}) for there in _ends(others)):
                raise ScenarioError("scenario_invalid", faults)


def _ends(axes: Sequence[Axis]) -> Iterator[dict[str, float]]:
    """The least and greatest values of some axes together: they may resolve what contradicts the document."""
    if axes:
        for end in (min, max):
            yield {axis.path: end(axis.values) for axis in axes}


def _faults(document: Mapping[str, Any], path: str, values: Mapping[str, float]) -> list[Problem]:
    """What is wrong with the input at a path where inputs have some values."""
    try:
        check_document(
            with_overrides(document, {name: as_input(value) for name, value in values.items()}), file="--vary"
        )
    except ScenarioError as error:
        return [problem for problem in error.problems if problem.field == path]
    return []
