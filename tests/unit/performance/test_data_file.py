"""Files that a fit wrote are refused where anything about them is odd, and the check of the catalog looks at them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.__main__ import main
from planner.cli import catalog as command
from planner.errors import CatalogError
from planner.performance.data_file import as_written, read_content
from planner.performance.stacks import STACKS_FILE, load_stacks
from planner.performance.time_to_target.targets import TARGETS_FILE, load_targets
from planner.performance.transfer.models import TRANSFER_FILE, load_transfer
from planner.report.held_out import ACCURACY_FILE, load_held_out

FILES: list[tuple[Path, Callable[[Path], Any]]] = [
    (ACCURACY_FILE, load_held_out),
    (STACKS_FILE, load_stacks),
    (TARGETS_FILE, load_targets),
    (TRANSFER_FILE, load_transfer),
]
VERSION = "schema_version: 1\n"


@pytest.mark.parametrize(("shipped", "load"), FILES, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize(
    ("new", "field"),
    [
        ("schema_version: 2\n", "schema_version"),
        ("schema_version: true\n", "schema_version"),
        ("", "schema_version"),
        (VERSION * 2, "schema_version"),
        (f"{VERSION}some_key: 1_000\n", "some_key"),
    ],
)
def test_a_version_or_yaml_that_means_another_thing_is_refused(
    shipped: Path, load: Callable[[Path], Any], new: str, field: str, tmp_path: Path
) -> None:
    text = shipped.read_text(encoding="utf-8")
    assert text.count(VERSION) == 1
    path = tmp_path / shipped.name
    path.write_text(text.replace(VERSION, new), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load(path)
    assert caught.value.problems[0].file == shipped.name
    assert field in {problem.field for problem in caught.value.problems}


@pytest.mark.parametrize(("shipped", "load"), FILES, ids=lambda value: getattr(value, "name", ""))
def test_a_changed_file_is_read_again(shipped: Path, load: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / shipped.name
    path.write_bytes(shipped.read_bytes())
    load(path)
    path.write_text("schema_version: 1\n", encoding="utf-8")
    with pytest.raises(CatalogError):
        load(path)


def test_what_the_record_lacks_is_said() -> None:
    with pytest.raises(CatalogError) as caught:
        as_written(b"schema_version: 1\n", file="x.yaml", record=lambda data: data["models"])
    (problem,) = caught.value.problems
    assert (problem.file, problem.expected) == ("x.yaml", "what the fit writes") and "models" in problem.found


@pytest.mark.parametrize("name", ["load_held_out", "load_stacks", "load_targets", "load_transfer"])
def test_the_check_of_the_catalog_reads_each(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise CatalogError("catalog_invalid", [])

    monkeypatch.setattr(command, name, broken)
    assert main(["catalog", "check"]) == 2
    assert "in order" not in capsys.readouterr().out


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "data.yaml"
    path.write_bytes(b"one")
    assert (read_content(path), read_content(path)) == (b"one", b"one")
    path.write_bytes(b"other")
    assert read_content(path) == b"other"
    path.unlink()
    with pytest.raises(CatalogError):
        read_content(path)
