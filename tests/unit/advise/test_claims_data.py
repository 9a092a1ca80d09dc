"""Reading of `data/claims.yaml` and `data/software.yaml`: every problem with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner.advise.claims import load_claim_data
from planner.errors import CatalogError

CLAIMS = """schema_version: 1
sources:
  somewhere: {title: Somewhere}
observations:
  - {id: speed, value: 3, unit: "-", meaning: A speed, source: somewhere, as_of: 2026}
claims:
  - {id: one, topic: specs, claim: It is 3., rule: printed_figure, printed: 3, definition: Speed,
     figures: [observations.speed]}
"""
SOFTWARE = """schema_version: 1
sources:
  notes: {title: Release notes}
cuda:
  - {id: cuda-11.6, version: "11.6", driver: "510.39.01", last_driver: "510.47.03", last_compute_capability: "8.7",
     source: notes}
cudnn:
  - {id: cudnn-8.2, version: "8.2", last_cuda: "11.3", source: notes}
compatibility:
  - {id: compatibility-11, cuda_major: 11, driver: "450.80.02", source: notes}
"""


def load(folder: Path, claims: str = CLAIMS, software: str = SOFTWARE) -> object:
    (folder / "claims.yaml").write_text(claims)
    (folder / "software.yaml").write_text(software)
    return load_claim_data(folder)


def test_both_files_are_read(tmp_path: Path) -> None:
    load(tmp_path)
    data = load_claim_data(tmp_path)
    assert [claim.id for claim in data.claims] == ["one"]
    assert data.observations["speed"].value == 3
    assert data.cuda["11.6"].driver == "510.39.01"
    assert data.cudnn["8.2"].last_cuda == "11.3"
    assert data.compatibility["11"].driver == "450.80.02"
    assert set(data.sources) == {"somewhere", "notes"}


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("claims", "topic: specs", "topic: cars", "topic.*cars"),
        ("claims", "printed: 3,", "printed: many,", "printed.*a number"),
        ("claims", "rule: printed_figure, ", "", "rule.*nothing"),
        ("claims", "definition: Speed", "definition: Speed, verdict: holds", "verdict.*unknown key"),
        ("claims", "source: somewhere, as_of", "source: elsewhere, as_of", "elsewhere"),
        ("claims", "source: somewhere, as_of", "as_of", "without a source"),
        ("claims", "schema_version: 1", "schema_version: 2", "schema_version"),
        ("claims", "observations:", "surprises: []\nobservations:", "surprises"),
        (
            "claims",
            "claims:\n",
            "claims:\n  - {id: one, topic: specs, claim: A, rule: quotients, definition: B}\n",
            "once",
        ),
        ("software", 'version: "11.6"', "version: 11.6", "version.*in quotes"),
        ("software", 'driver: "450.80.02"', 'driver: "r450"', "driver"),
        ("software", "cuda_major: 11", "cuda_major: 0", "cuda_major"),
        ("software", "title: Release notes", "titel: Release notes", "title|titel"),
    ],
)
def test_every_fault_is_named(tmp_path: Path, file: str, old: str, new: str, words: str) -> None:
    texts = {"claims": CLAIMS, "software": SOFTWARE}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new, 1)
    with pytest.raises(CatalogError) as caught:
        load(tmp_path, **texts)
    assert re.search(rf"{file}\.yaml:\d+.*({words})", str(caught.value)), str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "claims.yaml").write_text(CLAIMS)
    with pytest.raises(CatalogError, match=r"software\.yaml.*No such file"):
        load_claim_data(tmp_path)
