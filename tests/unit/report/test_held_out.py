"""Held-out errors as data: the shipped file is that of the docs, faulty ones are refused with every fault."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.accuracy_tables import LIMITS, MEMORY_LIMIT
from planner.errors import CatalogError
from planner.report.held_out import Errors, Split, load_held_out

ROOT = Path(__file__).resolve().parents[3]
SPLITS = load_held_out()
SOUND = """schema_version: 1
splits:
  - {id: one, area: memory, name: One, rows: 3, median_ape: 1, p90_ape: 2.5, computed: 2026-11-30}
"""


MINE = ("this estimator", "peak memory")
# Where a split stands in docs/accuracy.md if its name alone doesn't say: words before the table, and its row there, or
# its column where the table has a row for each method.
PLACES = {
    "timm-families-nchw": ("97 models of timm", "channels first"),
    "timm-families-nhwc": ("97 models of timm", "channels last"),
    "scaling-nvlink": ("Scaling:", "NVLink"),
    "scaling-pcie": ("Scaling:", "professional PCIe"),
    "scaling-geforce": ("Scaling:", "GeForce"),
}
LEADS = {
    "system": "**Each system left out**", "round": "**The newest round left out**", "card": "**Each card left out**",
}  # fmt: skip
VARIANTS = ("the same, all families of an architecture left out at once",)
"""Rows of methods that are neither what is planned with nor a baseline."""


def place_of(split: Split) -> tuple[str, str]:
    """Words before the table of a split, and what was left out there."""
    if split.id.startswith("mlperf-"):
        benchmark, _, group = split.id.removeprefix("mlperf-").rpartition("-")
        return LEADS[group], benchmark.replace("-", "_")
    return PLACES.get(split.id, ("", split.name))


class Documented:
    """A table of docs/accuracy.md: the text before it, and the errors of each method by what was left out."""

    def __init__(self, lead: str, lines: list[str]) -> None:
        heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        self.lead = lead
        self.count: dict[str, int] = {}
        self.errors: dict[str, dict[str, Errors]] = {}
        self.widths: dict[str, tuple[float, float | None]] = {}
        for cells in rows:
            if len(cells) > 1 and cells[1].replace(",", "").isdigit():
                self.count.setdefault(cells[0], int(cells[1].replace(",", "")))
            if heads[-1].startswith(("in interval", "coverage")):
                self.widths[cells[0]] = _widths(cells[-1])
            if cells[0].startswith("inside the 80 % interval"):
                self.widths |= {head: _widths(cell) for head, cell in zip(heads[1:], cells[1:], strict=True)}
            for head, cell in zip(heads, cells, strict=True):
                pair = re.fullmatch(r"([\d.]+) / ([\d.]+)", cell)
                if pair is None:
                    continue
                left_out, method = (head, cells[0]) if heads[0] == "method" else (cells[0], head)
                found = self.errors.setdefault(left_out, {})
                found[method] = Errors(median_ape=float(pair[1]), p90_ape=float(pair[2]))


def _widths(cell: str) -> tuple[float, float | None]:
    """Coverage as a share, and half-width in percent where it is given: "84 %; 25 %" or "84"."""
    found = re.fullmatch(r"(\d+)(?: %; ([\d.]+) %)?", cell)
    assert found is not None, cell
    return int(found[1]) / 100, float(found[2]) if found[2] else None


@cache
def documented() -> list[Documented]:
    """Every table of docs/accuracy.md, in its order."""
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    tables, lead = [], ""
    for block in text.split("\n\n"):
        if block.startswith("|"):
            tables.append(Documented(lead, block.strip().splitlines()))
        elif not block.startswith("    "):  # commands
            lead = block
    return tables


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.id)
def test_a_shipped_split_is_a_row_of_the_docs(split):
    lead, left_out = place_of(split)
    table = next(table for table in documented() if lead in table.lead and left_out in table.errors)
    assert split.rows == table.count.get(left_out, split.rows)
    assert (split.coverage_80, split.median_half_width) == table.widths.get(left_out, (None, None))
    methods = {name: errors for name, errors in table.errors[left_out].items() if name not in VARIANTS}
    mine = next(methods.pop(name) for name in MINE if name in methods)
    assert split.errors == mine
    if not methods:
        assert split.best_baseline is None
        return
    best = min(methods, key=lambda name: (methods[name].median_ape, methods[name].p90_ape))
    assert split.best_baseline is not None
    assert (split.best_baseline.name, split.best_baseline.errors) == (best, methods[best])


@pytest.mark.parametrize("lead", ["## Results", "Models that were measured", "Scaling:", *LEADS.values()])
def test_every_row_of_the_main_tables_is_shipped(lead):
    table = next(table for table in documented() if lead in table.lead)
    shipped = {place_of(split) for split in SPLITS}
    names = {left_out for place, left_out in shipped if place in ("", lead)}
    assert table.errors
    assert set(table.errors) <= names


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
