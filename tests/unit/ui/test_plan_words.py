"""What the Plan page says of spot instances and of attempts that would have to be rented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.report.document import plan_document
from planner.report.waiting import waiting_entries
from tests.planning import catalog, document, small_plan, solve, strategy
from ui.formatting import NBSP, USD
from ui.plan_spot import spot_lines
from ui.plan_waiting import late_words, overflow_sentences
from ui.view import View

SPOT = "offers.p4d-spot."


def view_of(plan: Mapping[str, Any]) -> View:
    return View(plan_document(solve(plan)), dict(plan), catalog(), USD)


def plain(text: str) -> str:
    return text.replace(NBSP, " ").replace("\\", "")


def test_spot_lines_give_ranges_or_one_figure_where_the_ends_look_alike() -> None:
    (line,) = spot_lines(view_of(document("spot-node")))
    assert "8 of 10 attempts cost $209 and take 21 h" in plain(line)
    assert "granted with a chance of 70 %: the first after 13 min" in plain(line)
    assert "limit" not in line
    risky = {SPOT + "interrupted_share_per_month": 0.99, "rental.offers": ["p4d-spot"], "jobs.smoke.terms": ["spot"]}
    lines = spot_lines(view_of(document("spot-node", {**risky, "jobs.train.deadline_h": 30})))
    train = next(line for line in lines if line.startswith("**train**"))
    assert "8 of 10 attempts cost $209–" in plain(train)
    assert "none is granted while the limit can still be kept" in train


def overflow_words(changes: Mapping[str, object]) -> list[str]:
    busy = {"jobs.work.runs_per_month": 500, "jobs.work.deadline_h": 3, **changes}
    plan = small_plan(busy)
    result = solve(plan)
    view = View(plan_document(result), plan, catalog(), USD)
    ways = [way for way in view.strategies if way["id"] == "hybrid"]
    return overflow_sentences(view, ways, {"hybrid": waiting_entries(result, strategy(result, "hybrid"))})


def test_the_page_says_what_keeping_the_limit_would_take() -> None:
    (line,) = overflow_words({})
    assert plain(line).startswith("**work**: Mix could keep its limit with ")
    assert "instead of waiting for own" in line
    (nowhere,) = overflow_words({"jobs.work.throughput": {"own": 1, "rented": 0.2}})
    assert nowhere == "**work**: nothing rented keeps its limit, so nothing can take what waits too long for own."
    assert overflow_words({"jobs.work.deadline_h": 500, "jobs.work.runs_per_month": 1}) == []


def test_jobs_that_end_past_their_limit_say_how_often() -> None:
    assert plain(late_words({"late_share": 0.81}, 1.0)) == "As planned, **81 %** end past the limit of 1 h."
    assert late_words({"late_share": 0.001}, 1.0) == late_words({"late_share": None}, None) == ""
