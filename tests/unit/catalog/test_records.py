"""What records derive: status on a day, first day of a vague date, price per GPU."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from planner.catalog import Catalog
from planner.catalog.records import first_day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (None, None),
        ("2026", dt.date(2026, 1, 1)),
        ("2026-11", dt.date(2026, 11, 1)),
        ("2026-11-09", dt.date(2026, 11, 9)),
    ],
)
def test_first_day(text: str | None, day: dt.date | None) -> None:
    assert first_day(text) == day


@pytest.mark.parametrize(
    ("as_of", "retired_on", "today", "status"),
    [
        ("2025-05-30", None, dt.date(2026, 11, 30), "current"),
        ("2025-05-29", None, dt.date(2026, 11, 30), "stale"),
        ("2025-05-20", None, dt.date(2026, 12, 5), "stale"),
        ("2025-05", None, dt.date(2026, 11, 1), "current"),
        ("2025-05", None, dt.date(2026, 11, 2), "stale"),
        ("2025", None, dt.date(2026, 7, 1), "current"),
        ("2025", None, dt.date(2026, 7, 2), "stale"),
        ("2024-08-31", None, dt.date(2026, 2, 28), "current"),
        ("2024-08-31", None, dt.date(2026, 3, 1), "stale"),
        (None, None, dt.date(2026, 11, 30), "stale"),
        ("2026-11-09", dt.date(2026, 11, 30), dt.date(2026, 11, 30), "retired"),
        ("2026-11-09", dt.date(2026, 12, 1), dt.date(2026, 11, 30), "current"),
        (None, dt.date(2020, 1, 1), dt.date(2026, 11, 30), "retired"),
    ],
)
def test_status(catalog: Catalog, as_of: str | None, retired_on: dt.date | None, today: dt.date, status: str) -> None:
    offer = catalog.offers["examplecloud-a100x8-us-on-demand"]
    price = dataclasses.replace(offer.price_usd_per_h, as_of=as_of)
    dated = dataclasses.replace(offer, price_usd_per_h=price, retired_on=retired_on)
    assert dated.status(today) == status


def test_missing_assumption_is_no_zero(catalog: Catalog) -> None:
    with pytest.raises(KeyError):
        catalog.assume("no_such_default")
