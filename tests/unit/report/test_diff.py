"""What a reviewer sees between two versions of data files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from planner.__main__ import main
from planner.errors import CatalogError, InputError
from planner.report.diff import diff_paths, diff_text
from planner.report.diff_files import data_file, data_files

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


TABLE = """\
# What this is.
id,source,date,gpu,model,throughput,precision
a,bench,2024-01-02,rtx-4090,resnet50,100,fp16
b,bench,2024-01-02,rtx-4090,resnet50,50.0,fp32
c,bench,2024-01-02,rtx-3090,resnet50,70,
"""


def tables(folder: Path, old: str, new: str) -> tuple[Path, Path]:
    for name, text in (("old", old), ("new", new)):
        place = folder / name / "measurements"
        place.mkdir(parents=True)
        (place / "dl_throughput.csv").write_text(text)
    return folder / "old", folder / "new"


def test_measurements_are_compared_row_by_row(tmp_path: Path) -> None:
    changed = TABLE.replace("resnet50,100,", "resnet50,110,").replace("50.0", "50").replace("c,bench", "d,bench")
    changed = changed.replace("a,bench,2024-01-02", "a,again,2026-01-02")
    old, new = tables(tmp_path, TABLE, changed)
    found = diff_paths(old, new)
    assert {(d["file"], d["section"]) for d in found} == {("measurements/dl_throughput.csv", "measurements")}
    assert [(d["record"], d["field"], d["change"]) for d in found] == [
        ("a", "throughput", "changed"), ("c", "", "removed"), ("d", "", "added"),
    ]  # fmt: skip
    rate = found[0]
    assert rate["old"] == {"value": 100, "low": None, "high": None, "as_of": "2024-01-02", "sources": ["bench"]}
    assert rate["new"] == {"value": 110, "low": None, "high": None, "as_of": "2026-01-02", "sources": ["again"]}
    assert found[2]["new"] is not None and found[2]["new"]["value"] == 70
    assert "  ~ a throughput: 100 [2024-01-02; bench] -> 110 [2026-01-02; again]\n" in diff_text(found)
    name = Path("measurements", "dl_throughput.csv")
    assert [d["record"] for d in diff_paths(old / name, new / name)] == ["a", "c", "d"]


def test_the_cells_of_a_measurement_count_too(tmp_path: Path) -> None:
    old, new = tables(tmp_path, TABLE, TABLE.replace("100,fp16", "100,bf16").replace("70,\n", "70,tf32\n"))
    assert [(d["record"], d["field"], d["change"]) for d in diff_paths(old, new)] == [
        ("a", "precision", "changed"), ("c", "precision", "added"),
    ]  # fmt: skip


def test_a_table_without_its_other_version_came_or_went(tmp_path: Path) -> None:
    for name in ("old", "new"):
        shutil.copytree(FIXTURE, tmp_path / name)
    tables(tmp_path / "more", TABLE, TABLE)
    shutil.copytree(tmp_path / "more" / "old" / "measurements", tmp_path / "new" / "measurements")
    assert [(d["record"], d["change"]) for d in diff_paths(tmp_path / "old", tmp_path / "new")] == [
        ("a", "added"), ("b", "added"), ("c", "added"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            "a,bench,2024-01-02,rtx-4090,resnet50,1,fp16",
            "csv:6: a: found the id 'a' a second time, expected each id once",
        ),
        ("d,bench,2024-01-02", "csv:6: d: found 3 cells, expected 7"),
        (",bench,2024-01-02,rtx-4090,resnet50,1,fp16", "csv:6: found nothing, expected an id"),
        ("d,\udcff", "bytes that aren't UTF-8"),
    ],
)
def test_a_faulty_table_is_said(row: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE + row + "\n", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CatalogError) as caught:
        diff_paths(path, path)
    assert words in str(caught.value)


def test_an_id_twice_hides_no_record(files: tuple[Path, Path]) -> None:
    files[1].write_text(NEW.replace("id: d", "id: c"))
    with pytest.raises(CatalogError, match="found the id 'c' a second time"):
        diff_paths(*files)


SHIPPED = Path(__file__).parents[3] / "data"
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("path", sorted(SHIPPED.rglob("*.*")), ids=lambda path: path.name)
def test_every_shipped_data_file_is_known_as_itself(path: Path) -> None:
    assert data_file(path, "OLD").kinds == {path.name}


def test_all_of_the_shipped_files_are_compared() -> None:
    names = {path.relative_to(SHIPPED).as_posix() for path in SHIPPED.rglob("*.*")}
    assert set(data_files(SHIPPED, "OLD")) == names


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "gpus.yaml",
            "prices.yaml",
            "NEW: found .*prices.yaml', a version of prices.yaml, expected a version of gpus.yaml",
        ),
        ("gpus.yaml", "measurements/sources.yaml", "a version of sources.yaml, expected a version of gpus.yaml"),
        (
            "measurements/llm_throughput.csv",
            "measurements/dl_throughput.csv",
            "expected a version of llm_throughput.csv",
        ),
        ("measurements/llm_throughput.csv", "gpus.yaml", "a version of gpus.yaml"),
        ("measurements", ".", "without any of the data files of"),
        (EXAMPLES, ".", "OLD: found the folder .* without a data file"),
        (".", EXAMPLES, "NEW: found the folder .* without a data file"),
        (EXAMPLES / "student.yaml", "gpus.yaml", "OLD: found .*student.yaml', which is no data file"),
        (".", "nothing", "NEW: found .*nothing', which can't be read"),
    ],
)
def test_what_cannot_be_compared_is_refused(old: str, new: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "diff", str(SHIPPED / old), str(SHIPPED / new)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and re.search(words, err)


@pytest.mark.parametrize(
    "text", ["offers: {a: {price_usd_per_h: 1}}\n", "jobs: {}\noffers:\n", "sources: [1]\n", "a: 1\n"]
)
def test_what_looks_like_a_data_file_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(InputError, match="which is no data file"):
        diff_paths(tmp_path / "prices.yaml", tmp_path / "prices.yaml")


def test_two_folders_in_which_a_name_means_two_kinds(tmp_path: Path) -> None:
    for name in ("old", "new"):
        shutil.copytree(FIXTURE, tmp_path / name)
    shutil.copy(FIXTURE / "prices.yaml", tmp_path / "new" / "gpus.yaml")
    with pytest.raises(InputError, match=r"a version of prices.yaml, expected a version of gpus.yaml"):
        diff_paths(tmp_path / "old", tmp_path / "new")


def test_other_files_of_a_folder_are_left_out(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE, tmp_path / "new")
    (tmp_path / "new" / "notes.yaml").write_text("note: nothing\n")
    (tmp_path / "new" / "table.csv").write_text("a,b\n1,2\n")
    assert diff_paths(FIXTURE, tmp_path / "new") == []


def test_command(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "diff", str(files[0]), str(files[1]), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["differences"]) == 6
    assert main(["catalog", "diff", str(files[0]), "/no/such/file"]) == 2
    assert "can't be read" in capsys.readouterr().err
