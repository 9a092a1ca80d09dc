"""Held-out errors as data: the shipped file is that of the docs, faulty ones are refused with every fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.accuracy_tables import LIMITS, MEMORY_LIMIT
from planner.errors import CatalogError
from planner.report.held_out import Errors, load_held_out

ROOT = Path(__file__).resolve().parents[3]
SPLITS = load_held_out()
SOUND = """schema_version: 1
splits:
  - {id: one, area: memory, name: One, rows: 3, median_ape: 1, p90_ape: 2.5, computed: 2026-11-30}
"""


def documented() -> dict[tuple[str, int], dict[str, Errors]]:
    """Every row of the tables of docs/accuracy.md that begins with a name and a count: its errors by column."""
    found: dict[tuple[str, int], dict[str, Errors]] = {}
    heads: list[str] = []
    for line in (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heads = []
        elif not heads:
            heads = cells
        elif len(cells) > 2 and cells[1].isdigit():
            pairs = {head: re.fullmatch(r"([\d.]+) / ([\d.]+)", cell) for head, cell in zip(heads, cells, strict=True)}
            errors = {
                head: Errors(median_ape=float(pair[1]), p90_ape=float(pair[2])) for head, pair in pairs.items() if pair
            }
            found.setdefault((cells[0], int(cells[1])), errors)
    return found


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.id)
def test_a_shipped_split_is_a_row_of_the_docs(split):
    row = dict(documented()[split.name, split.rows])
    mine = row.pop("this estimator", None) or row.pop("peak memory")
    assert split.errors == mine
    if not row:
        assert split.best_baseline is None
        return
    best = min(row, key=lambda name: (row[name].median_ape, row[name].p90_ape))
    assert split.best_baseline is not None
    assert (split.best_baseline.name, split.best_baseline.errors) == (best, row[best])


def test_every_split_of_the_docs_is_shipped():
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8").split("## Results")[1].split("\n\n")[1]
    names = [line.split("|")[1].strip() for line in text.splitlines()[2:]]
    assert len(names) >= 5
    assert set(names) <= {split.name for split in SPLITS}


def test_limits_are_those_of_the_benchmark():
    limits = {**LIMITS, "each row left out": MEMORY_LIMIT}
    compared = [split for split in SPLITS if split.name in limits]
    assert len(compared) == len(limits)
    for split in compared:
        assert split.limit == Errors(median_ape=limits[split.name][0], p90_ape=limits[split.name][1]), split.id


def test_a_limit_is_kept_by_both_figures(tmp_path):
    def met(limit: str) -> bool | None:
        file = tmp_path / f"{abs(hash(limit))}.yaml"
        file.write_text(SOUND.replace("computed", f"{limit}computed"), encoding="utf-8")
        return load_held_out(file)[0].met

    assert met("") is None
    assert met("limit: {median_ape: 1, p90_ape: 2.5}, ") is True
    assert met("limit: {median_ape: 0.9, p90_ape: 9}, ") is False
    assert met("limit: {median_ape: 9, p90_ape: 2.4}, ") is False


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ("schema_version: 1", "schema_version: 2", "schema_version", "1"),
        ("splits:", "split:", "splits", "a list"),
        ("area: memory", "area: weather", "area", "'memory'"),
        ("rows: 3", "rows: 0", "rows", "1"),
        ("p90_ape: 2.5", "p90_ape: -1", "p90_ape", "0"),
        ("p90_ape: 2.5", "p90: 2.5", "p90", "p90_ape"),
        ("computed: 2026-11-30", "computed: soon", "computed", "date"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path, old, new, field, expected):
    file = tmp_path / "accuracy.yaml"
    file.write_text(SOUND.replace(old, new), encoding="utf-8")
    with pytest.raises(CatalogError) as error:
        load_held_out(file)
    found = [problem for problem in error.value.problems if problem.field == field]
    assert found
    assert any(expected in problem.expected for problem in found), found


def test_an_id_stands_once_and_a_missing_file_is_said(tmp_path):
    file = tmp_path / "accuracy.yaml"
    file.write_text(SOUND + SOUND.splitlines()[-1] + "\n", encoding="utf-8")
    with pytest.raises(CatalogError, match="each entry once"):
        load_held_out(file)
    with pytest.raises(CatalogError, match="a file"):
        load_held_out(tmp_path / "none.yaml")
