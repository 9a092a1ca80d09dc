"""The frozen catalog, and copies of it with faults."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.catalog import Catalog, load_catalog
from planner.errors import CatalogError, Problem

FIXTURE = Path(__file__).parents[2] / "fixtures" / "catalog"
TODAY = dt.date(2026, 11, 30)

Edit = tuple[str, str, str]
"""File, text in it, what to put there instead."""


@pytest.fixture
def catalog() -> Catalog:
    return load_catalog(FIXTURE, today=TODAY)


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """A copy of the frozen catalog in which texts are replaced, each of which has to be there."""

    def edit(*edits: Edit) -> Path:
        folder = tmp_path / "catalog"
        shutil.copytree(FIXTURE, folder, dirs_exist_ok=True)
        for name, old, new in edits:
            path = folder / name
            text = path.read_text()
            assert old in text, f"{old!r} isn't in {name}"
            path.write_text(text.replace(old, new, 1))
        return folder

    return edit


@pytest.fixture
def problems(edited: Callable[..., Path]) -> Callable[..., tuple[Problem, ...]]:
    """Problems that edits of the frozen catalog make."""

    def find(*edits: Edit) -> tuple[Problem, ...]:
        folder = edited(*edits)
        try:
            load_catalog(folder, today=TODAY)
        except CatalogError as error:
            return error.problems
        return ()

    return find
