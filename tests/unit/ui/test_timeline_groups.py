"""Cost per group on the Timeline page: names, amounts and what is left out."""

from __future__ import annotations

import pytest

from planner.report.shares import group_entries
from tests.planning import small_plan, solve, strategy
from ui import timeline_groups
from ui.formatting import NBSP, USD, Currency


def groups_of(names, *, grouped=2, people=True):
    plan = small_plan({"groups": {id: {"name": name} for id, name in names.items()}})
    if people:
        plan["groups"][next(iter(names))]["people"] = 4
    ids = list(names)
    plan["jobs"] = {f"job{at}": dict(plan["jobs"]["work"]) for at in range(2)}
    for at, job in enumerate(list(plan["jobs"].values())[:grouped]):
        job["group"] = ids[at]
    result = solve(plan)
    found = strategy(result, "local")
    return timeline_groups.shown(group_entries(result, found)), found.tco_usd


def test_each_group_has_its_share_and_cost_per_person():
    groups, total = groups_of({"a": "Vision *lab*", "b": "Language"})
    rows = timeline_groups.group_rows(groups, total, USD)
    assert [list(row) for row in rows] == [["Group", "People", "Cost", "Share", "A person", "Energy"]] * 2
    assert list(rows[0].values()) == [r"Vision \*lab\*", "4", r"\$541", f"50{NBSP}%", r"\$135", f"1.0{NBSP}MWh"]
    assert list(rows[1].values())[1:5] == ["", r"\$541", f"50{NBSP}%", ""]
    assert timeline_groups.heading(groups, total, USD) == (
        r"**Vision \*lab\*** has the largest part: **$541** of $1.1" + f"{NBSP}k in all."
    )


def test_amounts_are_in_the_currency_of_the_plan_and_months_in_usd_to_the_cent():
    groups, total = groups_of({"a": "A", "b": "B"})
    euros = timeline_groups.group_rows(groups, total, Currency(code="EUR", usd_per_unit=2.0))
    assert euros[0]["Cost"] == "€271"
    months = timeline_groups.month_rows(groups)
    assert [next(iter(row.values())) for row in months] == list(range(1, 13))
    assert list(months[1].values())[1:] == [f"{(200 * 0.6 + 530 * 0.1) * 0.1 / 2:.2f}"] * 2


def test_columns_and_rows_without_anything_stay_away():
    groups, total = groups_of({"a": "A", "b": "B"}, people=False)
    assert [group["id"] for group in groups] == ["a", "b"]
    assert list(timeline_groups.group_rows(groups, total, USD)[0]) == ["Group", "Cost", "Share", "Energy"]
    some, total = groups_of({"a": "A", "b": "B"}, grouped=1)
    assert timeline_groups.names(some) == ["A", "B", "no group, or unused"]
    assert timeline_groups.group_rows(some, total, USD)[1]["Cost"] == r"\$0"


@pytest.mark.parametrize("names", [{"a": "Same", "b": "Same"}])
def test_groups_of_one_name_are_told_apart(names):
    groups, _ = groups_of(names)
    assert timeline_groups.names(groups) == ["Same (a)", "Same (b)"]
    assert len(timeline_groups.month_rows(groups)[0]) == 3
