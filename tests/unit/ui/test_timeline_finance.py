"""The money section of the Timeline page: its words, rows and chart."""

from __future__ import annotations

import json

import pytest

from planner.report.document import plan_document
from planner.report.finance import with_finance
from tests.planning import catalog, small_plan, solve
from ui import timeline_tables
from ui.finance_chart import quarter_alt, quarter_chart, quarter_heading
from ui.fiscal import spans_of
from ui.formatting import MINUS, NBSP, USD, Currency
from ui.palette import palette
from ui.timeline_cash import cash_chart, period_name
from ui.timeline_data import Timeline
from ui.timeline_finance import against_lines, book_rows, lease_rows, year_rows
from ui.timeline_words import years_note
from ui.view import View

CALENDAR = {"plan_starts": "2027-10", "fiscal_year_starts": 1}
OFFER = {"lease_offer": {"term_months": 12, "nominal_payment_usd_per_month": 100}}


def shown(overrides=None, kind="local", currency=USD):
    plan = small_plan({**CALENDAR, **(overrides or {})})
    result = solve(plan)
    report = with_finance(plan_document(result), result)
    view = View(report, plan, catalog(), currency)
    way = next(way for way in report["finance"]["strategies"] if way["id"] == kind)
    return view, report, way


def test_years_follow_the_fiscal_calendar_on_the_whole_page():
    view, report, _ = shown()
    timeline = Timeline(view, next(way for way in report["strategies"] if way["id"] == "local"))
    assert [(span.label, span.first, span.last) for span in timeline.spans("year")] == [("2027", 1, 3), ("2028", 4, 12)]
    first, second, total = timeline_tables.year_rows(timeline)
    assert (first["Year"], second["Year"], total["Year"]) == ("2027 (3 months)", "2028 (9 months)", "**Total**")
    assert period_name(timeline.cash("quarter")[1], "quarter") == "Quarter 2028 Q1, months 4–6"
    assert years_note(timeline).startswith("Fiscal years of the scenario; the first and the last may be cut short.")
    spec = cash_chart(timeline.cash("year"), period="year", horizon_months=12, currency=USD, dark=False)
    assert '["2027", "2028"]' in json.dumps(spec).replace('\\"', '"')


def test_periods_of_a_document_without_a_calendar_begin_with_the_plan():
    assert [span.label for span in spans_of({}, 30, "year")] == ["1", "2", "3"]
    assert [span.first for span in spans_of({"plan_starts": "2027-02"}, 7, "quarter")] == [1, 3, 6]


def test_rows_by_fiscal_year_leave_out_what_is_zero_throughout():
    view, _, way = shown(currency=Currency(code="EUR", usd_per_unit=2.0))
    first, second, total = year_rows(view, way)
    assert list(first) == ["Fiscal year", "Purchases", "Running costs", "Resale", "Cash", "Present value"]
    assert list(first.values()) == ["2027 (months 1–3)", "750", "18", "0", "768", "768"]
    assert second["Resale"] == f"{MINUS}312"
    assert total["Cash"] == "**511**"


def test_books_and_lease_against_purchase():
    view, _, way = shown({"machines.own.finance": OFFER, "inflation_per_year": 0})
    first, second = book_rows(view, way["depreciation"][0])
    assert (first["Purchases"], first["Depreciation"], first["Book value after"]) == ("1,500", "219", "1,281")
    assert (second["Sold, book value"], second["Resale"], second["Gain"]) == ("625", "625", "0")
    leased, bought = lease_rows(view, way["lease_or_buy"][0])
    assert list(leased.values()) == ["Leased", "**1,200**", "0", "300", "900", "1,200"]
    assert list(bought.values()) == ["Bought", "**875**", "1,500", "1,500", f"{MINUS}625", "875"]


def test_years_of_the_longer_side_stand_in_the_table_of_both():
    longer = {"lease_offer": {"term_months": 12, "nominal_payment_usd_per_month": 100}}
    view, _, way = shown({"machines.own.finance": longer, "horizon_months": 8, "machines.own.residual_gpu": {8: 0.6}})
    leased, bought = lease_rows(view, way["lease_or_buy"][0])
    assert list(leased) == list(bought)


def test_each_way_over_the_baseline_in_a_sentence():
    view, report, _ = shown()
    own, mix = against_lines(view, report)
    assert own.startswith("**Own all** over Rent all: net present value $1.4")
    assert "Payback: month 8. Internal rate of return: " in own
    assert own.endswith("a year.")
    assert mix.startswith("**Mix**")
    view, report, _ = shown({"baseline": "local"})
    rent = next(line for line in against_lines(view, report) if line.startswith("**Rent all**"))
    assert f"{MINUS}\N{WORD JOINER}$1.4{NBSP}k" in rent
    assert "like a loan" in rent


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_above_the_ceiling_has_the_colour_of_a_broken_limit(dark):
    _, _, way = shown()
    spec = quarter_chart(way["quarters"], 500, currency=USD, dark=dark)
    assert palette(dark=dark).broken not in json.dumps(spec)  # nothing was held against a ceiling
    _, report, way = shown({"cash_ceiling_usd_per_quarter": 500})
    ceiling = report["finance"]["cash_ceiling_usd_per_quarter"]
    spec = quarter_chart(way["quarters"], ceiling, currency=USD, dark=dark)
    rows = spec["layer"][0]["data"]["values"]
    assert [(row["kind"], row["y0"], row["y1"]) for row in rows[:2]] == [
        ("paid in the quarter", 0.0, pytest.approx(500)),
        ("above the ceiling", pytest.approx(500), pytest.approx(1536.9)),
    ]
    assert spec["layer"][0]["encoding"]["color"]["scale"]["range"][1] == palette(dark=dark).broken
    assert spec["layer"][1]["mark"]["type"] == "rule"


def test_headings_and_words_of_the_quarters():
    _, _, way = shown({"cash_ceiling_usd_per_quarter": 500})
    quarters = way["quarters"]
    assert quarter_heading(quarters, 500, USD) == f"1 of 4 quarters take more than $500, most 2027 Q4 with $1.5{NBSP}k"
    _, _, free = shown({"cash_ceiling_usd_per_quarter": 5000})
    assert quarter_heading(free["quarters"], 5000, USD) == f"Every quarter stays under $5.0{NBSP}k"
    assert quarter_heading(free["quarters"], None, USD) == f"The dearest quarter takes $1.5{NBSP}k: 2027 Q4"
    assert quarter_alt(quarters, USD).startswith(f"2027 Q4: $1.5{NBSP}k. 2028 Q1: $37.")
