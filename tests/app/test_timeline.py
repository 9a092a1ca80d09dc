"""The Timeline page through AppTest: it answers, follows its switches, and says what it can't show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from tests.app.markdown_tables import markdown_tables
from tests.planning import document
from ui import deferred
from ui.formatting import NBSP, percent

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
PAGE = "ui/pages/timeline.py"


def opened(text=None):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    if text is not None:
        at.file_uploader(key="open_file").upload("plan.yaml", text.encode(), "application/yaml").run()
    at.switch_page(PAGE).run()
    assert not at.exception
    return at


def plan_text(name="hybrid-lab", **changes):
    plan = yaml.safe_load((ROOT / "examples" / f"{name}.yaml").read_text(encoding="utf-8"))
    plan["name"] = f"{name} {sorted(changes)}"
    for path, value in changes.items():
        *parts, last = path.split("__")
        here = plan
        for part in parts:
            here = here[part]
        here[last] = value
    return yaml.safe_dump(plan)


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def figures(at):
    return {metric.label: metric.value for metric in at.metric}


def way_of(at, kind="hybrid"):
    return next(way for way in at.session_state["last_good"].report["strategies"] if way["id"] == kind)


def charts(at):
    return len(at.get("vega_lite_chart"))


def choose(at, key, value):
    next(group for group in at.button_group if group.key.startswith(key)).set_value(value).run()
    assert not at.exception
    return at


def test_the_deterministic_part_is_there_before_anything_is_simulated(monkeypatch):
    monkeypatch.setattr(deferred, "finish", lambda: None)
    at = opened(plan_text(horizon_months=35))
    assert at.title[0].value == "Cash peaks in month 1"
    assert figures(at)["Typical wait"] == "…"
    assert charts(at) == 2  # cash and load
    assert "simulating" in words(at)


def test_then_the_title_says_who_waits_and_all_charts_are_there():
    at = opened()
    assert at.title[0].value.startswith("Nine in ten daily runs start within ")
    assert at.title[0].value.endswith("; cash peaks in month 1")
    assert figures(at)["Owned cards busy"] == percent(way_of(at)["machines"][0]["utilisation"])
    assert charts(at) == 4
    assert "A week of typical month 18" in words(at)
    assert "simulating" not in words(at)


def test_the_box_answers_both_questions():
    at = opened()
    people, machine = (line for line in words(at).splitlines() if line.startswith("**Two more") or "**One more" in line)
    assert re.search(r"nine in ten daily runs start within \*\*.*\*\* instead of", people)
    assert "nine in ten daily runs start" in machine
    box = markdown_tables(at)[-1]
    load = way_of(at)["machines"][0]["utilisation"]  # of two workstations, and of four people
    assert list(box["Load"]) == [percent(load * factor) for factor in (1, 6 / 4, 2 / 3)]
    now, people, machine = box["More a month"]
    assert now == ""
    assert 0 < float(people.removeprefix(r"\$")) < float(machine.removeprefix(r"\$"))
    at.number_input(key="timeline_more").set_value(1).run()
    assert not at.exception
    assert "**One more person:**" in words(at)
    assert markdown_tables(at)[-1]["Load"].iloc[1] == percent(load * 5 / 4)


def test_periods_and_ways_can_be_switched():
    at = opened()
    total = markdown_tables(at)[0]["Cash"].iloc[-1]
    choose(at, "timeline_period", "quarter")
    assert "a usual quarter takes" in words(at)
    choose(at, "timeline_way", "cloud")
    assert at.title[0].value.startswith("Cash goes out evenly, $")
    assert "Paid after the end" in figures(at)
    assert charts(at) == 1
    assert "nothing waits for one" in words(at)
    assert markdown_tables(at)[0]["Cash"].iloc[-1] != total
    choose(at, "timeline_way", "hybrid")
    assert "a usual quarter takes" in words(at)  # the period stays
    assert markdown_tables(at)[0]["Cash"].iloc[-1] == total


def test_of_several_jobs_on_own_machines_one_is_chosen():
    at = opened()
    choose(at, "timeline_way", "local")
    assert "daily runs start within" in words(at)
    place = at.selectbox(key="timeline_place_local")
    assert place.options == ["daily on server", "key on server"]
    place.set_value(("server", "key")).run()
    assert not at.exception
    assert "key runs" in words(at)


def test_the_recommended_way_is_shown_first_in_every_scenario():
    at = opened((ROOT / "examples" / "student.yaml").read_text(encoding="utf-8"))
    assert "**Rent all**" in words(at)
    at.button(key="open_hybrid-lab").click().run()
    assert "**Mix**" in words(at)


def test_months_after_the_horizon_are_said():
    at = opened(yaml.safe_dump(document("committed-node")))
    assert "After month 9, \\$138" in words(at)
    assert figures(at)["Paid after the end"] == f"$138{NBSP}k"


def test_a_way_that_is_late_has_its_months_and_its_reason():
    at = opened((ROOT / "examples" / "hybrid-claim.yaml").read_text(encoding="utf-8"))
    choose(at, "timeline_way", "local")
    assert "Own all does not work as asked" in at.warning[0].value
    assert "its limit is 72" in at.warning[0].value
    assert charts(at) == 4
    assert "can’t carry it" not in words(at)  # being late is nothing that more people bring about


def test_a_way_that_cannot_run_has_its_reason_alone():
    at = opened(yaml.safe_dump(document("committed-node")))
    choose(at, "timeline_way", "local")
    assert at.title[0].value == "This way has no months to show"
    assert "there are no months to show" in at.warning[0].value
    assert charts(at) == 0


def test_machines_that_cannot_carry_more_people_say_so():
    at = opened(plan_text(jobs__daily__runs_per_month=2300, machines__workstation__count=2))
    choose(at, "timeline_way", "hybrid")
    assert "the machines **can’t carry it**" in words(at)


def test_every_month_can_be_read_in_numbers():
    at = opened()
    at.session_state["timeline_table"] = True
    at.run()
    (months,) = (frame.value for frame in at.dataframe)
    assert len(months) == 36
    way = way_of(at)
    assert months["Cash, USD"].iloc[1] == f"{way['months'][1]['amount_usd']:.2f}"
    assert (months["Load, workstation"] == percent(way["machines"][0]["utilisation"])).all()
    assert at.session_state["last_good"].jobs_csv().startswith("strategy,month,group,job,resource,runs,gpu_hours,")
    assert "Where each job runs, by month, as CSV" in [button.label for button in at.get("download_button")]


def test_an_empty_scenario_leads_on():
    at = opened()
    at.button(key="open_nothing").click().run()
    assert at.title[0].value == "Nothing to show by month yet"
    at.button(key="timeline_example").click().run()
    assert not at.exception
    assert "cash peaks" in at.title[0].value.lower()


def test_faulty_inputs_leave_the_last_good_months():
    at = opened()
    at.switch_page("ui/pages/plan.py").run()
    at.text_input(key="in:horizon_months").set_value("none").run()
    at.switch_page(PAGE).run()
    assert not at.exception
    assert "last good plan" in at.warning[0].value
    assert ":gray[" in at.title[0].value
    assert charts(at) >= 2


def test_the_finance_reader_opens_a_section_of_their_own():
    lease = {"term_months": 36, "lease_factor_per_month": 0.031}
    at = opened(
        plan_text(
            plan_starts="2027-03",
            fiscal_year_starts=10,
            cash_ceiling_usd_per_quarter=5000,
            machines__workstation__finance={"lease_offer": lease},
        )
    )
    assert "For the finance reader" in [folded.label for folded in at.expander]
    assert "Pre-tax result" not in words(at)  # nothing is computed before it is opened
    before = len(markdown_tables(at))
    at.session_state["timeline_finance"] = True
    at.run()
    assert not at.exception
    text = words(at)
    for part in ("Pre-tax result", "quarters take more than", "By fiscal year", "Depreciation of workstation"):
        assert part in text
    assert "not part of the totals" in text
    assert "Lease or buy 2 × workstation" in text
    assert "2026/27 Q2" in at.warning[0].value
    shown = markdown_tables(at)[before:]
    assert [table.columns[0] for table in shown] == ["Fiscal year", "Fiscal year", "Way"]


def test_groups_have_a_section_of_their_own_where_there_are_some():
    assert not [block for block in opened(plan_text(horizon_months=31)).expander if block.label == "Cost per group"]
    groups = {"vision": {"name": "Vision lab", "people": 4}, "language": {}}
    at = opened(plan_text(horizon_months=33, groups=groups, jobs__daily__group="vision", jobs__key__group="language"))
    assert [block.label for block in at.expander].index("Cost per group") >= 0
    assert "has the largest part" not in words(at)
    at.session_state["timeline_groups"] = True
    at.run()
    assert not at.exception
    assert "**Vision lab** has the largest part" in words(at)
    assert list(markdown_tables(at)[-1]["Group"]) == ["language", "Vision lab"]  # in the order of the file
    months = next(frame.value for frame in at.dataframe if "Vision lab, USD" in frame.value.columns)
    assert len(months) == len(way_of(at)["months"])
    paid = sum(float(text.replace(",", "").replace("−", "-")) for text in months["Vision lab, USD"])
    rest = sum(float(text.replace(",", "").replace("−", "-")) for text in months["language, USD"])
    assert paid + rest == pytest.approx(way_of(at)["tco_usd"], abs=0.005 * 2 * len(months))


def test_machines_that_fail_and_limits_that_waiting_breaks_are_shown():
    often = {"machines__workstation__failures_per_year": 12, "machines__workstation__repair_h": 120}
    at = opened(plan_text(**often, jobs__daily__deadline_h=3, jobs__daily__submitted_together=20))
    assert "a machine is away for repair" in words(at)
    assert "could keep its limit with" in words(at)
    at = opened(plan_text())
    assert "repair" not in words(at)
