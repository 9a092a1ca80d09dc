"""Why bills differ from the plan, by hand, to the cent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

from planner.actual.compare import strategy_to_follow
from planner.actual.drift import Comparison
from planner.actual.run import RowsFile, against_plan
from planner.errors import InputError, TableError
from planner.scenario.load import check_document
from tests.planning import small_plan, solve

HOURS = "month,job,resource,runs,attempts,gpu_hours,kwh\n"
BILLS = "month,resource,line,amount_usd,quantity\n"


def compared(
    hours: str = "", bills: str = "", *, way: str = "cloud", overrides: Mapping[str, Any] | None = None
) -> Comparison:
    plan = small_plan(overrides)
    result = solve(plan)
    return against_plan(
        check_document(plan),
        result,
        strategy_to_follow(result, way),
        hours=RowsFile(content=(HOURS + hours).encode(), file="hours.csv") if hours else None,
        invoice=RowsFile(content=(BILLS + bills).encode(), file="invoice.csv") if bills else None,
    )


def parts(comparison: Comparison) -> dict[str, float]:
    """Parts that aren't zero."""
    return {name: round(usd, 6) for name, usd in asdict(comparison.effects).items() if abs(usd) > 1e-9}


# Planned: 100 runs of one attempt of 1 h at 2 USD/h in every month, 200 USD.
RENTED = "1,work,rented,110,121,133.1,\n"


def test_rental_splits_into_runs_attempts_hours_and_price() -> None:
    found = compared(RENTED, "1,rented,rental,292.82,\n")
    # 10 h by 10 more runs, 11 h by 11 failed attempts, 12.1 h by 121 attempts of 1.1 h; then 133.1 h at 2.20 for 2.00.
    assert parts(found) == {"runs_usd": 20, "attempts_usd": 22, "speed_usd": 24.2, "price_usd": 26.62}
    assert found.effects.total_usd == pytest.approx(292.82 - 200, abs=1e-9)
    (resource,) = (entry for entry in found.resources if entry.resource == "rented")
    assert (resource.price_planned_usd, resource.price_usd) == (2, pytest.approx(2.2))


def test_hours_billed_beyond_those_reported_stand_apart_from_the_price() -> None:
    found = compared(RENTED, "1,rented,rental,292.82,140\n")  # 6.9 h more billed at 2.00, then 140 h at 0.0916 more
    assert parts(found) == {
        "runs_usd": 20, "attempts_usd": 22, "speed_usd": 24.2, "quantity_usd": 13.8, "price_usd": 12.82,
    }  # fmt: skip
    assert found.effects.total_usd == pytest.approx(92.82)


def test_without_attempts_the_hours_of_a_run_stand_in_one_part() -> None:
    found = compared("1,work,rented,110,,133.1,\n", "1,rented,rental,292.82,\n")
    assert parts(found) == {"runs_usd": 20, "speed_usd": 46.2, "price_usd": 26.62}
    (job,) = found.jobs
    assert job.attempts_per_run is None
    assert job.attempts_implied == pytest.approx(1.21)
    assert job.slower == pytest.approx(0.21)


def test_without_hours_only_a_billed_quantity_tells_hours_from_price() -> None:
    assert parts(compared("", "1,rented,rental,292.82,\n")) == {"undivided_usd": 92.82}
    assert parts(compared("", "1,rented,rental,292.82,140\n")) == {"quantity_usd": 80, "price_usd": 12.82}


def test_electricity_follows_the_hours_above_idle_then_the_meter_then_the_tariff() -> None:
    # Planned: 100 h of 600 W and 630 h of 100 W, 123 kWh at 0.10: 12.30. Each hour more is 0.5 kWh more.
    found = compared("1,work,own,110,110,120,\n", "1,own,electricity,15.00,140\n", way="local")
    assert parts(found) == {"runs_usd": 0.5, "speed_usd": 0.5, "quantity_usd": 0.7, "price_usd": 1}
    (energy,) = found.energy
    assert (energy.planned_kwh, energy.actual_kwh) == (pytest.approx(123), 140)


def test_the_meter_may_stand_with_the_hours() -> None:
    found = compared("1,work,own,110,110,120,140\n", "1,own,electricity,15.00,\n", way="local")
    assert parts(found) == {"runs_usd": 0.5, "speed_usd": 0.5, "quantity_usd": 0.7, "price_usd": 1}


def test_a_job_has_its_part_in_money_where_the_bill_is_known() -> None:
    found = compared(RENTED + "2,work,rented,100,100,110,\n", "1,rented,rental,292.82,\n")
    (job,) = found.jobs
    assert (job.usd.runs_usd, job.usd.attempts_usd) == (pytest.approx(20), pytest.approx(22))
    assert job.usd.speed_usd == pytest.approx(24.2)  # month 2 has no bill
    assert job.hours is not None
    assert job.hours.runs_gpu_h + job.hours.attempts_gpu_h + job.hours.speed_gpu_h == pytest.approx(243.1 - 200)


def test_a_month_or_a_cell_without_rows_is_unknown_not_zero() -> None:
    found = compared("1,work,rented,100,100,100,\n3,work,rented,100,100,100,\n", "3,rented,rental,200,\n")
    assert [month.actual_usd for month in found.months] == [None, None, 200]
    assert found.months_without_hours == (2,)
    assert found.months_without_bills == (1, 2)
    (job,) = found.jobs
    assert (job.runs_planned, job.runs, job.unknown_months) == (200, 200, (2,))
    assert parts(found) == {}


def test_a_zero_that_is_written_is_a_zero() -> None:
    found = compared("1,work,rented,0,0,0,\n", "1,rented,rental,0,\n")
    assert parts(found) == {"runs_usd": -200}


def test_costs_that_the_plan_does_not_have_stand_apart() -> None:
    found = compared(RENTED, "1,rented,egress,7.50,\n")
    assert parts(found) == {"unplanned_usd": 7.5}


def test_rows_of_one_cell_add_up() -> None:
    halves = "1,work,rented,50,60,66.5,\n1,work,rented,60,61,66.6,\n"
    found = compared(halves, "1,rented,rental,200,\n1,rented,rental,92.82,\n")
    assert parts(found) == {"runs_usd": 20, "attempts_usd": 22, "speed_usd": 24.2, "price_usd": 26.62}


def test_one_bill_for_all_of_a_provider_is_compared_with_all_its_lines() -> None:
    more = {"rental.storage_gb": 100, "rental.storage_usd_per_gb_month": 0.1}
    found = compared(RENTED, "1,rented,,302.82,\n", overrides=more)  # 200 for hours and 10 for the disk
    assert parts(found) == {"runs_usd": 20, "attempts_usd": 22, "speed_usd": 24.2, "undivided_usd": 26.62}


def test_two_bills_for_one_line_of_a_month_are_refused_with_their_lines() -> None:
    with pytest.raises(TableError) as error:
        compared(RENTED, "1,rented,,200,\n1,rented,rental,200,\n")
    (problem,) = error.value.problems
    assert problem.line == 3
    assert "rental.work.rented" in problem.found
    assert "line 2" in problem.expected


def test_work_elsewhere_is_compared_with_what_the_plan_knows_of_that_place() -> None:
    found = compared("1,work,own,10,10,20,\n")
    (own,) = (job for job in found.jobs if job.resource == "own")
    assert own.slower == pytest.approx(1)
    assert own.runs_planned == 0
    (rented,) = (job for job in found.jobs if job.resource == "rented")
    assert rented.unknown_months == (1,)


def test_speed_outside_its_likely_range_is_seen() -> None:
    estimated = {"jobs.work.throughput": None, "jobs.work.samples": 88524}
    inside = compared("1,work,rented,100,100,1,\n", overrides=estimated).jobs[0]
    assert inside.likely_h is not None
    low_h, high_h = inside.likely_h
    assert low_h < high_h
    for attempt_h, expected in ((low_h, True), (high_h, True), (low_h * 0.99, False), (high_h * 1.01, False)):
        found = compared(f"1,work,rented,100,100,{attempt_h * 100!r},\n", overrides=estimated)
        assert found.jobs[0].inside is expected


def test_the_likely_range_of_bills_is_that_of_the_same_lines_and_months() -> None:
    found = compared(RENTED, "2,rented,rental,200,\n3,rented,rental,200,\n")
    assert (found.billed_low_usd, found.billed_high_usd) == (pytest.approx(400), pytest.approx(400))


def test_a_way_that_was_not_costed_can_not_be_followed() -> None:
    result = solve(
        small_plan({"jobs.work.throughput": {"rented": 1}, "jobs.work.gpus": 4, "offers.rented.gpu_count": 4})
    )
    with pytest.raises(InputError) as error:
        strategy_to_follow(result, "local")
    assert error.value.code == "actual_way_impossible"


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(InputError) as error:
        compared()
    assert error.value.code == "actual_nothing"


def test_a_bill_for_two_jobs_of_which_one_is_unknown_is_not_told_apart() -> None:
    two = {"jobs": {"work": small_plan()["jobs"]["work"], "more": small_plan()["jobs"]["work"]}}
    assert parts(compared(RENTED, "1,rented,rental,500,\n", overrides=two)) == {"undivided_usd": 100}
    both = RENTED + "1,more,rented,100,100,100,\n"
    assert parts(compared(both, "1,rented,rental,492.82,\n", overrides=two)) == {
        "runs_usd": 20, "attempts_usd": 22, "speed_usd": 24.2, "price_usd": 26.62,
    }  # fmt: skip


def test_gpus_that_share_a_machine_share_its_power() -> None:
    # Two GPUs and PUE 1.2: a GPU-hour is half of 500 W above idle at 1.2, 0.3 kWh.
    shared = {"machines.own.gpus": 2, "site.pue": 1.2}
    found = compared("1,work,own,110,110,110,\n", "1,own,electricity,12.06,\n", way="local", overrides=shared)
    assert parts(found) == {"runs_usd": 0.3}


def test_instances_are_held_whole() -> None:
    # A run takes 2 of the 4 GPUs of an instance, which is billed whole: 400 GPU-hours are 100 node-hours.
    whole = {"offers.rented.gpu_count": 4, "jobs.work.gpus": 2}
    found = compared("1,work,rented,100,100,400,\n", "1,rented,rental,200,\n", overrides=whole)
    assert parts(found) == {}
    (job,) = found.jobs
    assert (job.attempt_h, job.slower) == (pytest.approx(1), pytest.approx(0))
    (resource,) = found.resources
    assert resource.price_usd == pytest.approx(2)


def test_energy_is_known_when_all_jobs_of_a_machine_have_it() -> None:
    work = small_plan()["jobs"]["work"]
    two = {"jobs": {"work": work, "more": work}}
    one = "1,work,own,100,100,100,50\n"
    assert compared(one, way="local", overrides=two).energy == ()
    assert compared(f"{one}1,more,own,100,100,100,\n", way="local", overrides=two).energy == ()
    (energy,) = compared(f"{one}1,more,own,100,100,100,60\n", way="local", overrides=two).energy
    assert (energy.planned_kwh, energy.actual_kwh) == (pytest.approx(200 * 0.6 + 530 * 0.1), 110)
