"""The JSON document and the CSV of a plan: the contract, sums, sources, safe cells."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.load import load_catalog
from planner.performance.bottleneck import bottleneck
from planner.performance.evidence import load_evidence
from planner.report import document as document_module
from planner.report.document import plan_document
from planner.report.export import COLUMNS, plan_csv, safe_cell
from planner.scenario.load import check_document, load_scenario, read_document
from planner.strategy.evaluate import Result, evaluate

ROOT = Path(__file__).resolve().parents[3]
TODAY = dt.date(2026, 11, 30)
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))

STRATEGY_KEYS = {
    "id", "kind", "feasible", "problems", "tco_usd", "present_value_usd", "capex_usd", "residual_usd", "opex_usd",
    "energy_kwh", "kg_co2e", "estimated_share", "paybacks", "lines", "jobs",
}  # fmt: skip
LINE_KEYS = {
    "id", "group", "resource", "job", "amount_usd", "present_value_usd", "quantity", "unit", "unit_price_usd",
    "estimate", "sources",
}  # fmt: skip
JOB_KEYS = {
    "id", "workload", "resource", "gpus", "runs", "gpu_hours", "throughput", "throughput_unit", "basis",
    "time_to_train_h", "low_h", "high_h", "memory_gb", "fits", "cost_per_run_usd", "marginal_cost_per_run_usd",
}  # fmt: skip
PLAN_KEYS = {
    "schema_version", "name", "horizon_months", "catalog_as_of", "currency", "recommended", "reason", "reason_code",
    "reason_params", "warnings", "strategies",
}  # fmt: skip
LINE_KINDS = {
    "gpu", "host", "installation", "resale_gpu", "resale_host", "opportunity", "electricity", "colocation",
    "maintenance", "staff_local", "staff_cloud", "rental", "storage", "egress", "tax_purchase", "tax_local",
    "tax_rented",
}  # fmt: skip


def planned(path: Path, **changes: Any) -> Result:
    document = read_document(path.read_bytes(), file=path.name)
    document |= changes
    return evaluate(check_document(document), load_catalog(today=TODAY), load_evidence(), today=TODAY)


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def result(request: pytest.FixtureRequest) -> Result:
    return evaluate(load_scenario(request.param), load_catalog(today=TODAY), load_evidence(), today=TODAY)


def test_the_document_keeps_the_contract(result: Result) -> None:
    document = plan_document(result)
    json.dumps(document, allow_nan=False)
    assert set(document) >= PLAN_KEYS
    assert set(document["currency"]) == {"code", "usd_per_unit", "as_of"}
    assert [entry["id"] for entry in document["strategies"]] == ["local", "cloud", "hybrid"]
    for entry in document["strategies"]:
        assert set(entry) >= STRATEGY_KEYS
        ids = [line["id"] for line in entry["lines"]]
        assert len(ids) == len(set(ids))
        for line in entry["lines"]:
            assert set(line) >= LINE_KEYS
            assert line["id"].partition(".")[0] in LINE_KINDS
            assert line["group"] in {"capex", "residual", "opex"}
            assert line["sources"]
            assert line["amount_usd"] == pytest.approx(line["quantity"] * line["unit_price_usd"], abs=0.005)
        for job in entry["jobs"]:
            assert set(job) >= JOB_KEYS
            assert job["low_h"] <= job["time_to_train_h"] <= job["high_h"]
            assert job["basis"] in {"estimated", "transferred", "measured"}


def test_totals_are_the_sum_of_the_lines(result: Result) -> None:
    for entry in plan_document(result)["strategies"]:
        by_group = {"capex": 0.0, "residual": 0.0, "opex": 0.0}
        for line in entry["lines"]:
            by_group[line["group"]] += line["amount_usd"]
        assert entry["tco_usd"] == pytest.approx(sum(by_group.values()), abs=0.005)
        assert entry["capex_usd"] == pytest.approx(by_group["capex"], abs=0.005)
        assert entry["residual_usd"] == pytest.approx(by_group["residual"], abs=0.005)
        assert entry["residual_usd"] <= 0
        assert entry["opex_usd"] == pytest.approx(
            entry["tco_usd"] - entry["capex_usd"] - entry["residual_usd"], abs=0.005
        )
        assert entry["present_value_usd"] == pytest.approx(sum(line["present_value_usd"] for line in entry["lines"]))
        assert entry["energy_kwh"] == pytest.approx(sum(line["kwh"] for line in entry["lines"]))
        marked = sum(abs(line["amount_usd"]) for line in entry["lines"] if line["estimate"])
        everything = sum(abs(line["amount_usd"]) for line in entry["lines"])
        assert entry["estimated_share"] == pytest.approx(marked / everything)
        assert entry["months"][-1]["cumulative_usd"] == pytest.approx(entry["tco_usd"], abs=0.005)
        assert len(entry["months"]) == plan_document(result)["horizon_months"]


def test_a_higher_purchase_is_paid_back_in_the_month_whose_cash_says_so(result: Result) -> None:
    entries = {entry["id"]: entry for entry in plan_document(result)["strategies"] if entry["tco_usd"] is not None}
    spent = {}
    for id, entry in entries.items():
        worth_today = sum(line["amount_usd"] for line in entry["lines"] if line["id"].startswith("opportunity"))
        flows = [month["capex_usd"] + month["opex_usd"] for month in entry["months"]]
        spent[id] = [sum(flows[: n + 1]) - worth_today for n in range(len(flows))]
    for id, entry in entries.items():
        lower = {other for other in entries if entries[other]["cash_at_start_usd"] < entry["cash_at_start_usd"]}
        assert {payback["against"] for payback in entry["paybacks"]} == lower
        for payback in entry["paybacks"]:
            pairs = zip(spent[id], spent[payback["against"]], strict=True)
            months = [month for month, (mine, theirs) in enumerate(pairs, start=1) if mine <= theirs]
            assert payback["month"] == (months[0] if months else None)


def test_every_source_of_the_document_is_explained(result: Result) -> None:
    document = plan_document(result)
    cited = {source for entry in document["strategies"] for line in entry["lines"] for source in line["sources"]}
    cited |= {source for figure in document["figures"] for source in figure["sources"]}
    assert cited == set(document["sources"])
    assert all(record["kind"] != "unknown" for record in document["sources"].values())
    assert all(record["title"] != id for id, record in document["sources"].items())


def test_the_csv_agrees_with_the_json(result: Result) -> None:
    document = plan_document(result)
    rows = list(csv.DictReader(io.StringIO(plan_csv(result))))
    assert tuple(rows[0]) == COLUMNS
    for entry in document["strategies"]:
        mine = [row for row in rows if row["strategy"] == entry["id"]]
        total = mine[-1]
        assert total["month"] == "total"
        assert sum(row["month"] == "total" for row in mine) == 1
        assert float(total["amount_usd"]) == pytest.approx(entry["tco_usd"], abs=0.005)
        assert float(total["kwh"]) == pytest.approx(entry["energy_kwh"], abs=0.001)
        assert float(total["kg_co2e"]) == pytest.approx(entry["kg_co2e"], abs=0.001)
        by_line: dict[str, float] = {}
        for row in mine[:-1]:
            assert 1 <= int(row["month"]) <= document["horizon_months"]
            assert row["source"]
            by_line[row["line"]] = by_line.get(row["line"], 0.0) + float(row["amount_usd"])
            energetic = row["line"].startswith(("electricity.", "rental."))
            assert energetic or float(row["kwh"]) == 0
        assert by_line == pytest.approx({line["id"]: line["amount_usd"] for line in entry["lines"]}, abs=0.005)


def test_one_figure_can_be_followed_from_its_file_to_the_csv() -> None:
    """The price of p4d.24xlarge: data/prices.yaml -> catalog -> line -> JSON sources -> CSV row with its date."""
    path = ROOT / "examples" / "hybrid-lab.yaml"
    offer = "aws-p4d-24xlarge-us-east-1-on-demand"
    text = (ROOT / "data" / "prices.yaml").read_text(encoding="utf-8")
    entry = text[text.index(f"- id: {offer}\n") :].split("- id: ")[1]
    assert "price_usd_per_h: 21.957642" in entry
    sources = entry.split("source: ")[1].split("\n")[0].strip(" []").split(", ")
    result = planned(path, rental={"offers": [offer]})
    document = plan_document(result)
    cloud = next(item for item in document["strategies"] if item["id"] == "cloud")
    line = next(item for item in cloud["lines"] if item["id"] == f"rental.key.{offer}")
    assert line["unit_price_usd"] == 21.957642
    assert line["sources"][: len(sources)] == sources
    assert {document["sources"][source]["kind"] for source in sources} == {"published"}
    figure = next(item for item in document["figures"] if item["id"] == f"offers.{offer}.price_usd_per_h")
    assert (figure["value"], figure["as_of"], figure["sources"]) == (21.957642, "2026-11-09", sources)
    rows = [row for row in csv.DictReader(io.StringIO(plan_csv(result))) if row["line"] == line["id"]]
    assert {float(row["unit_price_usd"]) for row in rows} == {21.957642}
    assert all(f"{' + '.join(sources)} (2026-11-09)" in row["source"] for row in rows)


def test_a_price_of_the_users_own_cites_the_scenario_and_a_default_its_assumption() -> None:
    result = planned(ROOT / "examples" / "hybrid-lab.yaml", discount_rate=0.04, tax={"rate": 0.1})
    document = plan_document(result)
    figures = {figure["id"]: figure for figure in document["figures"]}
    assert figures["discount_rate"]["sources"] == ["scenario"]
    assert figures["staff.cost_usd_per_fte_year"]["sources"] == ["assumptions:staff_usd_per_fte_year"]
    taxes = [line for entry in document["strategies"] for line in entry["lines"] if line["id"].startswith("tax_")]
    assert taxes
    assert all(line["sources"] == ["scenario"] for line in taxes)


def test_a_strategy_that_cannot_run_has_no_figures_rather_than_zero() -> None:
    path = ROOT / "tests" / "fixtures" / "plans" / "hybrid-lab.yaml"
    result = evaluate(load_scenario(path), load_catalog(today=TODAY), load_evidence(), today=TODAY)
    local = plan_document(result)["strategies"][0]
    assert local["feasible"] is False
    assert local["problems"][0]["code"] == "too_many_gpus"
    assert local["problems"][0]["field"] == "jobs.key.gpus"
    assert local["tco_usd"] is None
    assert local["lines"] == []
    total = next(row for row in csv.DictReader(io.StringIO(plan_csv(result))) if row["strategy"] == "local")
    assert (total["month"], total["amount_usd"]) == ("total", "")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("=1+1", "'=1+1"), ("+a", "'+a"), ("-a", "'-a"), ("@a", "'@a"), ("\ta", "'\ta"), ("a=1", "a=1"), (-1.5, -1.5)],
)
def test_cells_that_look_like_formulas_are_neutralised(cell: object, expected: object) -> None:
    assert safe_cell(cell) == expected


def test_ways_that_run_a_job_alike_search_its_bottleneck_once(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def counted(setup: Any, prediction: Any, catalog: Any) -> Any:
        searched.append(id(prediction))
        return bottleneck(setup, prediction, catalog)

    monkeypatch.setattr(document_module, "bottleneck", counted)
    jobs = [job for entry in plan_document(result)["strategies"] for job in entry["jobs"]]
    assert len(searched) == len(set(searched))
    predictions = [job.pair.fit.prediction for strategy in result.strategies for job in strategy.jobs]
    for job, prediction in zip(jobs, predictions, strict=True):
        assert job["capacity_gb"] == (None if prediction is None else prediction.capacity_gb)
        assert prediction is None or job["memory_gb"] <= job["capacity_gb"]


def test_a_run_that_was_estimated_names_its_bottleneck_and_an_own_rate_none(result: Result) -> None:
    jobs = [job for entry in plan_document(result)["strategies"] for job in entry["jobs"]]
    assert jobs
    for job in jobs:
        if not job["settings"]:
            assert job["bottleneck"] is None
            continue
        assert set(job["bottleneck"]) == {"part", "share", "remedy", "settings", "speed_factor", "text"}
        assert 0.2 < job["bottleneck"]["share"] < 1
        assert job["bottleneck"]["remedy"]
