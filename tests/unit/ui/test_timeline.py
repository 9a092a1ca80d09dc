"""The Timeline page's rows, words and charts: cash to the cent, cuts, loads, and who waits."""

from __future__ import annotations

import altair as alt
import pytest

from planner.report.document import plan_document
from tests.planning import CENT, catalog, document, small_plan, solve
from tests.unit.ui.contrast import contrast
from ui import plan_rows, timeline_cash, timeline_charts, timeline_gantt, timeline_tables, timeline_words
from ui.charts import FADED
from ui.fiscal import PERIODS
from ui.formatting import NBSP, USD
from ui.palette import palette
from ui.timeline_box import people_of
from ui.timeline_data import Load, Period, Timeline, waiting_jobs
from ui.view import View

PLANS = ("hybrid-lab", "committed-node", "colocated-node", "spot-node", "workstation-or-rental")


def timeline_of(plan, kind):
    report = plan_document(solve(plan))
    view = View(report, plan, catalog(), USD)
    return Timeline(view, next(way for way in report["strategies"] if way["id"] == kind))


def lines():
    for name in PLANS:
        for kind in ("local", "cloud", "hybrid"):
            timeline = timeline_of(document(name), kind)
            if timeline.costed:
                yield timeline


def test_cash_by_month_quarter_and_year_is_the_total_to_the_cent():
    seen = 0
    for timeline in lines():
        seen += 1
        value = sum(line["amount_usd"] for line in timeline.way["lines"] if line["id"].startswith("opportunity"))
        for period, size in PERIODS.items():
            entries = timeline.cash(period)
            assert sum(entry.cash_usd for entry in entries) == pytest.approx(timeline.way["tco_usd"] - value, abs=CENT)
            assert [entry.first for entry in entries] == list(range(1, timeline.months + 1, size))
            assert entries[-1].last == timeline.months
        *years, total = timeline.years()
        assert total.cash_usd == pytest.approx(timeline.way["tco_usd"] - value, abs=CENT)
        for kind in ("purchase", "rental", "running", "resale"):
            summed = sum(getattr(year, f"{kind}_usd") for year in years)
            assert getattr(total, f"{kind}_usd") == pytest.approx(summed, abs=CENT)
    assert seen >= 8


def test_every_month_is_that_of_the_document():
    for timeline in lines():
        months = timeline.cash("month")
        worth = [line["by_month_usd"] for line in timeline.way["lines"] if line["id"].startswith("opportunity")]
        for at, (entry, month) in enumerate(zip(months, timeline.way["months"], strict=True)):
            assert entry.cash_usd + sum(amounts[at] for amounts in worth) == pytest.approx(month["amount_usd"])


def test_a_small_plan_by_hand():
    timeline = timeline_of(small_plan(), "local")
    first, *middle, last = timeline.cash("month")
    assert first.parts_usd == pytest.approx({"owned": 1500.0, "electricity": 12.3})
    assert all(month.parts_usd == pytest.approx({"electricity": 12.3}) for month in (*middle, last))
    assert last.resale_usd == -625.0
    assert timeline.usual_usd() == pytest.approx(12.3)
    assert (timeline.peak().number, timeline.top_quarter().number, timeline.shape()) == (1, 1, "peak")
    assert timeline.top_quarter().paid_usd == pytest.approx(1536.9)
    (year, _) = timeline.years()
    assert (year.purchase_usd, year.resale_usd) == (1500.0, -625.0)
    assert year.running_usd == pytest.approx(147.6)


def test_what_owned_machines_are_worth_is_no_cash():
    ratios = {12: 0.5, 24: 0.4}
    plan = small_plan({"machines.own.owned": {"count": 1, "age_months": 12}, "machines.own.useful_life_months": 24})
    plan["machines"]["own"] |= {"residual_gpu": ratios, "residual_host": ratios}
    timeline = timeline_of(plan, "local")
    assert any(line["id"].startswith("opportunity") for line in timeline.way["lines"])
    assert "owned" not in timeline.cash("month")[0].parts_usd


def test_months_after_the_horizon_are_marked():
    timeline = timeline_of(document("committed-node"), "cloud")
    assert [month.number for month in timeline.cash("month") if month.after] == [10, 11, 12]
    assert [quarter.after for quarter in timeline.cash("quarter")] == [False, False, False, True]
    assert timeline.after_usd() == pytest.approx(3 * 730 * 62.9248, abs=CENT)
    assert "still to be paid" in timeline_words.sentence(timeline)
    spec = timeline_cash.cash_chart(timeline.cash("month"), period="month", horizon_months=9, currency=USD, dark=False)
    assert {"x0": 9.5, "x1": 12.5} in spec["layer"][0]["data"]["values"]


def test_even_and_varied_cash_are_told_apart():
    plan = small_plan({"machines.own.count": None})
    assert timeline_of(plan, "cloud").shape() == "even"
    plan["jobs"]["work"]["runs_by_month"] = {7: 150}
    varied = timeline_of(plan, "cloud")
    assert (varied.shape(), varied.peak().number) == ("varied", 7)
    assert timeline_words.title(varied, None) == "Cash is highest in month 7"
    assert "$200–300 by month" in timeline_words.figures(varied, None)[1][2]


def test_loads_and_the_months_above_the_safe_one():
    timeline = timeline_of(small_plan({"jobs.work.runs_by_month": {3: 600, 5: 511}}), "local")
    (load,) = timeline.loads()
    assert (load.machine, load.safe, load.over) == ("own", 0.7, [3])  # 511 of 730 h are 70 %, and not above
    heading = timeline_words.load_heading([load])
    assert heading == f"The own machines pass the safe 70{NBSP}% in 1 of 12 months, most in month 3 with 82{NBSP}%"
    assert "months above it: 1" in timeline_charts.load_alt([load])
    spec = timeline_charts.load_chart([load], dark=False)
    marked = [layer for layer in spec["layer"] if layer["mark"].get("shape") == "triangle-up"]
    assert [row["month"] for row in marked[0]["data"]["values"]] == [3]


def period(number, parts, resale=0.0):
    return Period(
        number=number, label=str(number), first=number, last=number, parts_usd=parts, resale_usd=resale, after=False
    )


BARS = [
    period(1, {"owned": 8_000.0, "people": 500.0}),
    *[period(number, {"people": 500.0, "electricity": 300.0}) for number in range(2, 12)],
    period(12, {"people": 500.0}, resale=-4_000.0),
]


def test_a_bar_that_dwarfs_the_others_is_cut_and_says_what_it_is():
    cut = timeline_cash.cut_of(BARS)
    assert cut == timeline_cash.Cut(top_usd=1280.0, bottom_usd=-768.0)
    spec = timeline_cash.cash_chart(BARS, period="month", horizon_months=12, currency=USD, dark=False)
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"]]
    drawn = {row["role"]: row for row in rows if row.get("when") == "Month 1"}
    assert drawn["Purchase"]["y1"] == pytest.approx(780.0)  # 1,280 less the 500 USD of people above it
    assert drawn["People"]["y1"] == pytest.approx(1280.0)
    assert drawn["Purchase"]["exact"] == "$8,000"
    texts = [row["text"] for row in rows if "text" in row]
    assert texts == [f"Purchase $8.0{NBSP}k (bar cut)", f"Resale −$4.0{NBSP}k (bar cut)"]


def test_bars_alike_are_not_cut():
    even = [period(number, {"people": 500.0 + number}) for number in range(1, 13)]
    assert timeline_cash.cut_of(even) == timeline_cash.Cut(top_usd=512.0, bottom_usd=0.0)
    resale = [*even, period(13, {"people": 500.0}, resale=-400.0)]
    assert timeline_cash.cut_of(resale).bottom_usd == -400.0
    nothing = [period(1, {})]
    assert timeline_cash.cut_of(nothing) == timeline_cash.Cut(top_usd=0.0, bottom_usd=0.0)


def waits(p50_h=0.0, p90_h=2.0, mean_h=0.5):
    months = [
        {"month": 1, "attempts": 40, "wait_p50_h": p50_h, "wait_p90_h": p90_h},
        {"month": 2, "attempts": 40, "wait_p50_h": p50_h, "wait_p90_h": p90_h * 2},
        {"month": 3, "attempts": 3, "wait_p50_h": None, "wait_p90_h": None},
    ]
    job = {"id": "work", "runs": 80, "wait_mean_h": mean_h, "wait_p50_h": p50_h, "wait_p90_h": p90_h}
    rare = {**job, "id": "rare", "runs": 2, "by_month": months}
    return {"own": {"jobs": [rare, {**job, "by_month": months}]}}


def test_the_title_says_who_waits_and_when_cash_goes_out():
    timeline = timeline_of(small_plan(), "local")
    assert timeline_words.title(timeline, None) == "Cash peaks in month 1"
    assert (
        timeline_words.title(timeline, waits()) == f"Nine in ten work runs start within 2{NBSP}h; cash peaks in month 1"
    )
    at_once = timeline_words.title(timeline, waits(p90_h=0.0, mean_h=0.0))
    assert at_once == "Nine in ten work runs start at once; cash peaks in month 1"
    few = timeline_words.title(timeline, waits(p90_h=0.0, mean_h=6.0))
    assert f"start at once, yet the mean wait is 6{NBSP}h; cash" in few
    overfull = timeline_of(small_plan({"jobs.work.runs_per_month": 800}), "local")
    assert timeline_words.title(overfull, waits()).startswith("The own machines can’t keep up and waits grow; cash")
    assert [job["id"] for _, job in waiting_jobs(waits())] == ["work", "rare"]


def test_the_four_figures_of_owned_and_of_rented_ways():
    labels = [label for label, _, _ in timeline_words.figures(timeline_of(small_plan(), "local"), waits())]
    assert labels == ["Cash, top quarter", "Paid back in", "Typical wait", "Owned cards busy"]
    simulating = timeline_words.figures(timeline_of(small_plan(), "local"), None)[2]
    assert simulating[2] == "simulating the months"
    rented = timeline_words.figures(timeline_of(small_plan(), "cloud"), None)
    assert [label for label, _, _ in rented] == [
        "Cash, top quarter",
        "Usual month",
        "Cash in total",
        "Paid after the end",
    ]
    assert all(len(label) <= 20 for label in (*labels, *(label for label, _, _ in rented)))


def test_months_are_compared_only_where_their_loads_differ():
    (_, job) = waiting_jobs(waits())[0]
    even = [Load(machine="own", count=1, load=(0.5, 0.5, 0.5), safe=0.7)]
    assert timeline_words.wait_heading(job, even).startswith("Even in the worst month")
    varied = [Load(machine="own", count=1, load=(0.2, 0.6, 0.5), safe=0.7)]
    assert f"longest in month 2: nine in ten work runs start within 4{NBSP}h" in timeline_words.wait_heading(
        job, varied
    )
    assert "longest in month 2" in timeline_charts.wait_alt(job["by_month"], "work")


@pytest.mark.parametrize(("p90_h", "unit"), [(0.5, "minutes"), (1.0, "hours"), (40.0, "days")])
def test_waits_are_drawn_in_the_unit_that_reads_well(p90_h, unit):
    months = waits(p90_h=p90_h)["own"]["jobs"][0]["by_month"]
    assert timeline_charts.wait_unit(months)[1] == unit
    spec = timeline_charts.wait_chart(months, job="work", dark=False)
    assert len(spec["layer"][0]["data"]["values"]) == 2  # not of the month with three attempts


def test_the_table_of_years_leaves_out_columns_of_zeros():
    own, rent = (timeline_tables.year_rows(timeline_of(small_plan(), kind)) for kind in ("local", "cloud"))
    assert list(own[0]) == ["Year", "Purchase", "Running", "Cash"]
    assert list(rent[0]) == ["Year", "Rental", "Cash"]
    assert own[-1]["Purchase"] == r"\$875"  # 1,500 less 625
    assert own[-1]["Cash"] == rf"**\$1.0{NBSP}k**"


def test_the_table_of_months_has_cash_load_and_waits():
    timeline = timeline_of(small_plan({"horizon_months": 3}), "local")
    rows = timeline_tables.month_rows(timeline, waits(), ("own", "work"))
    assert rows[0]["Purchase, USD"] == "1,500.00"
    assert rows[0]["Cash, USD"] == "1,512.30"
    assert rows[1]["Load, own"] == f"14{NBSP}%"
    assert [row["Wait of work, nine in ten"] for row in rows] == [f"2{NBSP}h", f"4{NBSP}h", ""]


BAR = {
    "job": "work",
    "machine": 0,
    "first_gpu": 2,
    "gpus": 2,
    "submitted_h": 25.0,
    "started_h": 26.5,
    "ended_h": 30.0,
    "failed": False,
}
COURSE = {
    "machine": "own",
    "count": 2,
    "gpus_per_machine": 4,
    "month": 6,
    "span_h": 168.0,
    "start_h": 0.0,
    "attempts": 3,
    "complete": True,
    "jobs": ["work", "key"],
    "repairs": [],
    "bars": [
        BAR,
        {**BAR, "machine": 1, "failed": True, "started_h": 160.0, "ended_h": 200.0},
        {**BAR, "job": "key", "started_h": -5.0, "submitted_h": -10.0, "ended_h": 20.0},
    ],
}


def test_bars_of_the_gantt_stand_in_their_rows_and_end_with_the_week():
    spec = timeline_gantt.gantt_chart(COURSE, dark=False)
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"] if "tip" in row]
    done = next(row for row in rows if row["job"] == "work" and not row["failed"])
    assert (done["x0"], done["x1"]) == pytest.approx((26.5 / 24, 30 / 24), abs=1e-4)
    assert done["y1"] - done["y0"] == pytest.approx(2 * 16 - 1)
    assert list(done["tip"].values()) == ["work", "day 2, 01:00", f"1.5{NBSP}h", f"3.5{NBSP}h", "done"]
    failed = next(row for row in rows if row["failed"])
    assert failed["x1"] == 7.0
    assert failed["y0"] - done["y0"] == pytest.approx(22 + 4 * 16 + 8)
    early = next(row for row in rows if row["job"] == "key")
    assert (early["x0"], early["tip"]["Submitted"]) == (0.0, f"10{NBSP}h before")
    colour = next(
        layer["encoding"]["color"] for layer in spec["layer"] if "condition" in layer["encoding"].get("color", "")
    )
    assert colour["condition"] == {"test": "datum.failed", "value": palette(dark=False).page}


def test_a_machine_under_repair_is_drawn_over_its_lane() -> None:
    plain = timeline_gantt.gantt_chart(COURSE, dark=False)
    away = {**COURSE, "repairs": [{"machine": 1, "failed_h": -5.0, "back_h": 48.0}]}
    (layer,) = [layer for layer in timeline_gantt.gantt_chart(away, dark=False)["layer"] if layer not in plain["layer"]]
    (row,) = layer["data"]["values"]
    assert (row["x0"], row["x1"], row["ending"]) == (0.0, 2.0, "away for repair")
    lanes = plain["layer"][0]["data"]["values"]
    assert (row["y0"], row["y1"]) == (lanes[1]["y0"], lanes[1]["y1"])


def test_the_gantt_says_what_it_shows():
    assert timeline_words.gantt_heading(COURSE).startswith(
        "A week of typical month 6: 3 attempts, 1 failed, the longest"
    )
    assert timeline_gantt.gantt_alt(COURSE) == "3 attempts on 2 × own, 1 of them fail."
    calm = {**COURSE, "bars": [{**BAR, "submitted_h": 26.5}], "attempts": 1, "span_h": 730.0}
    assert timeline_words.gantt_heading(calm) == "A typical month, 6: 1 attempts, none failed, none waits"
    spans = {8760.0: "year", 730.0: "month", 168.0: "week", 24.0: "day", 1.0: "hour"}
    assert {hours: timeline_gantt.span_key({"span_h": hours}) for hours in spans} == spans


def test_of_many_machines_the_first_are_drawn():
    many = {**COURSE, "count": 100, "bars": [{**BAR, "machine": at} for at in range(100)]}
    spec = timeline_gantt.gantt_chart(many, dark=False)
    assert max(len(layer["data"]["values"]) for layer in spec["layer"]) == timeline_gantt.MOST_MACHINES


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("faded", [False, True])
def test_all_charts_are_valid_and_their_words_can_be_read(dark, faded):
    months = waits()["own"]["jobs"][0]["by_month"]
    load = Load(machine="own", count=1, load=(0.5, 0.9), safe=0.7)
    colours = palette(dark=dark)
    specs = [
        *(
            timeline_cash.cash_chart(BARS, period=name, horizon_months=11, currency=USD, dark=dark, faded=faded)
            for name in PERIODS
        ),
        timeline_charts.load_chart([load, load], dark=dark, faded=faded),
        timeline_charts.wait_chart(months, job="work", dark=dark, faded=faded),
        timeline_gantt.gantt_chart(COURSE, dark=dark, faded=faded),
    ]
    for spec in specs:
        alt.LayerChart.from_dict(spec, validate=True)
    assert contrast(colours.broken, colours.page) >= 3


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("faded", [False, True])
def test_names_in_bars_can_be_read_on_their_shade(dark, faded):
    course = {**COURSE, "bars": [{**BAR, "ended_h": 60.0, "job": job} for job in ("work", "key")]}
    spec = timeline_gantt.gantt_chart(course, dark=dark, faded=faded)
    page = palette(dark=dark).page
    colour = next(
        layer["encoding"]["color"] for layer in spec["layer"] if "scale" in layer["encoding"].get("color", {})
    )
    shades = dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))
    labels = [row for layer in spec["layer"] for row in layer["data"]["values"] if "ink" in row]
    assert {row["text"] for row in labels} == {"work", "key"}
    for row in labels:
        ground = timeline_gantt.blend(shades[row["text"]], page, FADED if faded else 1.0)
        assert contrast(row["ink"], ground) >= 4.5, row


def test_machines_that_come_later_are_paid_back_for_good_after_the_last_purchase():
    def way(*spent):
        months = [
            {"month": at, "capex_usd": usd, "opex_usd": 0.0, "financing_usd": 0.0, "amount_usd": usd}
            for at, usd in enumerate(spent, start=1)
        ]
        return {"cash_at_start_usd": 0.0, "months": months, "lines": []}

    mine, other = way(30, 0, 0, 0, 25, 0, 0, 0), way(10, 10, 10, 10, 10, 10, 10, 10)
    assert plan_rows.for_good(mine, other, 8) == 6
    assert plan_rows.for_good(other, mine, 8) is None
    assert plan_rows.last_paid(way(1, 1, 1, 0, 0), 2) == 3
    assert plan_rows.last_paid(way(1, 1, 0), 2) == 2


def test_people_now_are_those_of_the_groups():
    assert people_of({"groups": {"a": {"people": 6}, "b": {"people": 4}, "c": {}}}) == 10
    assert people_of({"groups": {"a": {}}}) == people_of({}) == 4
