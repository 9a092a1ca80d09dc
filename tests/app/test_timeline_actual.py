"""Plan against actual on the Timeline page, through AppTest."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
PAGE = "ui/pages/timeline.py"
HOURS = (ROOT / "examples" / "hybrid-lab-hours.csv").read_bytes()
BILLS = (ROOT / "examples" / "hybrid-lab-invoice.csv").read_bytes()
FAULTY = b"month,job,resource,runs,gpu_hours\n1,dayly,workstation,1,1\n99,daily,workstation,1,1\n"


@pytest.fixture
def page():
    """The Timeline page of the lab with the section open."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page(PAGE).run()
    at.session_state["timeline_actual"] = True
    at.run()
    assert not at.exception
    return at


def upload(at, kind, content, name=None):
    chooser = next(one for one in at.file_uploader if one.key.startswith(f"actual_upload_{kind}"))
    chooser.upload(name or f"{kind}.csv", content, "text/csv").run()
    assert not at.exception


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def test_the_section_asks_for_files_and_offers_tables(page):
    assert {one.key.rpartition("_")[0] for one in page.file_uploader} >= {
        "actual_upload_hours", "actual_upload_invoice",
    }  # fmt: skip
    assert [one.label for one in page.expander if "actual" in one.label] == ["Plan against actual"]
    assert "The rest of the plan anew" not in words(page)


def test_both_files_give_drift_and_a_new_plan_to_open(page):
    upload(page, "hours", HOURS)
    assert "What was paid is unknown without an invoice" in words(page)
    upload(page, "invoice", BILLS)
    said = words(page)
    assert r"\$780 more was paid than planned for the same" in said.replace("780.42", "780")
    assert "outside the likely" in said
    jobs = next(table.value for table in page.dataframe if "Attempts a run" in table.value)
    assert list(jobs["Time"]) == ["longer", "as likely"]
    assert page.number_input(key="actual_month_7").value == 7
    page.button(key="actual_open").click().run()
    assert not page.exception
    base = page.session_state["base"]
    assert (base["name"], base["horizon_months"]) == ("Hybrid lab, from month 7", 30)
    assert base["machines"]["workstation"]["owned"]["count"] == 2
    assert "actual_files" not in page.session_state  # rows of the old plan's months say nothing of the new one


def test_another_month_can_be_chosen(page):
    upload(page, "hours", HOURS)
    page.number_input(key="actual_month_7").set_value(20).run()
    assert not page.exception
    assert page.button(key="actual_open").label == "Open the new plan from month 20"


def test_a_faulty_file_is_explained_row_by_row_and_stays(page):
    upload(page, "hours", FAULTY, "mine *1*.csv")
    (error,) = (one.value for one in page.error)
    assert "line 2, job" in error
    assert "daily" in error
    assert "line 3, month" in error
    assert "mine" in words(page)
    upload(page, "invoice", BILLS)
    assert len(page.error) == 1  # the other file is compared all the same
    assert "paid than planned" in words(page)
    page.button(key="actual_remove_hours").click().run()
    assert not page.error
    assert any(one.key.startswith("actual_upload_hours") for one in page.file_uploader)


def test_files_stay_over_pages_and_go_with_another_scenario(page):
    upload(page, "hours", HOURS)
    page.switch_page("ui/pages/plan.py").run()
    page.switch_page(PAGE).run()
    assert set(page.session_state["actual_files"]) == {"hours"}
    student = yaml.safe_load((ROOT / "examples" / "student.yaml").read_text(encoding="utf-8"))
    page.file_uploader(key="open_file").upload("s.yaml", yaml.safe_dump(student).encode(), "application/yaml").run()
    assert "actual_files" not in page.session_state
