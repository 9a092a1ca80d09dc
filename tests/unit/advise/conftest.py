"""The shipped facts, and a small claim to change."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from planner.advise.claims import Assessment, Claim, Facts, assess_claims, load_claim_data
from planner.catalog import Catalog
from tests.planning import TODAY, evidence, shipped_catalog


def facts_of(catalog: Catalog, *, today: dt.date = TODAY) -> Facts:
    """The shipped claims and measurements with a catalog."""
    return Facts(catalog=catalog, evidence=evidence(), data=load_claim_data(), today=today)


def claim_of(**changes: Any) -> Claim:
    """A claim of one hundred, with changes."""
    fields: dict[str, Any] = {
        "id": "test",
        "topic": "specs",
        "claim": "It is 100.",
        "rule": "printed_figure",
        "printed": 100.0,
        "unit": "GB",
        "about": False,
        "tolerance": None,
        "definition": "",
        "figures": (),
        "params": {},
        "sources": (),
    }
    return Claim(**{**fields, **changes})


@pytest.fixture(scope="session")
def facts() -> Facts:
    return facts_of(shipped_catalog())


@pytest.fixture(scope="session")
def shipped_claims() -> dict[str, Assessment]:
    found = assess_claims(shipped_catalog(), evidence(), today=TODAY)
    return {entry.claim.id: entry for entry in found}
