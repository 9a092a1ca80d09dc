"""What a reviewer sees between two versions of data files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from planner.__main__ import main
from planner.errors import CatalogError, InputError
from planner.report.diff import diff_paths, diff_text

FIXTURE = Path(__file__).parents[2] / "fixtures" / "catalog"

OLD = """\
schema_version: 1
sources:
  page: {title: A page}
offers:
  - id: a
    source: page
    as_of: 2026-01-02
    price_usd_per_h: 10
    gpu_count: 8
  - id: b
    source: page
    price_usd_per_h: 5
  - id: c
    source: page
    as_of: 2026-01-02
    price_usd_per_h: {value: 3, low: 2, high: 4}
"""
NEW = """\
schema_version: 1
sources:
  page: {title: A page}
  sheet: {title: A sheet}
offers:
  - id: a
    source: page
    as_of: 2026-03-04
    price_usd_per_h: 12.5
    gpu_count: 8
  - id: c
    source: page
    as_of: 2026-01-02
    price_usd_per_h: {value: 3, low: 2, high: 5, source: sheet, as_of: 2026-02-01}
  - id: d
    source: page
    as_of: 2026-02-02
    price_usd_per_h: 7
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    return tmp_path / "old.yaml", tmp_path / "new.yaml"


def test_what_came_went_and_changed(files: tuple[Path, Path]) -> None:
    found = [(d["section"], d["record"], d["field"], d["change"]) for d in diff_paths(*files)]
    assert found == [
        ("sources", "sheet", "", "added"),
        ("offers", "a", "price_usd_per_h", "changed"),
        ("offers", "a", "gpu_count", "changed"),
        ("offers", "b", "", "removed"),
        ("offers", "c", "price_usd_per_h", "changed"),
        ("offers", "d", "", "added"),
    ]


def test_a_figure_carries_date_and_source_of_both_versions(files: tuple[Path, Path]) -> None:
    by_place = {(d["record"], d["field"]): d for d in diff_paths(*files)}
    price = by_place["a", "price_usd_per_h"]
    assert price["old"] == {"value": 10, "low": None, "high": None, "as_of": "2026-01-02", "sources": ["page"]}
    assert price["new"] == {"value": 12.5, "low": None, "high": None, "as_of": "2026-03-04", "sources": ["page"]}
    own = by_place["c", "price_usd_per_h"]["new"]
    assert own == {"value": 3, "low": 2, "high": 5, "as_of": "2026-02-01", "sources": ["sheet"]}
    assert by_place["d", ""]["new"] == {
        "value": 7, "low": None, "high": None, "as_of": "2026-02-02", "sources": ["page"],
    }  # fmt: skip


def test_dates_and_sources_are_those_of_the_nearest_around(tmp_path: Path) -> None:
    text = "sites:\n  - id: a\n    source: page\n    as_of: 2025-01-01\n    home: {price: 1, as_of: 2026-01-01}\n"
    (tmp_path / "old.yaml").write_text(text)
    (tmp_path / "new.yaml").write_text(text.replace("price: 1", "price: 2"))
    (found,) = diff_paths(tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert found["field"] == "home.price"
    assert found["new"] == {"value": 2, "low": None, "high": None, "as_of": "2026-01-01", "sources": ["page"]}


def test_text_is_readable(files: tuple[Path, Path]) -> None:
    text = diff_text(diff_paths(*files))
    assert "  ~ a price_usd_per_h: 10 [2026-01-02; page] -> 12.5 [2026-03-04; page]\n" in text
    assert "  ~ c price_usd_per_h: 3 (2 to 4) [2026-01-02; page] -> 3 (2 to 5) [2026-02-01; sheet]\n" in text
    assert "  - b: 5 [page]\n" in text
    assert text.endswith("2 added, 1 removed, 3 changed.\n")


def test_equal_files_and_order_make_no_difference(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert diff_text(diff_paths(files[0], files[0])) == "No differences.\n"
    reordered = tmp_path / "reordered.yaml"
    reordered.write_text(
        OLD.replace("    price_usd_per_h: 10\n    gpu_count: 8\n", "    gpu_count: 8\n    price_usd_per_h: 10\n")
    )
    assert diff_paths(files[0], reordered) == []


def test_two_folders(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE, tmp_path / "new")
    prices = tmp_path / "new" / "prices.yaml"
    text = prices.read_text()
    assert "retired_on: 2025-06-01" in text
    prices.write_text(text.replace("retired_on: 2025-06-01", "retired_on: 2025-06-02"))
    (tmp_path / "new" / "workloads.yaml").unlink()
    found = diff_paths(FIXTURE, tmp_path / "new")
    assert [d for d in found if d["file"] == "prices.yaml"] == [
        {
            "file": "prices.yaml",
            "section": "offers",
            "record": "examplecloud-a100x8-us-on-demand-2024",
            "field": "retired_on",
            "change": "changed",
            "old": {"value": "2025-06-01", "low": None, "high": None, "as_of": None, "sources": []},
            "new": {"value": "2025-06-02", "low": None, "high": None, "as_of": None, "sources": []},
        }
    ]
    assert {d["change"] for d in found if d["file"] == "workloads.yaml"} == {"removed"}


def test_bad_paths_and_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"OLD: found '.*nothing.yaml', which can't be read"):
        diff_paths(tmp_path / "nothing.yaml", files[1])
    with pytest.raises(InputError, match="expected two files or two folders"):
        diff_paths(tmp_path, files[1])
    broken = tmp_path / "broken.yaml"
    broken.write_text("offers: [\n")
    with pytest.raises(CatalogError, match="syntax error"):
        diff_paths(files[0], broken)


def test_command(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "diff", str(files[0]), str(files[1]), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["differences"]) == 6
    assert main(["catalog", "diff", str(files[0]), "/no/such/file"]) == 2
    assert "can't be read" in capsys.readouterr().err
