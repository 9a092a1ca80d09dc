"""The newest keys of a scenario as inputs of the Plan page: chosen by subject, explained, kept as typed."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.scenario.load import read_document
from ui import state

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
LAB = """schema_version: 1
horizon_months: 24
site: {id: germany}
jobs:
  daily: {workload: bert-large-squad, runs_per_month: 300}
machines:
  pc: {gpu: rtx-4090, host: workstation-1}
rental:
  gpus: [a100-sxm4-80gb]
  credits: {grant: {amount: "8000 EUR"}}
"""


def start(**subjects):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for group, subject in subjects.items():
        at.session_state[f"advanced_{group}"] = True
        at.session_state[f"more_{group}"] = subject
    at.run()
    at.file_uploader(key="open_file").upload("x.yaml", LAB.encode(), "application/yaml").run()
    assert not at.exception
    return at


def widget(at, path):
    kinds = ("text_input", "selectbox", "toggle")
    return next(box for kind in kinds for box in at.get(kind) if box.key.split("#")[0] == f"in:{path}")


def paths(at):
    return {box.key.split("#")[0].removeprefix("in:") for kind in ("text_input", "selectbox") for box in at.get(kind)}


def enter(at, path, value):
    widget(at, path).set_value(value).run()
    assert not at.exception
    return at


def asked(at):
    """The scenario as the page would save it, and opened again."""
    typed = {path: state.typed_value(*value) for path, value in at.session_state["typed"].items()}
    return read_document(state.scenario_yaml(state.with_overrides(at.session_state["base"], typed)))


def explained(at, text):
    return next(line.value for line in at.markdown if f"“{text}”" in line.value and "material/error" in line.value)


def test_a_subject_is_drawn_when_chosen():
    at = start(hardware="stages")
    assert {"machines.pc.purchases", "machines.pc.delivery_months"} <= paths(at)
    assert not {"machines.pc.failures_per_year", "machines.pc.finance.kind", "rental.quota_gpus"} & paths(at)
    assert widget(at, "machines.pc.count").placeholder == "as many as needed"


def test_purchases_are_typed_explained_and_kept():
    at = start(hardware="stages")
    enter(at, "machines.pc.purchases", "0: 2, then 2")
    assert widget(at, "machines.pc.purchases").value == "0: 2, then 2"
    assert "such as 0: 2, 12: 2" in explained(at, "0: 2, then 2")
    assert "Purchases, pc" in at.error[0].value
    enter(at, "machines.pc.purchases", "0: 2, 12: 2")
    assert not at.error
    assert widget(at, "machines.pc.count").placeholder == "4, as the purchases say"
    assert at.session_state["last_good"].document["machines"]["pc"]["purchases"] == {0: 2, 12: 2}
    assert asked(at)["machines"]["pc"]["purchases"] == {0: 2, 12: 2}


def test_what_is_wrong_stays_in_sight_when_another_subject_is_chosen():
    at = start(hardware="stages")
    enter(at, "machines.pc.delivery_months", "1.5")
    at.button_group(key="more_hardware").set_value("failures").run()
    assert {"machines.pc.delivery_months", "machines.pc.failures_per_year"} <= paths(at)
    assert explained(at, "1.5")
    enter(at, "machines.pc.delivery_months", "2")
    assert "machines.pc.delivery_months" not in paths(at)


def test_a_loan_asks_for_term_and_interest_and_a_lease_forgets_the_interest():
    at = start(hardware="finance")
    enter(at, "machines.pc.finance.kind", "loan")
    assert "such as 36" in at.error[0].value
    enter(at, "machines.pc.finance.term_months", "24")
    enter(at, "machines.pc.finance.nominal_interest_per_year", "7")
    assert not at.error
    enter(at, "machines.pc.finance.kind", "lease")
    assert "machines.pc.finance.nominal_interest_per_year" not in paths(at)
    assert "nothing entered. Expected: a payment" in at.error[0].value
    enter(at, "machines.pc.finance.nominal_payment_usd_per_month", "150")
    assert not at.error
    assert asked(at)["machines"]["pc"]["finance"] == {
        "kind": "lease", "term_months": 24, "nominal_payment_usd_per_month": 150,
    }  # fmt: skip
    at.button(key="reset_hardware").click().run()
    assert not at.exception
    assert not at.session_state["typed"]


def test_credits_show_what_the_file_says_and_vanish_when_emptied():
    at = start(money="credits")
    assert widget(at, "rental.credits.grant.amount_usd").value == "8000 EUR"  # given under `amount`
    enter(at, "rental.credits.credit-1.expires_month", "12")
    assert "such as 5000 or 8000 EUR" in at.error[0].value
    enter(at, "rental.credits.credit-1.amount_usd", "5000")
    assert not at.error
    assert asked(at)["rental"]["credits"]["credit-1"] == {"amount_usd": 5000, "expires_month": 12}
    enter(at, "rental.credits.credit-1.expires_month", "")
    enter(at, "rental.credits.credit-1.amount_usd", "")
    assert not at.error


def test_changes_of_prices_may_be_below_zero():
    at = enter(start(money="prices"), "rental.price_change_per_year", "-80")
    assert "a number from -50 to 50" in explained(at, "-80")
    enter(at, "rental.price_change_per_year", "-20")
    assert not at.error
    assert asked(at)["rental"]["price_change_per_year"] == -0.2


def test_a_group_is_named_and_chosen_for_a_job():
    at = start(work="groups")
    assert "jobs.daily.group" not in paths(at)
    enter(at, "groups.group-1.name", "Vision")
    enter(at, "jobs.daily.group", "group-1")
    assert not at.error
    assert asked(at)["jobs"]["daily"]["group"] == "group-1"
    at.switch_page("ui/pages/work.py").run()
    assert not at.exception
