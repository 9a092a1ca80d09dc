"""Scenario text or document -> checked Scenario, reporting every problem at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.errors import Problem, ScenarioError
from planner.scenario.migrate import migrate
from planner.scenario.schema import Scenario
from planner.strict_yaml import parse

MAX_BYTES = 1_000_000


def read_document(text: str | bytes, *, file: str = "scenario") -> dict[str, Any]:
    """Parse the YAML of a scenario file strictly, without checking its fields.

    Raises
    ------
    ScenarioError
        Not YAML, too large, duplicate keys, values that do not mean what they look like: all of them, with lines.
    """
    parsed = parse(text, file=file, max_bytes=MAX_BYTES)
    if parsed.problems:
        raise ScenarioError("scenario_invalid", parsed.problems)
    return dict(parsed.data)


def check_document(document: Mapping[str, Any], *, file: str = "scenario") -> Scenario:
    """Check a scenario document against the schema.

    Raises
    ------
    ScenarioError
        With every problem: field, what was found and what is expected.
    """
    document = migrate(document, file=file)
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        raise ScenarioError("scenario_invalid", [_problem(item, file, document) for item in error.errors()]) from None


def parse_scenario(text: str | bytes, *, file: str = "scenario") -> Scenario:
    """Read and check a scenario file's text. See `read_document` and `check_document` for what is raised."""
    return check_document(read_document(text, file=file), file=file)


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


_EXPECTED = {
    "missing": "a value (it is required)",
    "extra_forbidden": "no such key",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "list_type": "a list",
    "too_short": "at least one entry",
}


def _problem(item: Any, file: str, document: Mapping[str, Any]) -> Problem:
    path = [str(part) for part in item["loc"] if part != "[key]"]
    context = item.get("ctx", {})
    kind = item["type"]
    if kind == "value_error":
        expected = str(context["error"])
    elif kind in _EXPECTED:
        expected = _EXPECTED[kind]
    elif kind == "string_pattern_mismatch":
        expected = "letters, digits, '-' or '_', beginning with a letter or digit, at most 64"
    elif kind == "literal_error":
        expected = f"one of {context['expected']}"
    else:
        expected = str(item["msg"])[:1].lower() + str(item["msg"])[1:]
        expected = expected.replace("input should be ", "a value ")
    if kind == "extra_forbidden":
        expected = f"a known key{_near_keys(path)}"
    found = "nothing" if kind == "missing" else _short(item.get("input"))
    if kind == "extra_forbidden":
        found = f"the unknown key '{path[-1]}'"
    return Problem(file=file, record="", field=".".join(path) or "scenario", found=found, expected=expected)


def _short(value: object) -> str:
    text = (
        repr(value)
        if not isinstance(value, dict)
        else "a mapping with " + ", ".join(map(str, value))
        if value
        else "nothing in it"
    )
    return text if len(text) <= 80 else text[:77] + "..."


def _near_keys(path: list[str]) -> str:
    import difflib

    from planner.scenario.schema import (
        Colocation,
        JobInput,
        MachineInput,
        OfferInput,
        Owned,
        Rental,
        SiteInput,
        Staff,
        Tax,
    )

    sections: dict[str, Any] = {
        "jobs": JobInput,
        "machines": MachineInput,
        "offers": OfferInput,
        "rental": Rental,
        "site": SiteInput,
    }
    sections |= {"staff": Staff, "tax": Tax}
    model: Any = Scenario
    if len(path) > 1:
        model = {"owned": Owned, "colocation": Colocation}.get(path[-2]) or sections.get(path[0], Scenario)
    names = [info.alias or name for name, info in model.model_fields.items()]
    near = difflib.get_close_matches(path[-1], names, n=3, cutoff=0.5)
    return f" (near: {', '.join(near)})" if near else ""
