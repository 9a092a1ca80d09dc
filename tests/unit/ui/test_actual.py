"""Plan against actual as the page says it: sums of the chart, and the rows of its tables."""

import itertools

from planner.actual.document import actual_document
from planner.actual.run import RowsFile, against_plan
from planner.scenario.load import check_document
from tests.planning import catalog, small_plan, solve, strategy
from ui import actual_chart, actual_rows
from ui.formatting import USD, Currency
from ui.view import View

HOURS = b"month,job,resource,runs,attempts,gpu_hours\n1,work,rented,110,121,133.1\n3,work,rented,100,100,100\n"
BILLS = b"month,resource,line,amount_usd\n1,rented,rental,292.82\n"


def month(number, planned, billed, paid):
    cumulative = {"cumulative_low_usd": planned * number * 0.9, "cumulative_high_usd": planned * number * 1.1}
    return {"month": number, "planned_usd": planned, "billed_planned_usd": billed, "actual_usd": paid, **cumulative}


MONTHS = [month(1, 100, 80, 90), month(2, 100, None, None), month(3, 100, 50, 20), month(4, 100, None, None)]


def document(bills=BILLS):
    plan = small_plan()
    result, scenario = solve(plan), check_document(plan)
    comparison = against_plan(
        scenario,
        result,
        strategy(result, "cloud"),
        hours=RowsFile(content=HOURS, file="h.csv"),
        invoice=None if bills is None else RowsFile(content=bills, file="i.csv"),
    )
    return actual_document(scenario, result, comparison), View(
        {"strategies": [], "recommended": None}, plan, catalog(), USD
    )


def test_the_chart_sums_like_with_like_and_ends_with_the_last_bill():
    rows = actual_chart.sums(MONTHS)
    assert [row["whole"] for row in rows] == [100, 200, 300, 400]
    assert [row["billed"] for row in rows] == [80, 80, 130, None]
    assert [row["actual"] for row in rows] == [90, 90, 110, None]


def test_names_at_line_ends_keep_apart():
    spec = actual_chart.actual_chart(MONTHS, currency=USD, dark=False)
    ends = [row["usd"] for row in spec["layer"][-1]["data"]["values"]]
    assert len(ends) == 3
    assert all(higher - lower > 20 for lower, higher in itertools.pairwise(ends))


def test_the_chart_is_said_in_words():
    assert "and $110 was paid" in actual_chart.actual_alt(MONTHS[:3], USD)


def test_the_bridge_leads_from_planned_to_paid():
    found, _ = document()
    assert [list(row.values()) for row in actual_rows.bridge_rows(found, USD)] == [
        ["**Planned**", r"**\$200**"],
        ["Runs", r"\$20.00"],
        ["Attempts", r"\$22.00"],
        ["Hours of an attempt", r"\$24.20"],
        ["Prices", r"\$26.62"],
        ["**Paid**", r"**\$292.82**"],
    ]


def test_heading_sentence_and_rows_in_another_currency():
    found, view = document()
    euro = Currency(code="EUR", usd_per_unit=2.0)
    assert actual_rows.heading(found, euro) == "€46.41 more was paid than planned for the same"
    assert "Paid €146.41 in months 1 to 3" in actual_rows.sentence(found, euro)
    (job,) = actual_rows.job_rows(found, view)
    assert (job["Runs"], job["Attempts a run"], job["Time"]) == ("210 of 200", "1.05 of 1", "no range")
    assert actual_rows.money_rows(found, view)[0]["Price"] == r"\$2.2 for \$2 a node-hour"


def test_without_an_invoice_nothing_is_said_of_money():
    found, view = document(None)
    assert actual_rows.heading(found, USD) == "What was paid is unknown without an invoice"
    assert actual_rows.sentence(found, USD) == "Hours of months 1 to 3 are known."
    assert actual_rows.money_rows(found, view) == []


def test_flags_are_said_in_the_currency_of_the_plan():
    found, view = document(b"month,resource,line,amount_usd\n1,rented,egress,7\n")
    euro = Currency(code="EUR", usd_per_unit=2.0)
    view = View(view.report, view.document, view.catalog, euro)
    assert any("3.5 EUR in month 1 for rented (egress)" in note for note in actual_rows.notes(found["flags"], view))
