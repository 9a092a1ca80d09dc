"""The shipped catalog, read as on a fixed day."""

from __future__ import annotations

import datetime as dt

import pytest

from planner.catalog import Catalog, load_catalog

TODAY = dt.date(2026, 11, 30)


@pytest.fixture(scope="session")
def shipped() -> Catalog:
    return load_catalog(today=TODAY)
