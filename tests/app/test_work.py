"""The Work page through AppTest: it answers, follows the chosen job, and says what can't be done."""

from __future__ import annotations

import pytest

from tests.app.test_jobs_table import IMPOSSIBLE, edit, opened, start, upload
from ui.formatting import NBSP, percent
from ui.state import example_ids

pytestmark = pytest.mark.app


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def charts(at):
    return len(at.get("vega_lite_chart"))


def choose(at, job):
    next(group for group in at.button_group if group.key.startswith("work_job")).set_value(job).run()
    assert not at.exception
    return at


@pytest.mark.parametrize("example", example_ids())
def test_every_example_says_how_full_it_makes_machines_or_what_it_rents(example):
    at = start()
    at.button(key=f"open_{example}").click().run()
    at = opened(at)
    title = at.title[0].value
    assert " fill " in title or title.endswith(" rented GPU-hours")
    assert len(at.metric) == 4 and charts(at) == 2
    assert not at.error and not at.warning


def test_another_job_shows_its_own_times_and_memory():
    at = opened(start())
    way = next(way for way in at.session_state["last_good"].report["strategies"] if way["kind"] == "hybrid")
    busy = percent(way["machines"][0]["utilisation"])
    assert at.title[0].value == f"1,300 daily runs a month fill two RTX 4090 to {busy}"
    assert "### One daily run takes " in words(at)
    choose(at, "key")
    assert "places can do a key run; on 4 × A100" in words(at)
    assert "What takes the time" in words(at)
    assert charts(at) == 2


def test_the_table_of_all_candidates_is_made_for_those_who_open_it():
    at = opened(start())
    assert len(at.dataframe) == 1  # the jobs
    at.session_state["work_candidates"] = True
    at.run()
    assert not at.exception
    rows = at.dataframe[1].value
    places = at.session_state["last_good"].places
    assert len(rows) == sum(len(places.of(job)) for job in places.jobs)
    assert set(rows["Job"]) == {"daily", "key"}


def test_an_impossible_limit_shows_the_reason_stays_and_can_be_undone():
    at = edit(opened(start()), {1: {"deadline_h": "0.001"}})
    assert at.title[0].value == "No way runs key as asked"
    assert "This plan cannot be made as asked" in at.error[0].value
    assert at.session_state["base"]["jobs"]["key"]["deadline_h"] == 0.001
    assert "Nothing ends a key run within" in words(choose(at, "key"))
    edit(at, {1: {"deadline_h": "168"}})
    assert not at.error
    assert " fill two RTX 4090 to " in at.title[0].value


def test_a_model_that_fits_nowhere_shows_how_much_is_missing():
    at = opened(upload(start(), IMPOSSIBLE))
    assert at.title[0].value == "No way runs giant as asked"
    assert f"### It does not fit: 6,695 of 12.8{NBSP}GB on each RTX 3060" in words(at)
    assert charts(at) == 1  # no times, so memory alone
    assert "**1 × RTX 3060, pc**: giant needs 6,695 GB" in words(at)


def test_no_machine_and_no_offer_is_said():
    nothing = "schema_version: 1\nhorizon_months: 12\njobs: {a: {workload: gpt2-small, runs_per_month: 1}}\n"
    at = opened(upload(start(), f"{nothing}rental: {{providers: [aws], gpus: [rtx-4090]}}\n"))
    assert "There is no machine and no offer for **a**" in words(at)
    assert charts(at) == 0
