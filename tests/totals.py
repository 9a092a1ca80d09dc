"""Whether all the ways in which a plan's document says the same money and energy agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import pytest

from planner.report.document import plan_document
from planner.report.export import plan_csv
from planner.report.jobs_csv import jobs_csv
from planner.report.shares import with_shares
from planner.strategy.evaluate import Result

CENT, WH, G = 0.005, 0.0005, 0.0005
"""Half a cent, half a Wh in kWh, half a gram in kg."""


def shared_document(result: Result) -> dict[str, Any]:
    """A plan's document with jobs, resources and groups."""
    return with_shares(plan_document(result), result)


def assert_totals_agree(result: Result) -> int:
    """Lines, months, jobs, resources, groups and both CSV files agree; says how many strategies were looked at."""
    document = shared_document(result)
    costed = [entry for entry in document["strategies"] if entry["tco_usd"] is not None]
    for entry in costed:
        _lines_and_months(entry)
        _jobs_and_resources(entry)
        _groups(entry)
    _files(document, result)
    return len(costed)


def _lines_and_months(entry: Mapping[str, Any]) -> None:
    lines, months = entry["lines"], entry["months"]
    assert sum(line["amount_usd"] for line in lines) == pytest.approx(entry["tco_usd"], abs=CENT)
    assert sum(month["amount_usd"] for month in months) == pytest.approx(entry["tco_usd"], abs=CENT)
    assert months[-1]["cumulative_usd"] == pytest.approx(entry["tco_usd"], abs=CENT)
    for at, month in enumerate(months):
        assert sum(line["by_month_usd"][at] for line in lines) == pytest.approx(month["amount_usd"], abs=CENT)
    for key, total, exact in (("kwh", "energy_kwh", WH), ("kg_co2e", "kg_co2e", G)):
        assert sum(line[key] for line in lines) == pytest.approx(entry[total], abs=exact)
        assert sum(month[key] for month in months) == pytest.approx(entry[total], abs=exact)


def _jobs_and_resources(entry: Mapping[str, Any]) -> None:
    for month in entry["months"]:
        for key, exact in (("amount_usd", CENT), ("kwh", WH), ("kg_co2e", G)):
            rest = month[f"unassigned_{key.removeprefix('amount_')}"]
            assert sum(job[key] for job in month["jobs"]) + rest == pytest.approx(month[key], abs=exact)
            assert sum(one[key] for one in month["resources"]) == pytest.approx(month[key], abs=exact)
    for job in entry["jobs"]:
        place = (job["id"], job["resource"])
        mine = [row for month in entry["months"] for row in month["jobs"] if (row["job"], row["resource"]) == place]
        assert sum(row["amount_usd"] for row in mine) == pytest.approx(job["cost_per_run_usd"] * job["runs"], abs=CENT)
        assert sum(row["runs"] for row in mine) == pytest.approx(job["runs"])
        assert sum(row["gpu_hours"] for row in mine) == pytest.approx(job["gpu_hours"])


def _groups(entry: Mapping[str, Any]) -> None:
    groups = entry["groups"]
    if not groups:
        return
    assert groups[-1]["id"] is None
    for key, total, exact in (("amount_usd", "tco_usd", CENT), ("kwh", "energy_kwh", WH), ("kg_co2e", "kg_co2e", G)):
        assert sum(group[key] for group in groups) == pytest.approx(entry[total], abs=exact)
    for at, month in enumerate(entry["months"]):
        for key, exact in (("amount_usd", CENT), ("kwh", WH)):
            assert all(group["months"][at]["month"] == month["month"] for group in groups)
            assert sum(group["months"][at][key] for group in groups) == pytest.approx(month[key], abs=exact)
    for group in groups:
        assert sum(month["amount_usd"] for month in group["months"]) == pytest.approx(group["amount_usd"], abs=CENT)


def _files(document: Mapping[str, Any], result: Result) -> None:
    for text in (plan_csv(result), jobs_csv(plan_document(result), result)):
        rows = list(csv.DictReader(io.StringIO(text)))
        for entry in document["strategies"]:
            *mine, total = [row for row in rows if row["strategy"] == entry["id"]]
            assert total["month"] == "total"
            for key, name, exact in (
                ("amount_usd", "tco_usd", CENT), ("kwh", "energy_kwh", WH), ("kg_co2e", "kg_co2e", G)
            ):  # fmt: skip
                if entry["tco_usd"] is None:
                    assert (mine, total[key]) == ([], "")
                    continue
                assert float(total[key]) == pytest.approx(entry[name], abs=exact)
                assert sum(float(row[key]) for row in mine) == pytest.approx(entry[name], abs=exact)
