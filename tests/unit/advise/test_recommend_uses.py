"""data/uses.yaml: sources resolve, faults are named, and what it names exists."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from planner.advise.recommend.uses import FILE, load_uses
from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.errors import CatalogError

CATALOG = load_catalog(today=dt.date(2026, 11, 30))
USES = load_uses()


def test_what_the_file_names_is_in_the_catalog() -> None:
    known = {*CATALOG.gpus, *CATALOG.partial_gpus}
    assert {entry.gpu for entry in USES.free} <= known
    for pick in (pick for guide in USES.guides for pick in guide.picks):
        assert pick.gpu is None or pick.gpu in known
        assert pick.system is None or pick.system in CATALOG.systems
        assert pick.provider is None or pick.provider in CATALOG.providers
    assert set(USES.hosts.memory_gb) <= set(CATALOG.hosts)


def test_sizes_rise_and_hold_every_model() -> None:
    limits = [size.up_to_parameters for size in USES.sizes]
    budgets = [size.from_budget_cny for size in USES.sizes]
    assert limits == sorted(limits)
    assert budgets == sorted(budgets)
    assert budgets[0] == 0
    assert limits[-1] >= max(workload.parameters.value for workload in CATALOG.workloads.values())
    assert all(size.parameters <= size.up_to_parameters for size in USES.sizes)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("source: own-estimate-guides", "source: nowhere", "the unknown source 'nowhere'"),
        ("  months: 24", "  months: 0", "months"),
        ("    runs: {small: 160, medium: 40, large: 4}\n", "", "no work for some size"),
        ("use: teaching,", "use: games,", "use"),
        ("memory_over_gpu_memory: 0.75", "memory_over_gpu_memory: x", "memory_over_gpu_memory"),
        ("sources:", "sources:\n  extra: {title: Not cited}", "a source that nothing cites"),
        ("schema_version: 1", "schema_version: 2", "schema_version"),
        ("schema_version: 1", "schema_version: 1\nmore: 1", "more"),
    ],
)
def test_faults_are_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = (DATA_FOLDER / FILE).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / FILE).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load_uses(tmp_path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(FILE)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"uses\.yaml"):
        load_uses(tmp_path)
