"""The shortest and the longest plan: a month and seven years, in every table, sentence and chart of the page."""

from __future__ import annotations

import json

import pytest

from planner.report.break_even import with_break_even
from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.report.waiting import with_waiting
from tests.planning import CENT, catalog, document, small_plan, solve
from tests.totals import assert_totals_agree, shared_document
from ui import timeline_cash, timeline_charts, timeline_groups, timeline_tables, timeline_words
from ui.fiscal import PERIODS
from ui.formatting import USD
from ui.simulations import Simulations
from ui.timeline_data import Timeline
from ui.view import View

GROUPS = {"groups": {"lab": {"people": 2}}}
LONGER_CURVES = {"machines.own.residual_gpu": {12: 0.5, 240: 0}, "machines.own.residual_host": {12: 0.5, 240: 0}}


def plan_of(name, months):
    if name == "small":
        return small_plan({**GROUPS, **LONGER_CURVES, "horizon_months": months, "jobs.work.group": "lab"})
    changed = {"horizon_months": months, "rental.commitments.reserved.renew": True} if name == "committed-node" else {}
    plan = document(name, {**GROUPS, "horizon_months": months, **changed})
    for job in plan["jobs"].values():
        job["runs_by_month"] = {}
    return plan


@pytest.mark.parametrize("months", [1, 84])
@pytest.mark.parametrize("name", ["small", "committed-node", "on-demand-node", "spot-node"])
def test_the_shortest_and_the_longest_plan_have_all_that_others_have(name, months):
    plan = plan_of(name, months)
    result = solve(plan)
    assert assert_totals_agree(result) >= 1
    report = shared_document(result)
    json.dumps(report, allow_nan=False)
    view = View(report, plan, catalog(), USD)
    for way in report["strategies"]:
        timeline = Timeline(view, way)
        if not timeline.costed:
            continue
        assert timeline.months >= months
        assert len(way["months"]) == len(way["groups"][0]["months"]) == timeline.months
        for period in PERIODS:
            periods = timeline.cash(period)
            options = {"currency": USD, "dark": False, "horizon_months": months}
            timeline_cash.cash_chart(periods, period=period, faded=False, **options)
            assert timeline_cash.cash_alt(periods, period, USD)
            assert sum(one.cash_usd for one in periods) == pytest.approx(timeline.years()[-1].cash_usd, abs=CENT)
        assert timeline_words.title(timeline, None)
        assert timeline_words.sentence(timeline)
        assert len(timeline_words.figures(timeline, None)) == 4
        assert len(timeline_tables.year_rows(timeline)) == -(-timeline.months // 12) + 1
        assert len(timeline_tables.month_rows(timeline, {}, None)) == timeline.months
        assert len(timeline_groups.month_rows(timeline_groups.shown(way["groups"]))) == timeline.months
        if timeline.loads():
            timeline_charts.load_chart(timeline.loads(), dark=False, faded=False)


@pytest.mark.parametrize("months", [1, 84])
def test_the_text_and_the_waits_of_the_shortest_and_the_longest_plan(months):
    result = solve(plan_of("small", months))
    whole = with_break_even(with_waiting(shared_document(result), result), result)
    assert f"{months} months" in plan_text(whole)
    assert plan_text(plan_document(result))
    simulations = Simulations(result)
    (job,) = simulations.waits("local")["own"]["jobs"]
    assert len(job["by_month"]) == months
    timeline_charts.wait_chart(job["by_month"], job="work", dark=False, faded=False)
    assert simulations.courses("local")["own"]["bars"]
