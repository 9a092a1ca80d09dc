"""The rest of a plan as a table: its parts are what its total is made of."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from ui.actual_rows import rest_rows
from ui.formatting import USD


def rest(financing_usd: float) -> dict[str, float]:
    parts = {"running_usd": 100.0, "purchase_usd": 40.0, "resale_usd": -15.0, "financing_usd": financing_usd}
    return {**parts, "total_usd": sum(parts.values())}


@pytest.mark.parametrize("financing_usd", [0.0, 25.0])
def test_loans_and_leases_have_a_column_where_there_are_some(financing_usd: float) -> None:
    way = {"id": "local", "old": rest(financing_usd), "new": None, "feasible": True}
    view = SimpleNamespace(currency=USD, strategies=[{"id": "local", "kind": "local"}])
    (row,) = rest_rows({"replan": {"from_month": 4, "ways": [way], "changed": []}}, view)
    assert ("Loans, leases" in row) == bool(financing_usd)
    amounts = [float(re.sub(r"[^\d.−]", "", text).replace("−", "-")) for text in list(row.values())[1:]]
    assert sum(amounts[:-1]) == pytest.approx(amounts[-1])
