"""Months by job and resource, groups, and the file by job: numbers by hand, and what stands where."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from planner.errors import ScenarioError, UnknownIdError
from planner.report.document import plan_document
from planner.report.jobs_csv import jobs_csv
from planner.report.text import plan_text
from tests.planning import small_plan, solve
from tests.totals import shared_document

GROUPS = {"vision": {"name": "Vision lab", "people": 4}, "language": {}, "idle": {"people": 2}}


def shared_plan(overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """Three jobs on one machine, each with 100 h a month, one of them without a group."""
    plan = small_plan({"groups": GROUPS, "jobs.work.group": "vision", **(overrides or {})})
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "group": "language"}
    plan["jobs"]["free"] = {key: value for key, value in plan["jobs"]["work"].items() if key != "group"}
    return plan


def way(plan: dict[str, Any], kind: str = "local") -> dict[str, Any]:
    return next(entry for entry in shared_document(solve(plan))["strategies"] if entry["id"] == kind)


def test_groups_share_a_machine_by_their_hours() -> None:
    entry = way(shared_plan())
    third = (1500 - 625 + 12 * 0.1 * (300 * 0.6 + 430 * 0.1)) / 3
    vision, language, idle, none = entry["groups"]
    assert [group["id"] for group in entry["groups"]] == ["vision", "language", "idle", None]
    assert (vision["name"], vision["people"], vision["jobs"]) == ("Vision lab", 4, ["work"])
    assert vision["amount_usd"] == pytest.approx(third)
    assert vision["amount_usd_per_person"] == pytest.approx(third / 4)
    assert vision["kwh"] == pytest.approx(12 * 223 / 3)
    assert vision["kg_co2e"] == pytest.approx(0.4 * 12 * 223 / 3)
    assert (vision["runs"], vision["gpu_hours"]) == pytest.approx((1200, 1200))
    assert (language["name"], language["people"], language["amount_usd_per_person"]) == ("language", None, None)
    assert language["amount_usd"] == pytest.approx(third)
    assert (idle["jobs"], idle["amount_usd"], idle["amount_usd_per_person"], idle["runs"]) == ([], 0, 0, 0)
    assert (none["name"], none["people"], none["jobs"]) == (None, None, ["free"])
    assert none["amount_usd"] == pytest.approx(third)
    assert [month["month"] for month in vision["months"]] == list(range(1, 13))
    assert vision["months"][0]["amount_usd"] == pytest.approx(500 + 22.3 / 3)
    assert vision["months"][11]["kwh"] == pytest.approx(223 / 3)


def test_what_no_job_uses_belongs_to_no_group() -> None:
    plan = shared_plan()
    plan["machines"]["spare"] = dict(plan["machines"]["own"])
    for job in plan["jobs"].values():
        job["throughput"] = {"own": 1, "rented": 1, "spare": 1e-3}
    with_spare, without = way(plan)["groups"], way(shared_plan())["groups"]
    assert with_spare[-1]["amount_usd"] - without[-1]["amount_usd"] == pytest.approx(1500 - 625 + 12 * 7.3)
    assert with_spare[0]["amount_usd"] == pytest.approx(without[0]["amount_usd"])
    month = way(plan)["months"][1]
    assert (month["unassigned_usd"], month["unassigned_kwh"]) == pytest.approx((7.3, 73))
    assert month["unassigned_kg_co2e"] == pytest.approx(0.4 * 73)


def test_months_say_what_runs_where_and_what_each_resource_costs() -> None:
    entry = way(shared_plan({"jobs.work.runs_by_month": {2: 300, 3: 0}}), "hybrid")
    second, third = entry["months"][1], entry["months"][2]
    assert [(job["job"], job["resource"]) for job in second["jobs"]] == [
        ("work", "own"), ("more", "own"), ("free", "own")
    ]  # fmt: skip
    assert [job["runs"] for job in second["jobs"]] == pytest.approx([300, 300, 300])
    assert [job["runs"] for job in third["jobs"]] == [0, 0, 0]
    assert [job["amount_usd"] for job in third["jobs"]] == pytest.approx([7.3 / 3] * 3)  # idle, for all alike
    assert third["resources"] == [
        {"resource": "own", "amount_usd": pytest.approx(7.3), "kwh": pytest.approx(73),
         "kg_co2e": pytest.approx(29.2), "load": 0.0}
    ]  # fmt: skip
    assert second["resources"][0]["load"] == pytest.approx(900 / 730)


def test_tax_is_part_of_what_a_resource_costs() -> None:
    plan = shared_plan({"tax.rate": 0.5, "site.space_usd_per_month": 10})
    rented = way(plan, "cloud")["months"][0]["resources"]
    assert {row["resource"]: row["amount_usd"] for row in rented} == {"rented": pytest.approx(900)}
    assert rented[0]["load"] is None
    own = {row["resource"]: row["amount_usd"] for row in way(plan)["months"][1]["resources"]}
    assert own == {"own": pytest.approx(1.5 * 22.3), "site": pytest.approx(15)}


def test_without_groups_there_are_none() -> None:
    document = shared_document(solve(small_plan()))
    assert [entry["groups"] for entry in document["strategies"]] == [[], [], []]
    assert "no group" not in plan_text(document)


def test_groups_change_nothing_else() -> None:
    plan = shared_plan()
    for job in plan["jobs"].values():
        job.pop("group", None)
    del plan["groups"]
    assert plan_document(solve(plan)) == plan_document(solve(shared_plan()))


def test_the_text_says_what_each_group_pays() -> None:
    rows = [line.split("  ") for line in plan_text(shared_document(solve(shared_plan()))).splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["way", "group", "people", "total", "share", "a person", "kWh"] in cells
    assert ["Own all", "Vision lab", "4", "381", "33 %", "95", "892"] in cells
    assert ["Own all", "no group", "381", "33 %", "892"] in cells


def test_the_file_by_job_names_groups_and_what_nobody_uses() -> None:
    plan = shared_plan()
    plan["machines"]["spare"] = dict(plan["machines"]["own"])
    for job in plan["jobs"].values():
        job["throughput"] = {"own": 1, "rented": 1, "spare": 1e-3}
    result = solve(plan)
    rows = list(csv.DictReader(io.StringIO(jobs_csv(plan_document(result), result))))
    own = [row for row in rows if row["strategy"] == "local" and row["month"] == "2"]
    assert [(row["group"], row["job"], row["resource"]) for row in own] == [
        ("vision", "work", "own"), ("language", "more", "own"), ("", "free", "own"), ("", "", "")
    ]  # fmt: skip
    assert [float(row["amount_usd"]) for row in own] == pytest.approx([22.3 / 3] * 3 + [7.3])
    total = next(row for row in rows if row["strategy"] == "local" and row["month"] == "total")
    assert float(total["runs"]) == pytest.approx(3600)


def test_a_way_that_cannot_work_has_empty_totals_in_the_file_by_job() -> None:
    result = solve(shared_plan({"rental.offers": None, "rental.gpus": ["h100-sxm5-80gb"], "jobs.work.in_house": True}))
    rows = list(csv.DictReader(io.StringIO(jobs_csv(plan_document(result), result))))
    cloud = [row for row in rows if row["strategy"] == "cloud"]
    assert [set(row.values()) for row in cloud] == [{"cloud", "total", ""}]
    assert next(e for e in shared_document(result)["strategies"] if e["id"] == "cloud")["groups"] == []


def test_a_group_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownIdError) as caught:
        solve(shared_plan({"jobs.work.group": "visoin"}))
    assert str(caught.value) == "jobs.work.group: no group called 'visoin'; did you mean vision?"
    with pytest.raises(UnknownIdError) as unlike:
        solve(shared_plan({"jobs.work.group": "x"}))
    assert "vision, language or idle" in str(unlike.value)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"groups.vision.people": 0}, "groups.vision.people: found 0, expected a number of at least 1"),
        ({"groups.vision.people": 2.5}, "groups.vision.people: found 2.5, expected a whole number"),
        ({"groups.vision.name": " "}, "expected text in one line of printable characters"),
        ({"groups.vision.name": 3}, "groups.vision.name: found 3, expected text"),
        ({"groups": {"a b": {}}}, "a name of letters, digits"),
        ({"groups": {"vision": {"size": 3}}}, "size"),
    ],
)
def test_faulty_groups_are_named(changed: dict[str, Any], expected: str) -> None:
    plan = shared_plan()
    for path, value in changed.items():
        *parents, last = path.split(".")
        here: Any = plan
        for key in parents:
            here[key] = dict(here[key])
            here = here[key]
        here[last] = value
    with pytest.raises(ScenarioError) as caught:
        solve(plan)
    assert expected in str(caught.value)
