"""Scenario files: versions, what isn't a scenario at all, and the place of a problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import Problem, ScenarioError
from planner.scenario.load import MAX_BYTES, load_scenario, parse_scenario, read_file
from planner.scenario.migrate import migrate
from planner.scenario.schema import SCHEMA_VERSION
from tests.planning import FIXTURES

TEXT = """\
schema_version: 1
horizon_months: 12
jobs:
  work: {workload: bert-large-squad, runs_per_month: 3}
"""


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, file="plan.yaml")
    return caught.value.problems


def test_defaults_of_a_short_file() -> None:
    scenario = parse_scenario(TEXT)
    assert scenario.horizon_months == 12
    assert scenario.jobs["work"].job_class == "development"
    assert scenario.rental.terms == ["on_demand"]
    assert scenario.owned_value_counts
    assert (scenario.tax.rate, scenario.tax.recoverable) == (None, False)


@pytest.mark.parametrize("path", sorted((FIXTURES / "plans").glob("*.yaml")), ids=lambda path: path.stem)
def test_fixture_plans(path: Path) -> None:
    assert load_scenario(path).jobs


def test_problem_names_file_line_field_and_value() -> None:
    (problem,) = problems(TEXT.replace("runs_per_month: 3", "runs_per_month: -3"))
    assert str(problem) == "plan.yaml:4: jobs.work.runs_per_month: found -3, expected a number above 0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        "- a\n- list",
        "{unclosed",
        "a: b: c",
        "\x00\x01\x02",
        b"\xff\xfe\x00binary",
        "schema_version: 1\nschema_version: 1\n",
        TEXT.replace("12", ".nan"),
        TEXT.replace("12", "012"),
        TEXT.replace("12", "12:30"),
    ],
    ids=[
        "empty",
        "words",
        "list",
        "unclosed",
        "nested",
        "control",
        "binary",
        "duplicate",
        "nan",
        "octal",
        "sexagesimal",
    ],
)
def test_not_a_scenario(text: str | bytes) -> None:
    found = problems(text)
    assert found
    assert all(problem.expected and problem.found for problem in found)


def test_yaml_bomb_is_refused_at_once() -> None:
    levels = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12))
    found = " ".join(problem.found for problem in problems(f"a0: &a0 [x]\n{levels}\n"))
    assert "the anchor &a0" in found
    assert "the alias *a0" in found


def test_ten_megabytes_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text(TEXT + "#" * 10_000_000)
    assert len(read_file(path)) == MAX_BYTES + 1
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert "1,000,000" in str(caught.value) or "1000000" in str(caught.value) or "1 MB" in str(caught.value)


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_unreadable_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(tmp_path / name)
    (problem,) = caught.value.problems
    assert problem.file == str(tmp_path / name)
    assert problem.expected == "a readable scenario file"


@pytest.mark.parametrize(
    ("version", "found"), [(None, "nothing"), (2, "2"), (0, "0"), ("1", "'1'"), (True, "true"), ([1], "a list")]
)
def test_other_versions_are_refused(version: object, found: str) -> None:
    document = {} if version is None else {"schema_version": version}
    with pytest.raises(ScenarioError) as caught:
        migrate(document, file="plan.yaml")
    (problem,) = caught.value.problems
    assert (problem.field, problem.found) == ("schema_version", found)
    assert problem.expected.startswith(f"{SCHEMA_VERSION} ")


def test_this_version_is_kept() -> None:
    document = {"schema_version": SCHEMA_VERSION, "name": "Plan"}
    assert migrate(document, file="plan.yaml") == document
