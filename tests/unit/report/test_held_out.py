"""Held-out errors as data: the shipped file is that of the docs, faulty ones are refused with every fault."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.transfer_accuracy import SHIPPED
from planner.errors import CatalogError
from planner.performance.percent_errors import median_and_p90
from planner.performance.time_to_target.targets import load_targets
from planner.report.held_out import Baseline, Errors, Split, load_held_out
from tests.unit.performance.targets import baselines_of, left_out, runs_of
from tests.unit.performance.transfer_fit import left_out_scores

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
    if split.id.startswith("source-"):
        return "Each source left out", split.id.removeprefix("source-")
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


def best_of(baselines: dict[str, tuple[float, float]], digits: int) -> Baseline | None:
    """The best as printed, 90th percentiles to so many digits."""
    shown = {name: (round(median, 1), round(p90, digits)) for name, (median, p90) in baselines.items()}
    best = min(shown, key=lambda name: shown[name], default=None)
    return best and Baseline(name=best, errors=Errors(median_ape=shown[best][0], p90_ape=shown[best][1]))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_errors_of_transfer_are_what_the_fit_gives(name):
    score = left_out_scores()[name]
    split = next(split for split in SPLITS if split.id == SHIPPED[name])
    assert (split.rows, split.coverage_80) == (score.n, round(score.coverage_80, 2))
    assert split.errors == Errors(median_ape=round(score.median, 1), p90_ape=round(score.p90, 1))
    assert split.median_half_width == round(score.median_half_width, 1)
    assert split.best_baseline == best_of(score.baselines, 0)


@pytest.mark.refit
@pytest.mark.parametrize("group", [("unseen system", "system"), ("newest round", "round"), ("unseen GPU", "card")])
def test_shipped_errors_of_times_to_target_are_what_the_fit_gives(group):
    targets = load_targets()
    shipped = {split.id: split for split in SPLITS if split.id.startswith("mlperf-") and split.id.endswith(group[1])}
    for benchmark in runs_of():
        misses = left_out(benchmark, group[0])
        if not misses:
            continue
        split = shipped.pop(f"mlperf-{benchmark.replace('_', '-')}-{group[1]}")
        median, p90 = median_and_p90([miss.error for miss in misses])
        sides = [targets[benchmark].half_widths[miss.novelty] for miss in misses]
        inside = [abs(miss.error) <= side for miss, side in zip(misses, sides, strict=True)]
        assert split.rows == len(misses), split.id
        assert split.errors == Errors(median_ape=round(median, 1), p90_ape=round(p90, 1)), split.id
        assert split.coverage_80 == round(sum(inside) / len(inside), 2), split.id
        assert split.median_half_width == round(float(np.median(100 * np.sinh(sides))), 1), split.id
        assert split.best_baseline == best_of(baselines_of(benchmark, group[0]), 1), split.id
    assert not shipped


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


@pytest.mark.parametrize(
    ("best", "behind"),
    [((4.9, 20.0), False), ((3.1, 20.0), False), ((2.9, 20.0), True), ((9.0, 9.9), True), (None, False)],
)
def test_a_baseline_is_nearer_by_two_points_at_the_median_or_at_the_tail(best, behind):
    split = next(split for split in load_held_out() if split.id == "mlperf-bert-round")
    baseline = None if best is None else Baseline(name="rule", errors=Errors(median_ape=best[0], p90_ape=best[1]))
    errors = Errors(median_ape=5.0, p90_ape=10.0)
    assert dataclasses.replace(split, errors=errors, best_baseline=baseline).behind is behind


def test_splits_with_a_nearer_baseline_are_told_apart():
    behind = {split.id for split in load_held_out() if split.behind}
    assert "mlperf-bert-round" in behind and "mlperf-resnet-round" not in behind
