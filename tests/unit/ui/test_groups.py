"""Inputs of the Plan page: which there are, what stands in them, and what typed text means to the scenario."""

from dataclasses import replace
from itertools import chain

import pytest

from planner.catalog.load import load_catalog
from planner.errors import ScenarioError
from planner.scenario.load import check_document
from planner.scenario.paths import check_path
from ui.group_parts import group_of, with_empty
from ui.groups import groups
from ui.groups_finance import KINDS
from ui.i18n import texts
from ui.inputs import Field
from ui.state import pairs, shown_text, typed_value

CATALOG = load_catalog()
PC = {"gpu": "rtx-4090", "host": "workstation-1"}
JOBS = {"daily": {"workload": "bert-large-squad", "runs_per_month": 300}}


def document(**keys):
    return {"schema_version": 1, "horizon_months": 36, "site": {"id": "germany"}, "jobs": JOBS, **keys}


def cells(**keys):
    asked = groups(document(**keys), CATALOG)
    return {cell.path: cell for cell in chain.from_iterable(group.inputs for group in asked)}


def machine(**keys):
    return {name: cell for name, cell in cells(machines={"pc": PC | keys}).items() if name.startswith("machines.pc.")}


def subjects(**keys):
    return {group.id: [subject.id for subject in group.more] for group in groups(document(**keys), CATALOG)}


def test_the_newest_keys_have_inputs():
    owned = PC | {"owned": {"count": 1, "age_months": 12, "upgrade": {"gpu": "rtx-4090"}}}
    found = set(cells(machines={"pc": owned}, groups={"vision": {}}))
    assert {
        "machines.pc.purchases", "machines.pc.delivery_months", "machines.pc.owned.at_start",
        "machines.pc.owned.upgrade.gpu", "machines.pc.owned.upgrade.gpu_price_usd", "machines.pc.failures_per_year",
        "machines.pc.repair_h", "machines.pc.finance.kind", "rental.quota_gpus", "rental.transfer_mbit_per_s",
        "rental.price_change_per_year", "rental.credits.credit-1.amount_usd", "rental.credits.credit-1.expires_month",
        "inflation_per_year", "baseline", "plan_starts", "fiscal_year_starts", "cash_ceiling_usd_per_quarter",
        "hardware_price_change_per_year", "groups.vision.name", "groups.group-1.people", "jobs.daily.group",
    } <= found  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_stands_for_a_key_of_the_schema(kind):
    owned = {"count": 1, "age_months": 12, "upgrade": {"gpu": "rtx-4090"}}
    asked = document(
        machines={"pc": {"gpu": "rtx-4090", "owned": owned, "finance": {"kind": kind, "at_end": "buy"}}},
        groups={"vision": {}},
    )
    for group in groups(asked, CATALOG):
        for cell in group.inputs:
            check_path(cell.path, asked)
            assert group_of(cell.path) == group.id


def test_popovers_stay_small():
    for group in groups(document(machines={"pc": PC}), CATALOG):
        assert len(group.main) <= 6
        assert all(f"more.{subject.id}" in texts("en") for subject in group.more)


def test_only_machines_that_are_there_are_asked_what_becomes_of_them():
    assert subjects(machines={"pc": PC})["hardware"] == ["stages", "failures", "finance", "rental"]
    there = PC | {"owned": {"count": 1, "age_months": 12}}
    assert "owned" in subjects(machines={"pc": there})["hardware"]
    assert subjects()["hardware"] == ["rental"]


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({}, "as many as needed"),
        ({"purchases": {0: 2, 12: 3}}, "5, as the purchases say"),
        ({"purchases": {0: 2}, "owned": {"count": 1, "age_months": 12}}, "3, as the purchases say"),
        ({"purchases": "two now"}, "as the purchases say"),
        ({"purchases": {0: "two"}}, "as the purchases say"),
    ],
)
def test_an_empty_number_of_machines_says_what_it_stands_for(keys, shown):
    count = machine(**keys)["machines.pc.count"]
    assert count.default == shown
    assert ("as the work needs" in count.help) == (not keys)


def test_a_way_to_pay_asks_for_what_it_needs():
    def names(**finance):
        return {path.rpartition(".")[2] for path in machine(finance=finance) if ".finance." in path}

    assert names() == {"kind"}
    assert names(kind="loan") == {"kind", *KINDS["loan"]}
    assert names(kind="lease") == {"kind", *KINDS["lease"]} - {"nominal_buyout_usd"}
    assert names(kind="lease", at_end="buy") == {"kind", *KINDS["lease"]}
    assert "term_months" in names(kind="cash", term_months=12)  # by mistake, and so it has to be seen


def test_another_way_to_pay_empties_what_belonged_to_the_old_one():
    choice = machine(finance={"kind": "loan"})["machines.pc.finance.kind"]
    gone = {path.rpartition(".")[2] for path in choice.clears("lease")}
    assert gone == set(KINDS["loan"]) - set(KINDS["lease"])
    assert choice.clears("cash")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0: 2, 12: 2", "by_month", {0: 2, 12: 2}),
        ("0:2;12:2,", "by_month", {0: 2, 12: 2}),
        ("h100-sxm5-80gb: 16, aws: 64", "by_name", {"h100-sxm5-80gb": 16, "aws": 64}),
        ("3090: 8", "by_name", {"3090": 8}),  # a GPU of the user's own may be called so
        ("", "by_month", None),
        ("2026-10 ", "text", "2026-10"),
        ("42", "text", "42"),
        (" typical ", "word", "typical"),
        ("0.2", "word", 0.2),
        ("-10 %", "percent", -0.1),
    ],
)
def test_typed_text_means(text, kind, value):
    assert typed_value(text, kind) == value


@pytest.mark.parametrize("text", ["2", "0: 2, 3", "0: 2, 0: 3", ": 2", "0:", "two now", ","])
def test_what_is_no_list_of_pairs_stays_as_it_was_typed(text):
    assert pairs(text, by_month=True) is None
    assert typed_value(text, "by_month") == text


def test_pairs_are_shown_as_they_are_typed():
    assert shown_text({0: 2, 12: 2}, "by_month") == "0: 2, 12: 2"
    assert shown_text({"aws": 8}, "by_name") == "aws: 8"
    assert typed_value(shown_text({0: 2, 12: 2}, "by_month"), "by_month") == {0: 2, 12: 2}


@pytest.mark.parametrize("text", ["2", "0: two", "99: 1", "0: 0", "1.5: 2", "now: 2"])
def test_bad_purchases_are_refused_by_the_check(text):
    machines = {"pc": PC | {"purchases": typed_value(text, "by_month")}}
    with pytest.raises(ScenarioError) as error:
        check_document(document(machines=machines))
    assert error.value.problems[0].field.startswith("machines.pc.purchases")


def test_examples_in_what_is_expected_work():
    for path, text, kind in (
        ("machines.pc.purchases", "0: 2, 12: 2", "by_month"),
        ("rental.quota_gpus", "h100-sxm5-80gb: 16, aws: 64", "by_name"),
    ):
        cell = cells(machines={"pc": PC})[path]
        assert isinstance(cell, Field)
        assert (cell.kind, text in cell.expected) == (kind, True)
        assert isinstance(typed_value(text, kind), dict)


def test_rows_to_fill_in_keep_their_place():
    assert with_empty(None, "credit", 3) == ["credit-1", "credit-2", "credit-3"]
    assert with_empty({"credit-2": {}}, "credit", 3) == ["credit-1", "credit-2", "credit-3"]
    assert with_empty({"grant": {}}, "credit", 3) == ["grant", "credit-1", "credit-2"]
    assert with_empty({"a": {}, "b": {}, "c": {}, "d": {}}, "credit", 3) == ["a", "b", "c", "d"]


def test_defaults_are_those_of_the_assumptions():
    found = cells(machines={"pc": PC})
    rate = CATALOG.assumptions["inflation_per_year"]
    other = replace(
        CATALOG,
        assumptions={
            **CATALOG.assumptions,
            "inflation_per_year": replace(rate, figure=replace(rate.figure, value=0.03)),
        },
    )
    assert found["inflation_per_year"].default == "2 by default"
    changed = {cell.path: cell for group in groups(document(), other) for cell in group.inputs}
    assert changed["inflation_per_year"].default == "3 by default"
    assert found["machines.pc.repair_h"].default == "72 by default"
    assert "0.05" in found["machines.pc.failures_per_year"].help


def test_limits_that_are_set_are_seen_without_opening_anything():
    def said(**keys):
        return next(group.summary for group in groups(document(**keys), CATALOG) if group.id == "money")

    assert "limit" not in said()
    assert said(limits={"total_usd": 20_000}).endswith(", 1 limit")
    assert said(limits={"total_usd": "8000 EUR"}, cash_ceiling_usd_per_quarter=5_000).endswith(", 2 limits")
