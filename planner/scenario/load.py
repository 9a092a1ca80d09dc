"""Scenario text or document -> checked Scenario, reporting every problem at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.errors import Problem, ScenarioError
from planner.scenario.migrate import migrate
from planner.scenario.schema import Scenario
from planner.strict_yaml import Parsed, parse
from planner.validation import explain

MAX_BYTES = 1_000_000


def read_document(text: str | bytes, *, file: str = "scenario") -> dict[str, Any]:
    """Parse the YAML of a scenario file strictly, without checking its fields.

    Raises
    ------
    ScenarioError
        Not YAML, too large, duplicate keys, values that do not mean what they look like: all of them, with lines.
    """
    return dict(_read(text, file).data)


def check_document(document: Mapping[str, Any], *, file: str = "scenario") -> Scenario:
    """Check a scenario document against the schema.

    Raises
    ------
    ScenarioError
        With every problem: field, what was found and what is expected.
    """
    without_lines = Parsed(file=file, data=dict(document), problems=(), complete=True, lines={}, faulty=frozenset())
    return _check(without_lines)


def parse_scenario(text: str | bytes, *, file: str = "scenario") -> Scenario:
    """Read and check a scenario file's text; problems carry their lines.

    Raises
    ------
    ScenarioError
        As `read_document` and `check_document`.
    """
    return _check(_read(text, file))


def _read(text: str | bytes, file: str) -> Parsed:
    parsed = parse(text, file=file, max_bytes=MAX_BYTES)
    if parsed.problems:
        raise ScenarioError("scenario_invalid", parsed.problems)
    return parsed


def _check(parsed: Parsed) -> Scenario:
    migrated = replace(parsed, data=migrate(parsed.data, file=parsed.file))
    try:
        return Scenario.model_validate(migrated.data)
    except ValidationError as error:
        problems = explain(error, parsed=parsed, path=(), model=Scenario)
        raise ScenarioError("scenario_invalid", problems) from None


def load_scenario(path: Path | str) -> Scenario:
    """Read and check a scenario file.

    Raises
    ------
    ScenarioError
        As `parse_scenario`, and when the file can't be read.
    """
    return parse_scenario(read_file(path), file=str(path))


def read_file(path: Path | str) -> bytes:
    """Bytes of a scenario file, at most one more than may be read.

    Raises
    ------
    ScenarioError
        When the file can't be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        problem = Problem(
            file=str(path), record="", field="", found=error.strerror or "an error", expected="a readable scenario file"
        )
        raise ScenarioError("scenario_invalid", [problem]) from None
