"""Measurement files that are missing, cut or garbled are said, never skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.errors import CatalogError
from planner.performance.evidence import MEASUREMENTS_FOLDER, load_evidence

FILES = ("llm_throughput.csv", "dl_throughput.csv", "sources.yaml")


def garbled(text: str) -> str:
    """The last row with letters where its GPU count stands."""
    lines = text.rstrip("\n").split("\n")
    head = next(line for line in lines if not line.startswith("#")).split(",")
    cells = lines[-1].split(",")
    cells[head.index("n_gpus")] = "many"
    return "\n".join([*lines[:-1], ",".join(cells)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copy(MEASUREMENTS_FOLDER / name, tmp_path / name)
    return tmp_path


def test_the_copy_is_read(folder: Path) -> None:
    assert load_evidence(folder).content_hash == load_evidence().content_hash


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "spoil",
    [lambda path: path.unlink(), lambda path: path.write_bytes(b"\xff\xfe\x00"), lambda path: path.write_bytes(b"")],
)
def test_a_spoilt_file_is_named(name: str, spoil: Callable[[Path], object], folder: Path) -> None:
    spoil(folder / name)
    with pytest.raises(CatalogError) as caught:
        load_evidence(folder)
    assert any(name in problem.file for problem in caught.value.problems)


@pytest.mark.parametrize("name", FILES[:2])
def test_a_row_that_cannot_be_read_is_named(name: str, folder: Path) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(garbled(text), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load_evidence(folder)
    (problem,) = caught.value.problems
    assert problem.record == text.rstrip("\n").split("\n")[-1].split(",")[0]
    assert "many" in problem.found
